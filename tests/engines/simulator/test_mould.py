"""Whatever is wanted, what comes out fits the schema; a schema that is none is refused."""

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from app.engines.schema_reduction import to_bindable_schema
from app.engines.simulator import schema_fitter
from app.events.event_field_types import AnyAction, Lesson

WORK = to_bindable_schema(msgspec.json.schema(list[AnyAction]))
SCHEMAS = [
    WORK,
    to_bindable_schema(msgspec.json.schema(Lesson)),
    {"type": "array", "items": {"type": "string", "pattern": "^/"}, "minItems": 2, "maxItems": 3},
    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3, "maximum": 5}}, "required": ["n"]},
    {"type": ["string", "null"], "maxLength": 4},
    {"enum": ["CONTINUE", "PIVOT"]},
    {"const": 7},
    {"type": "string", "minLength": 5, "maxLength": 6},
    {"$ref": "#/$defs/x", "$defs": {"x": {"oneOf": [{"type": "boolean"}, {"type": "number"}]}}},
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["do", "path", "key", "value", "n", "id"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("schema", SCHEMAS)
@given(wanted=ANYTHING)
def test_what_comes_out_fits(schema, wanted):
    Draft202012Validator(schema).validate(schema_fitter.fit_to_schema(schema, wanted))


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_schema_is_taken_and_nothing_wanted_still_makes_an_answer(schema):
    schema_fitter.check_schema(schema)
    jsonschema.validate(schema_fitter.fit_to_schema(schema), schema)


def test_what_fits_already_is_left_alone():
    actions = [
        {"do": "chmod", "path": "/etc/shadow", "mode": "0000"},
        {"do": "write_file", "path": "/etc/issue", "content": "x", "mode": "0644"},
        {"do": "write_file", "path": "/etc/issue", "content": "x"},
        {"do": "reload", "service": "sshd"},
    ]
    assert schema_fitter.fit_to_schema(WORK, actions) == actions


def test_what_does_not_fit_keeps_what_it_can():
    pressed = schema_fitter.fit_to_schema(WORK, [{"do": "reload", "service": "x" * 100, "extra": 1}])
    assert pressed == [{"do": "reload", "service": "x" * 64}]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (None, "not an object"),
        ({"type": "strin"}, "Unsupported type 'strin'"),
        ({"properties": {"a": {"type": "x"}}}, "Unsupported type"),
        ({"items": {"$ref": "#/nowhere"}}, "Cannot find #/nowhere"),
        ({"$ref": "#"}, "Cannot find"),
        ({"items": {"type": "string", "pattern": "x", "maxLength": 3}}, "not supported by xgrammar"),
        ({"pattern": "("}, "not a regular expression"),
        ({"properties": 3}, "properties should be an object"),
        ({"anyOf": 3}, "not a JSON Schema"),
        ({"items": 3}, "should be an object"),
    ],
)
def test_a_schema_that_is_none_is_refused(schema, words):
    with pytest.raises(schema_fitter.BadSchema, match=words):
        schema_fitter.check_schema(schema)
