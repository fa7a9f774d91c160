"""OpenAPI schemas for each kind of event and each action of a change."""

from typing import Any

import msgspec

from app.events.event_field_types import AnyAction
from app.events.kinds import AuditedRequest, Event, RunEvent, get_event_kind, list_leaf_event_types

_AT = "#/components/schemas/"
_PLACE = {
    "seq": {"type": "integer", "minimum": 1},
    "at": {"type": "string", "format": "date-time", "description": "Time in UTC, to the millisecond."},
    "run": {"type": "string"},
}
_USED = (
    ("EventList", "events", "Event"),
    ("ItemStory", "events", "Event"),
    ("AuditList", "lines", AuditedRequest.__name__),
    ("ApprovalView", "actions", "Action"),
    ("Answer", "actions", "Action"),
    ("CandidateView", "actions", "Action"),
)
"API model fields with this value."


def add_event_schemas(schemas: dict[str, Any]) -> None:
    """Add the schemas to the components of an OpenAPI description that already has the API's own."""
    run_events = list_leaf_event_types(RunEvent)
    events: tuple[type[Event], ...] = (*run_events, AuditedRequest)
    (action, *_), found = msgspec.json.schema_components([AnyAction, *events], ref_template=_AT + "{name}")
    _remove_items_false(found)
    for event in events:
        shape = found[event.__name__]
        shape["properties"] = _PLACE | shape["properties"]
        shape["required"] = [*_PLACE, *shape["required"]]
    mapping = {get_event_kind(event): _AT + event.__name__ for event in run_events}
    found["Event"] = {
        "title": "Event",
        "oneOf": [{"$ref": address} for address in mapping.values()],
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    }
    found["Action"] = {"title": "Action", **action}
    twice = found.keys() & schemas.keys()
    assert not twice, f"two shapes of one name: {twice}"
    schemas |= found
    for shape, field, held in _USED:
        schemas[shape]["properties"][field]["items"] = {"$ref": _AT + held}


def _remove_items_false(schema: Any) -> None:
    """Remove `items: false`, which client generators cannot read; minItems and maxItems already bound a tuple."""
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            _remove_items_false(part)
    if isinstance(schema, dict) and "prefixItems" in schema and schema.get("items") is False:
        del schema["items"]
