"""The policy for files in which a change may make exactly the settings that its rule states, and lose none.

No scale ranks most of these settings, so the rule's own words decide. What may be set at all is in the families' data.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.strictness_comparison import Compare, Strength
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Judge, Objection
from app.targets.subjects.stated_setting_file_families import (
    OTHER,
    Family,
    StatedSetting,
    find_stated_family,
    load_families,
)


def _compare_days(was: str, now: str) -> Strength:
    """Compare numbers of days; a negative one is no limit."""
    return Strength.STRONGER if was.startswith("-") else strictness.compare_lower(was, now)


_RANKS: Mapping[str, Compare] = {
    "days": _compare_days,
    "lower": strictness.compare_lower,
    "higher": strictness.compare_higher,
    "mask": strictness.compare_masks,
    "hash": strictness.create_ranked_comparison("des", "md5", "sha256", "sha512", "yescrypt"),
}
_NUMBER = re.compile(r"(?:u?int32 )?([0-9]+)")


@dataclass(frozen=True, eq=False)
class StatedFileJudge:
    family: Family

    def __call__(self, edit: FileEdit) -> Objection | None:
        """Judge what the edit does as if the rule stated all of it."""
        if edit.mode_before is None and self.family.existing:
            return Objection(self.family.clause, f"{edit.path} is not there, so its program reads another file.")
        if edit.mode_before is None and (edit.mode_after or 0) & ~int(self.family.mode, 8):
            reason = f"{edit.path}: its program ignores a new file with a wider mode than {self.family.mode}."
            return Objection("privilege", reason)
        return find_unstated_change_objection(self.family, edit, None)


STATED: tuple[tuple[Judge, tuple[str, ...]], ...] = tuple(
    (StatedFileJudge(family), family.paths) for family in load_families() if not family.partial
)


def find_objection_to_unstated_settings(edit: FileEdit, asks: frozenset[str]) -> Objection | None:
    """Return the objection to the first setting that the rule does not state; None for files of no family."""
    family = find_stated_family(edit.path)
    return find_unstated_change_objection(family, edit, asks) if family else None


def find_unstated_change_objection(family: Family, edit: FileEdit, asks: frozenset[str] | None) -> Objection | None:
    """Return the objection to the first setting that goes, moves, or comes without need. None as `asks` allows all."""
    whole = edit.after is not None
    old = family.list_settings(edit.before) if whole else []
    new = family.list_settings(edit.after if edit.after is not None else "\n".join(edit.added))
    if lost := _find_removed_or_moved_setting(family, old, new):
        clause = "weakening" if family.clause == "not understood" else family.clause
        return Objection(clause, f"{edit.path}: {lost.key_and_value_text!r} may not be removed or moved.")
    was, now = _group_by_key(old), _group_by_key(new)
    coming = [one for key in now for one in _list_newly_counting_settings(was.get(key, []), now[key])]
    judged = {(one.key, one.value): one for one in coming if not (family.partial and one.key == OTHER)}.values()
    standing = (
        list(_iterate_present_settings(family, edit.files)) if judged and (family.ranks or family.clashes) else []
    )
    return next((found for one in judged if (found := _judge_setting(family, edit, one, asks, standing))), None)


def _group_by_key(settings: Iterable[StatedSetting]) -> dict[str, list[StatedSetting]]:
    found: dict[str, list[StatedSetting]] = {}
    for one in settings:
        found.setdefault(one.key, []).append(one)
    return found


def _find_removed_or_moved_setting(
    family: Family, old: list[StatedSetting], new: list[StatedSetting]
) -> StatedSetting | None:
    """Return the first setting that has lost its place among the others.

    The line below may continue the one above in a way that only its program knows (`& stop` of rsyslog), and a line
    that moves into a condition may lose its effect.
    """
    if family.repeats:
        values = [(one.key, one.value) for one in new[: len(old)]]
        return next((one for at, one in enumerate(old) if values[at : at + 1] != [(one.key, one.value)]), None)
    places = [_get_identity_for_order_check(one) for one in new]
    present = set(places)
    kept = [
        one
        for one in old
        if not (family.partial and one.key == OTHER and _get_identity_for_order_check(one) not in present)
    ]
    waiting = iter(places)
    return next((one for one in kept if _get_identity_for_order_check(one) not in waiting), None)


def _get_identity_for_order_check(setting: StatedSetting) -> str:
    return f"{OTHER} {setting.value}" if setting.key == OTHER else setting.key


def _list_newly_counting_settings(was: list[StatedSetting], now: list[StatedSetting]) -> list[StatedSetting]:
    """Return the settings of one key that come. If a value was replaced, that is each which counts now."""
    coming, left = list[StatedSetting](), deque(was)
    for one in now:
        if left and one.value == left[0].value:
            left.popleft()
        else:
            coming.append(one)
    return now if left else coming


def _judge_setting(
    family: Family, edit: FileEdit, setting: StatedSetting, asks: frozenset[str] | None, standing: list[StatedSetting]
) -> Objection | None:
    if not family.is_permitted_if_stated(setting):
        return Objection(family.clause, edit.create_unknown_objection(setting.key_and_value_text).reason)
    if asks is not None and family.format_asks_entry(setting) not in asks:
        return Objection("outside the rule", f"{edit.path}: the rule does not state {setting.key_and_value_text!r}.")
    if rank := family.ranks.get(setting.key):
        ours = (_strip_number_type(other.value) for other in standing if other.key == setting.key)
        value = _strip_number_type(setting.value)
        if any(_RANKS[rank](was, value) is Strength.WEAKER for was in ours):
            reason = f"{edit.path}: {setting.key_and_value_text!r} would be weaker than the present setting."
            return Objection("weakening", reason)
    for key, pattern in family.clashes.items():
        if re.fullmatch(key, setting.key) and any(re.search(pattern, other.key_and_value_text) for other in standing):
            reason = (
                f"{edit.path}: {setting.key_and_value_text!r} would cancel another line of this host. A person decides."
            )
            return Objection("destruction", reason)
    return None


def _iterate_present_settings(family: Family, files: Files) -> Iterator[StatedSetting]:
    for path in dict.fromkeys(path for pattern in family.paths for path in files.glob(pattern)):
        yield from family.list_settings(host_text.read_text(files, path) or "")


def _strip_number_type(value: str) -> str:
    match = _NUMBER.fullmatch(value)
    return match[1] if match else value
