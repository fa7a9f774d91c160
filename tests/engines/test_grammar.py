"""What an engine's grammar cannot hold is left to the reader of the answer; the rest is bound."""

import msgspec

from app.engines.grammar import bindable
from app.engines.simulator import to_schema
from app.events.words import AnyAction


def test_a_pattern_gives_way_to_a_length_and_to_nothing_else():
    schema = {
        "properties": {
            "path": {"type": "string", "maxLength": 256, "pattern": "^/"},
            "mode": {"type": "string", "pattern": "^0[0-7]{3}$"},
            "pattern": {"type": "string"},
            "maxLength": {"type": "integer"},
        },
        "anyOf": [{"type": "string", "minLength": 1, "pattern": "x"}],
    }
    assert bindable(schema) == {
        "properties": {
            "path": {"type": "string", "maxLength": 256},
            "mode": {"type": "string", "pattern": "^0[0-7]{3}$"},
            "pattern": {"type": "string"},
            "maxLength": {"type": "integer"},
        },
        "anyOf": [{"type": "string", "minLength": 1}],
    }


def test_the_actions_schema_can_be_bound():
    to_schema.check(bindable(msgspec.json.schema(list[AnyAction])))
