import json

import pytest

from app.errors import BadInput
from app.evidence.ckl import build_ckl
from app.evidence.cklb import build_cklb
from app.evidence.incoming import open_rules_of_foreign_assessment
from app.evidence.incoming.open_rules_of_foreign_assessment import read_starting_point
from app.evidence.xccdf_and_arf import build_arf
from app.skills.catalog import load_skill

STIG = load_skill("stig")


def written(tmp_path, content):
    file = tmp_path / "theirs.cklb"
    file.write_bytes(content)
    return file


def checklist(**statuses):
    rules = [{"group_id": rule.replace("_", "-"), "status": status} for rule, status in statuses.items()]
    return json.dumps({"stigs": [{"rules": rules}]}).encode()


@pytest.mark.parametrize("make", [build_cklb, build_ckl, build_arf])
def test_our_own_papers_lead_back_to_what_is_open(tmp_path, case, make):
    start = read_starting_point(written(tmp_path, make(case)), STIG)
    assert sorted(start.rules) == ["V-258106", "V-258229"]
    assert start.unknown == ()
    assert start.closed == 4
    assert start.undecided == 24


def test_what_cannot_be_mapped_is_said(tmp_path):
    start = read_starting_point(
        written(tmp_path, checklist(V_257985="open", V_1="open", V_257984="not_reviewed")), STIG
    )
    assert start.rules == ("V-257985",)
    assert "1 open rule taken" in start.summary_text
    assert "1 that nobody decided left out" in start.summary_text
    assert start.summary_text.endswith("1 open rule is not in this skill: V-1.")


@pytest.mark.parametrize(
    "name",
    [
        "V-257985", "RHEL-09-255045", "SV-257985r1045053_rule", "SV-257985r1045053",
        "xccdf_mil.disa.stig_rule_SV-257985r1045053_rule", "xccdf_mil.disa.stig_group_V-257985",
    ],
)  # fmt: skip
def test_every_spelling_of_a_rule(tmp_path, name):
    file = written(tmp_path, checklist(**{name: "open"}).replace(name.replace("_", "-").encode(), name.encode()))
    assert read_starting_point(file, STIG).rules == ("V-257985",)


def test_a_number_within_another_is_no_match(tmp_path):
    with pytest.raises(BadInput, match="nothing to run"):
        read_starting_point(written(tmp_path, checklist(**{"V-2579851": "open", "OSV-257985": "open"})), STIG)


def test_where_nothing_is_open_nothing_is_run(tmp_path):
    with pytest.raises(BadInput, match=r"0 open rules taken, 1 that hold.*nothing to run"):
        read_starting_point(written(tmp_path, checklist(V_257985="not_a_finding")), STIG)


def test_the_log_says_which_file(tmp_path):
    start = read_starting_point(written(tmp_path, checklist(V_257985="open")), STIG)
    assert start.note_for_log == f"open rules of theirs.cklb (sha256 {start.sha256})"
    assert len(start.sha256) == 64


def test_hostile_names_do_not_reach_a_terminal(tmp_path):
    content = checklist(V_257985="open", x="open").replace(b'"x"', json.dumps("\x1b[2Jevil\u202e").encode())
    assert "\x1b" not in read_starting_point(written(tmp_path, content), STIG).summary_text


def test_what_cannot_be_read_is_said_with_what_can(tmp_path):
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        read_starting_point(tmp_path / "none", STIG)
    with pytest.raises(BadInput, match="it is an archive: unpack it"):
        read_starting_point(written(tmp_path, b"PK\3\4"), STIG)
    with pytest.raises(BadInput, match="Give a CKLB, a CKL, or XCCDF results or ARF"):
        read_starting_point(written(tmp_path, b"rule,status"), STIG)


def test_a_file_without_end_is_not_read_to_its_end(tmp_path):
    file = tmp_path / "endless"
    with file.open("wb") as sparse:
        sparse.truncate(open_rules_of_foreign_assessment.LARGEST + 1)
    with pytest.raises(BadInput, match="is larger than 128 MiB"):
        read_starting_point(file, STIG)
