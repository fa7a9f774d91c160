"""What the content's own proposals ask for: settings that no scale ranks and the rule's text may not spell out."""

from collections.abc import Iterable

from app.events.event_field_types import RECIPE_OF, AnyAction, AppendLine, Candidate, ReplaceLine, SetOption, WriteFile
from app.skills.stated_settings import find_stated_settings_joined_with_values
from app.targets.subjects.stated_setting_file_families import find_stated_family


def list_settings_of_candidates_except_recipes(candidates: Iterable[Candidate]) -> frozenset[str]:
    """Return the settings, as `Rule.asks` has them, of each proposal that is not a person's recipe."""
    ours = (one for one in candidates if not one.source.startswith(RECIPE_OF))
    return frozenset(
        asked for one in ours for action in one.actions for asked in _list_written_settings_with_values(action)
    )


def _list_written_settings_with_values(action: AnyAction) -> Iterable[str]:
    match action:
        case AppendLine(line=text) | ReplaceLine(new=text) | WriteFile(content=text):
            pass
        case SetOption(key=key, value=value):
            text = f"{key} = {value}"
        case _:
            return ()
    family = find_stated_family(action.path)
    if family is None:
        return find_stated_settings_joined_with_values(text)
    lines = text.split("\n")
    stated = family.list_stated_line_settings("", lines[0]) if len(lines) == 1 else family.list_settings(text)
    return [family.format_asks_entry(one) for one in stated]
