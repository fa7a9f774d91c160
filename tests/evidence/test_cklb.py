"""CKLB 1.0 against the field rules of STIG Viewer 3, as a schema of our own."""

import json
from pathlib import Path
from uuid import UUID

import jsonschema
import pytest

from app.evidence.cklb import build_cklb
from tests.evidence.logs import EVERY_WORD, plain_case

SCHEMA = json.loads((Path(__file__).parent / "cklb.schema.json").read_text())


def test_a_real_run_makes_a_valid_checklist(case):
    made = json.loads(build_cklb(case))
    jsonschema.validate(made, SCHEMA)
    (stig,) = made["stigs"]
    assert stig["size"] == len(stig["rules"]) == 30
    assert stig["stig_id"] == "RHEL_9_STIG"
    assert {rule["stig_uuid"] for rule in stig["rules"]} == {stig["uuid"]}
    assert len({rule["uuid"] for rule in stig["rules"]}) == 30


def test_fields_stand_in_the_viewers_order(case):
    made = json.loads(build_cklb(case))
    assert list(made) == SCHEMA["required"]
    assert list(made["target_data"]) == SCHEMA["properties"]["target_data"]["required"]
    assert list(made["stigs"][0]) == SCHEMA["$defs"]["stig"]["required"]


def test_every_status():
    made = json.loads(build_cklb(plain_case(dict.fromkeys(EVERY_WORD, "fail"), EVERY_WORD)))
    jsonschema.validate(made, SCHEMA)
    got = {rule["group_id"]: rule["status"] for rule in made["stigs"][0]["rules"]}
    assert {rule: got[rule] for rule in EVERY_WORD} == {
        "V-257984": "not_a_finding",
        "V-257986": "open",
        "V-257985": "not_applicable",
        "V-257983": "not_reviewed",
        "V-257981": "not_reviewed",
    }
    assert {status for rule, status in got.items() if rule not in EVERY_WORD} == {"not_reviewed"}


def test_details_name_the_scanner_and_comments_say_what_was_done(case):
    rules = {rule["group_id"]: rule for rule in json.loads(build_cklb(case))["stigs"][0]["rules"]}
    assert "scanner built-in says pass" in rules["V-257985"]["finding_details"]
    assert "scanner built-in says fail" in rules["V-257985"]["finding_details"]
    assert "Attempt 1: changed /etc/ssh/sshd_config; alarm:" in rules["V-257985"]["comments"]
    assert "SIMULATED: the engines and the host" in rules["V-257985"]["comments"]
    assert "Not part of run" in rules["V-257820"]["finding_details"]


def test_the_same_run_gives_the_same_bytes_and_another_run_other_ids(case):
    assert build_cklb(case) == build_cklb(case)
    other = json.loads(build_cklb(plain_case(EVERY_WORD, EVERY_WORD)))
    assert UUID(other["id"]) != UUID(json.loads(build_cklb(case))["id"])


@pytest.mark.parametrize("break_it", ["status", "severity", "group_id", "rules", "uuid"])
def test_the_schema_can_say_no(case, break_it):
    made = json.loads(build_cklb(case))
    if break_it == "rules":
        del made["stigs"][0]["rules"]
    else:
        made["stigs"][0]["rules"][0][break_it] = "passed"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(made, SCHEMA)
