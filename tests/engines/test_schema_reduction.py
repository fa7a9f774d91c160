"""What an engine's grammar cannot hold is left to the reader of the answer; the rest is bound."""

import msgspec
import pytest

from app.engines.schema_reduction import to_bindable_schema
from app.engines.simulator import schema_fitter
from app.events.event_field_types import AnyAction


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
    assert to_bindable_schema(schema) == {
        "properties": {
            "path": {"type": "string", "maxLength": 256},
            "mode": {"type": "string", "pattern": "^0[0-7]{3}$"},
            "pattern": {"type": "string"},
            "maxLength": {"type": "integer"},
        },
        "anyOf": [{"type": "string", "minLength": 1}],
    }


def test_the_actions_schema_can_be_bound():
    schema_fitter.check_schema(to_bindable_schema(msgspec.json.schema(list[AnyAction])))


def test_what_an_engine_lacks_is_said_in_another_way():
    some = r'[^"\\\x00-\x1f\x7f]'
    text = {
        "type": "string",
        "pattern": f"^({some}{{0,120}}|{some}{{120}}{some}{{1,120}}|{some}{{120}}{some}{{120}}{some}{{1,60}})$",
    }
    schema = {"properties": {"a": text, "pattern": {"const": 7}, "n": {"type": "string", "maxLength": 4}}}
    assert to_bindable_schema(schema, frozenset({"patterns", "const"})) == {
        "properties": {
            "a": {"type": "string", "maxLength": 300},
            "pattern": {"enum": [7]},
            "n": {"type": "string", "maxLength": 4},
        }
    }
    assert to_bindable_schema(schema, frozenset({"lengths"}))["properties"]["n"] == {"type": "string"}


def test_a_pattern_of_another_kind_becomes_some_length():
    path = {"type": "string", "pattern": "^(/[a-z]{0,47}){1,5}$"}
    assert to_bindable_schema(path, frozenset({"patterns"})) == {"type": "string", "maxLength": 256}


@pytest.mark.parametrize("lacks", [("patterns", "lengths"), ("lengths", "patterns")])
def test_no_length_comes_in_for_a_pattern_where_both_lack(lacks):
    mode = {"type": "string", "pattern": "^0[0-7]{3}$"}
    assert to_bindable_schema(mode, lacks) == {"type": "string"}


def repeats(pattern):
    return {"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}}


@pytest.mark.parametrize("pattern", ["^[a-z]{0,129}$", "^a{300}$"])
def test_the_simulated_grammar_refuses_what_a_real_one_cannot_make(pattern):
    schema_fitter.check_schema(repeats("^[a-z]{0,128}$"))
    with pytest.raises(schema_fitter.BadSchema, match="more than 128"):
        schema_fitter.check_schema(repeats(pattern))
