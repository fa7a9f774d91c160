"""A waiver on paper: the finding stays one everywhere, and who answers for it, why and how long stands beside it."""

import csv
import io
import json
import re
import subprocess
from xml.etree import ElementTree as ET

import pytest
from sqlmodel import Session

from app.events.hosts_of_waiver_or_site_value import HostScope
from app.evidence.document_catalog import PAPERS
from app.evidence.finding_text import describe_outcome
from app.evidence.log_checks_against_audit_seals import check_run_row
from app.evidence.pack import build_pack
from app.evidence.run_record import read_run_record
from app.evidence.verify import BrokenPack, check_pack_and_get_manifest, unpack_zip_packed_by_temper
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import RunRow
from tests.evidence.played import KEY
from tests.evidence.test_verify import listed_anew
from tests.evidence.waived import OTHER, RULE, waived_log, waiver

X = "{http://checklists.nist.gov/xccdf/1.2}"
TOLD = waiver().summary


@pytest.fixture(scope="module")
def case():
    return read_run_record(waived_log())


@pytest.fixture(scope="module")
def files():
    return unpack_zip_packed_by_temper(build_pack(waived_log(), KEY))


def made(case, name):
    (paper,) = [one for one in PAPERS if one.file == name]
    return paper.build(case)


def test_who_answers_for_it_why_and_until_when():
    assert TOLD == (
        "WAIVED until 2026-12-24 on host web-1, owner Ops lead, ticket CHG-7: the old client dies of it. "
        "The rule does not hold, and from that day on the finding counts as open again."
    )


def test_one_of_a_group_names_the_group_and_both_programs_agree():
    files = unpack_zip_packed_by_temper(build_pack(waived_log(waiver(scope=HostScope("group", "web"))), KEY))
    assert b"WAIVED until 2026-12-24 on group web, owner Ops lead" in files["checklist.cklb"]
    assert check_pack_and_get_manifest(files, key=KEY.public)["run"]


@pytest.mark.parametrize("name", [one.file for one in PAPERS if one.packed])
def test_every_paper_says_it(case, name):
    text = made(case, name).decode("utf-8-sig")
    assert "WAIVED until 2026-12-24" in text or "1</b> of them waived" in text, name


def test_checklists_have_it_open(case):
    rules = {one["group_id"]: one for one in json.loads(made(case, "checklist.cklb"))["stigs"][0]["rules"]}
    assert rules[RULE]["status"] == "open"
    assert rules[RULE]["comments"].startswith(TOLD)
    assert "left alone, because it was waived" in rules[RULE]["comments"]
    assert "WAIVED" not in rules[OTHER]["comments"]
    vulns = {
        one.findtext("STIG_DATA/ATTRIBUTE_DATA"): one for one in ET.fromstring(made(case, "checklist.ckl")).iter("VULN")
    }
    assert vulns[RULE].findtext("STATUS") == "Open"
    assert vulns[RULE].findtext("COMMENTS").startswith(TOLD)


def test_the_plan_says_that_the_risk_is_accepted_and_lists_it(case):
    (first, second) = csv.DictReader(io.StringIO(made(case, "poam.csv").decode("utf-8-sig"), newline=""))
    assert (first["rule"], first["status"], second["status"]) == (RULE, "Risk Accepted", "Ongoing")


def test_results_have_the_scanners_word_and_a_note_that_leaves_it(case, tmp_path):
    content = made(case, "results.xccdf.xml")
    results = {one.get("idref"): one for one in ET.fromstring(content).iter(f"{X}rule-result")}
    found = results[f"xccdf_temper_rule_{RULE}"]
    assert found.findtext(f"{X}result") == "fail"
    assert next((one.get("severity"), one.text) for one in found.findall(f"{X}message")) == ("warning", TOLD)
    assert [name for name, one in results.items() if TOLD in "".join(one.itertext())] == [found.get("idref")]
    (tmp_path / "results.xccdf.xml").write_bytes(content)
    asked = ["oscap", "xccdf", "validate", "results.xccdf.xml"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_from_its_day_on_it_is_open_as_any_other():
    over = read_run_record(waived_log(waiver(until="2026-09-21")))
    assert over.waived_rules == []
    assert b"Risk Accepted" not in made(over, "poam.csv")


def test_what_holds_after_all_needs_none():
    case = read_run_record(waived_log(closing={RULE: "pass", OTHER: "fail"}))
    assert case.waived_rules == []
    assert (
        describe_outcome(case, next(one for one in case.judged if one.rule.id == RULE))
        == "left alone, because it was waived"
    )


def test_a_pack_with_it_holds(files):
    assert check_pack_and_get_manifest(files, key=KEY.public)["run"]


@pytest.mark.parametrize(
    ("name", "was", "becomes"),
    [
        ("poam.json", b"Risk Accepted", b"Ongoing"),
        ("checklist.cklb", b"WAIVED until 2026-12-24", b"WAIVED until 2036-12-24"),
        ("results.xccdf.xml", b"owner Ops lead", b"owner nobody"),
        ("results.arf.xml", b"ticket CHG-7", b"ticket CHG-8"),
    ],
)
def test_a_waiver_that_the_log_does_not_have_is_found_by_the_script_alone(files, name, was, becomes):
    assert was in files[name]
    with pytest.raises(BrokenPack, match=re.escape(name.partition(".")[0])):
        check_pack_and_get_manifest(listed_anew({**files, name: files[name].replace(was, becomes)}))


def test_a_finding_that_is_made_a_waived_one_is_found(files):
    """In every paper alike."""
    papers = ("checklist.cklb", "checklist.ckl", "poam.json", "poam.csv")
    changed = {name: files[name].replace(b"Run 0a1b2c3d on web-1, mode auto: not", b"WAIVED: not") for name in papers}
    assert changed != {name: files[name] for name in papers}
    with pytest.raises(BrokenPack, match="of a waiver"):
        check_pack_and_get_manifest(listed_anew({**files, **changed}))


def test_a_row_that_counts_a_waived_item_agrees_with_its_log(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    log = waived_log()
    EventStore(database).append(log)
    with Session(database) as session:
        row = session.get_one(RunRow, log[0].run)
        assert (row.skipped, row.waived) == (0, 1)
        check_run_row(row, log)
    database.dispose()
