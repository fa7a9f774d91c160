"""OSCAL 1.1 as NIST's own schemas have it, over every word that a scan may say, a waiver, and hostile text."""

import json
from pathlib import Path

import jsonschema
import pytest

from app.events.event_field_types import Published, PublishedRule
from app.evidence.oscal import build_oscal_poam, build_oscal_results
from app.evidence.run_record import read_run_record
from tests.evidence.logs import EVERY_WORD, plain_case
from tests.evidence.published import named_log
from tests.evidence.waived import RULE, waived_log, waiver

SCHEMAS = Path(__file__).parents[1] / "vendor" / "oscal"
KINDS = {"assessment-results": build_oscal_results, "poam": build_oscal_poam}
HOSTILE = "web\n\x1b[2J<b>\u202e =1 "


def schema(kind):
    """NIST writes its patterns in ECMAScript's way: Python has other words for a letter and a number."""
    text = (SCHEMAS / f"oscal_{kind}_schema.json").read_text()
    return json.loads(text.replace(r"\\p{L}", r"[^\\W\\d_]").replace(r"\\p{N}", r"\\d"))


CHECKS = {kind: jsonschema.Draft7Validator(schema(kind)) for kind in KINDS}
CASES = {
    "every word": lambda: plain_case(dict.fromkeys(EVERY_WORD, "fail"), EVERY_WORD),
    "a benchmark at hand": lambda: read_run_record(named_log()),
    "a waiver": lambda: read_run_record(waived_log()),
    "no closing scan": lambda: plain_case({"V-257984": "fail"}, None),
    "only looked": lambda: plain_case({"V-257984": "fail"}, {}, mode="scan"),
    "nothing left": lambda: plain_case({"V-257984": "fail"}, {"V-257984": "pass"}),
    "a hostile name": lambda: plain_case({"V-257984": "fail"}, {"V-257984": "fail"}, host=HOSTILE),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_it_is_valid_by_nists_schema(name, kind):
    CHECKS[kind].validate(json.loads(KINDS[kind](CASES[name]())))


@pytest.mark.parametrize("kind", KINDS)
def test_a_real_run_is_valid_too_and_says_that_it_was_simulated(case, kind):
    made = json.loads(KINDS[kind](case))
    CHECKS[kind].validate(made)
    (said,) = made.values()
    assert said["metadata"]["remarks"].startswith("SIMULATED: ")
    assert KINDS[kind](case) == KINDS[kind](case)


@pytest.mark.parametrize("kind", KINDS)
def test_the_schemas_can_say_no(case, kind):
    made = json.loads(KINDS[kind](case))
    (said,) = made.values()
    said["uuid"] = "1"
    with pytest.raises(jsonschema.ValidationError):
        CHECKS[kind].validate(made)


def test_what_nobody_decided_is_not_satisfied():
    (result,) = json.loads(build_oscal_results(CASES["every word"]()))["assessment-results"]["results"]
    said = {one["props"][0]["value"]: one["target"]["status"] for one in result["findings"]}
    assert said == {
        "pass": {"state": "satisfied", "reason": "pass"},
        "fail": {"state": "not-satisfied", "reason": "fail"},
        "notapplicable": {"state": "satisfied", "reason": "other"},
        "unknown": {"state": "not-satisfied", "reason": "other"},
        "error": {"state": "not-satisfied", "reason": "other"},
    }
    assert len(result["risks"]) == 3


def test_a_text_of_blanks_alone_is_said_to_be_none():
    named = PublishedRule(rule="V-257984", group="V-257984", id="SV-1", title="T", discussion=" \n ", fix="F \n")
    benchmark = Published(file="f", sha256="0" * 64, id="x", title="x", version="1", release="", rules=(named,))
    words = {"V-257984": "fail"}
    plan = json.loads(build_oscal_poam(plain_case(words, words, begun={"published": benchmark})))
    [risk] = plan["plan-of-action-and-milestones"]["risks"]
    assert (risk["description"], risk["remediations"][0]["description"]) == ("none", "F \n")


def test_a_waived_risk_is_a_deviation_with_its_day():
    plan = json.loads(build_oscal_poam(CASES["a waiver"]()))["plan-of-action-and-milestones"]
    first, second = plan["risks"]
    assert (first["status"], second["status"]) == ("deviation-approved", "open")
    assert first["deadline"] == f"{waiver().until}T00:00:00Z"
    assert first["risk-log"]["entries"][0]["description"] == waiver().summary
    assert [one["value"] for one in first["props"] if one["name"] == "group-id"] == [RULE]


def test_where_nothing_is_left_the_plan_says_so():
    plan = json.loads(build_oscal_poam(CASES["nothing left"]()))["plan-of-action-and-milestones"]
    assert [one["title"] for one in plan["poam-items"]] == ["Nothing is left to do"]
    assert "risks" not in plan
