"""Fill a webhook's body template, as chat and mail gateways expect it. Pure.

A template is JSON or plain text. Placeholders are filled in parsed JSON strings, so host and model text cannot
change the structure. Mentions, links and line breaks in that text are made inert.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from app.errors import Rejected
from app.events.kinds import RolloutEvent, get_event_kind
from app.events.record import Recorded, format_timestamp
from app.runs.shared_field_checks import check_length
from app.text.clean import clean_text

LONGEST, LONGEST_VALUE = 2000, 600
NAMED = {"chat": '{"text": "{text}"}', "mail": "{text}\n\nRun {run} on {host}, {time}. {path}\n"}
"""Named templates. `chat` suits Slack, Mattermost, Rocket.Chat and others."""
USUAL_KINDS = (
    *("run.finished", "run.failed", "run.stopped", "drift", "item.escalated", "item.deferred"),
    *("sentry.alarm", "approval.requested", "approval.expired", "waiver.ending", "waiver.ended"),
    *("rollout.asked", "rollout.wave_ended", "rollout.paused", "rollout.ended"),
)
"""Default kinds of a webhook with a template, since all events would be hundreds per run."""
PLACES = ("text", "run", "host", "kind", "glyph", "time", "path")
JSON, PLAIN = "application/json; charset=utf-8", "text/plain; charset=utf-8"
_PLACE = re.compile(r"\{([a-z_]+)\}")
_ORDERS = str.maketrans({"<": "‹", ">": "›", "@": "＠"})


def resolve_valid_template(template_or_name: str) -> str:
    """Validate a template and return it, or the named template. Raise Rejected if it is invalid."""
    template_or_name = NAMED.get(template_or_name.strip(), template_or_name)
    check_length("template", template_or_name, LONGEST)
    if unknown := [name for name in _PLACE.findall(template_or_name) if name not in PLACES]:
        known = ", ".join(f"{{{name}}}" for name in PLACES)
        raise Rejected("template", f"there is no {{{unknown[0]}}}: a template has {known}.")
    if _looks_like_json(template_or_name):
        try:
            json.loads(template_or_name)
        except ValueError as exc:
            raise Rejected("template", f"the template starts like JSON but is not valid: {exc}.") from exc
    return template_or_name


def collect_placeholder_values(recorded: Recorded, host: str, *, simulated: bool) -> dict[str, str]:
    """Return the placeholder values of an event. For a rollout, `host` is the text that selected its hosts."""
    of_many = isinstance(recorded.event, RolloutEvent)
    described = recorded.event.describe()
    text = f"{described.glyph} {described.text}" if described else get_event_kind(recorded.event)
    played = " (simulated engines)" if simulated else ""
    return {
        "text": f"{text}. {'Rollout' if of_many else 'Run'} {recorded.run} on {host}{played}",
        "run": recorded.run,
        "host": host,
        "kind": get_event_kind(recorded.event),
        "glyph": described.glyph if described else "",
        "time": format_timestamp(recorded.at),
        "path": f"/fleet/{recorded.run}" if of_many else f"/runs/{recorded.run}?at={recorded.seq}",
    }


def fill_body_and_content_type(template: str, values: Mapping[str, str]) -> tuple[bytes, str]:
    """Return the filled body and its content type."""
    inert = {name: defang_text(value) for name, value in values.items()}

    def fill_text(text: str) -> str:
        return _PLACE.sub(lambda place: inert.get(place[1], ""), text)

    if _looks_like_json(template):
        return json.dumps(_map_strings(json.loads(template), fill_text), ensure_ascii=False).encode(), JSON
    return fill_text(template).encode(), PLAIN


def defang_text(text: str) -> str:
    """Return the text as one line without working mentions or links."""
    line = " ".join(clean_text(text, LONGEST_VALUE).split()).translate(_ORDERS)
    return line.replace("](", "] (").replace("://", ": //")


def _looks_like_json(template: str) -> bool:
    """Return True if the template is JSON; `{text}` alone is a placeholder, not an object."""
    return template.lstrip()[:1] in ("{", "[") and not _PLACE.match(template.lstrip())


def _map_strings(value: Any, fill: Callable[[str], str]) -> Any:
    match value:
        case str():
            return fill(value)
        case list():
            return [_map_strings(one, fill) for one in value]
        case dict():
            return {name: _map_strings(one, fill) for name, one in value.items()}
        case _:
            return value
