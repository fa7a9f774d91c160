"""Each operation has an example; its curl, sent to a server, is answered as the example says."""

import re

import jsonschema
import pytest

from app.web.api.openapi_examples import read_recorded_answers
from tests.web.api.examples import operations, parsed, world


def find_difference(shown, got, at="answer"):
    """The first place where an answer is made of other things than the example; None if there is none.

    Values are the server's; null stands for whatever is not known now, which the schema judges."""
    if shown is None or got is None:
        return None
    if isinstance(shown, dict) and isinstance(got, dict):
        if shown.keys() != got.keys():
            return f"{at}: {sorted(shown.keys() ^ got.keys())} only on one side"
        return next(
            (found for name in shown if (found := find_difference(shown[name], got[name], f"{at}.{name}"))), None
        )
    if isinstance(shown, list) and isinstance(got, list):
        if bool(shown) != bool(got):
            return f"{at}: {len(shown)} here, {len(got)} there"
        return next((found for one in shown if (found := find_nearest_difference(one, got, at))), None)
    kinds = [float if type(one) is int else type(one) for one in (shown, got)]
    return None if kinds[0] is kinds[1] else f"{at}: {kinds[0].__name__} here, {kinds[1].__name__} there"


def find_nearest_difference(shown, got, at):
    found = [find_difference(shown, one, f"{at}[]") for one in got]
    return None if None in found else found[0]


@pytest.mark.parametrize(
    ("shown", "got", "says"),
    [
        ({"a": 1}, {"a": 2.5}, None),
        ({"a": None}, {"a": "x"}, None),
        ({"a": 1}, {"a": True}, "answer.a: float here, bool there"),
        ({"a": 1}, {"b": 1}, "answer: ['a', 'b'] only on one side"),
        ([{"a": 1}], [{"b": 1}, {"a": 2}], None),
        ([{"a": 1}], [], "answer: 1 here, 0 there"),
        ({"a": [{"b": "x"}]}, {"a": [{"b": 1}]}, "answer.a[].b: str here, float there"),
    ],
)
def test_what_makes_an_answer_another(shown, got, says):
    assert find_difference(shown, got) == says


def find_beginning(text):
    """The first words, whatever their numbers are."""
    return re.sub(r"\d+", "0", text.splitlines()[0])[:30]


def list_faults(name, one, sent, description):
    """What is wrong with an operation's example, given what the server answered."""
    recorded = read_recorded_answers().get(name)
    if recorded is None:
        yield "it has no example: python -m tests.web.api.examples records one"
        return
    if one.get("requestBody", {}).get("required") and parsed(one["x-codeSamples"][0]["source"])[3] is None:
        yield "its body has no example: declare_example beside the operation"
    if sent.status != recorded["status"]:
        yield f"{recorded['status']} in the example, {sent.status} now: {sent.text[:500]}"
        return
    answer = recorded.get("answer")
    if answer is None:
        return
    content = one["responses"][str(sent.status)]["content"]
    if content.get(sent.media, {}).get("example") != answer:
        yield f"the description does not have the answer in {sent.media}"
    if isinstance(answer, str):
        if find_beginning(answer) != find_beginning(sent.answer):
            yield f"begins with {sent.answer[:60]!r}"
        return
    if found := find_difference(answer, sent.answer):
        yield found
    schema = {**content[sent.media]["schema"], "components": description["components"]}
    wrong = jsonschema.Draft202012Validator(schema).iter_errors(sent.answer)
    yield from (f"{one.json_path}: {one.message[:200]}" for one in wrong)


@pytest.mark.timeout(120)
def test_every_operation_answers_its_example_as_the_documentation_shows(tmp_path):
    with world(tmp_path) as made:
        faults = [
            f"{name}: {fault}"
            for name, one in operations(made.description)
            for fault in list_faults(name, one, made.send(name, one["x-codeSamples"][0]["source"]), made.description)
        ]
    assert faults == []
