"""A run by a tailoring and by the site's values on paper: what is left out and what was chosen is said, not gone."""

import hashlib
import json
import re
import shutil
from xml.etree import ElementTree as ET

import pytest

from app.evidence.document_catalog import PAPERS
from app.evidence.finding_text import describe_scanner_verdicts
from app.evidence.pack import build_pack
from app.evidence.run_record import read_run_record
from app.evidence.verify import BrokenPack, check_pack_and_get_manifest, unpack_zip_packed_by_temper
from app.scanners.openscap.benchmark import read_benchmark
from app.scanners.openscap.tailoring import add_tailoring
from app.skills.catalog import load_skill
from app.skills.skill import hash_rulebook
from tests.evidence.logs import plain_log
from tests.evidence.played import KEY
from tests.scanners.openscap.content import SMALL, TAILORING

X = "{http://checklists.nist.gov/xccdf/1.2}"
NAME = "scap:small:ours:site"
OPENING = {"V-257985": "fail", "release": "pass"}
SHA = hashlib.sha256(TAILORING.read_bytes()).hexdigest()
SAYS = (
    "Not applicable by tailoring: the profile xccdf_temper.test_profile_ours of site-tailoring.xml, version 3, "
    f"sha256 {SHA} leaves this rule out."
)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        (home / ".local/share/xml/scap").mkdir(parents=True)
        shutil.copy(SMALL, home / ".local/share/xml/scap")
        add_tailoring(TAILORING.read_bytes(), "site", read_benchmark(SMALL))
        pack_ = load_skill(NAME)
        begun = {"tailored": pack_.tailored, "rulebook": hash_rulebook(pack_), "scanner": "OpenSCAP"}
        yield plain_log(OPENING, OPENING, skill=NAME, begun=begun)


@pytest.fixture(scope="module")
def files(log):
    return unpack_zip_packed_by_temper(build_pack(log, KEY))


def made(log, name):
    (paper,) = [one for one in PAPERS if one.file == name]
    return paper.build(read_run_record(log))


def test_checklists_have_what_is_left_out_as_not_applicable_and_say_by_what(log):
    (stig,) = json.loads(made(log, "checklist.cklb"))["stigs"]
    rules = {one["group_id"]: one for one in stig["rules"]}
    assert rules["by_hand"]["status"] == "not_applicable"
    assert rules["by_hand"]["finding_details"] == SAYS
    assert "not applicable by tailoring" in rules["by_hand"]["comments"]
    assert rules["V-257985"]["status"] == "open"
    vulns = list(ET.fromstring(made(log, "checklist.ckl")).iter("VULN"))
    assert [one.findtext("STATUS") for one in vulns] == ["Open", "NotAFinding", "Not_Applicable"]
    assert [one.findtext("FINDING_DETAILS") == SAYS for one in vulns] == [False, False, True]


def test_results_have_it_as_not_selected_with_the_reason(log):
    for name in ("results.xccdf.xml", "results.arf.xml"):
        last = [*ET.fromstring(made(log, name)).iter(f"{X}rule-result")][-1]
        assert (last.findtext(f"{X}result"), last.findtext(f"{X}message")) == ("notselected", SAYS)


@pytest.mark.parametrize("name", [one.file for one in PAPERS if one.packed and not one.file.endswith(".csv")])
def test_the_tailoring_is_named_by_file_version_and_digest(log, name):
    text = made(log, name).decode("utf-8-sig")
    assert f"site-tailoring.xml, version 3, sha256 {SHA}" in text


def test_the_report_lists_it_and_it_is_nothing_left_to_do(log):
    text = re.sub(r"\s+", " ", made(log, "report.html").decode())
    assert SAYS in text
    assert [one["rule"] for one in json.loads(made(log, "poam.json"))["items"]] == ["V-257985"]


def test_both_programs_hold_it_to_the_log(files):
    assert check_pack_and_get_manifest(files, key=KEY.public)["run"]


def test_one_that_is_called_a_pass_is_found(files):
    text = files["checklist.cklb"].replace(b'"not_applicable"', b'"not_a_finding"')
    with pytest.raises(BrokenPack, match="sha256 is another"):
        check_pack_and_get_manifest(files | {"checklist.cklb": text})


def test_the_verdict_on_a_rule_that_is_left_out_is_why(log):
    case = read_run_record(log)
    left = case.tailored_out_rules[0]
    assert left.left_out
    assert describe_scanner_verdicts(case, left) == left.left_out
