"""Results alone in their benchmark, in the shape that STIG Manager's parser wants, and OpenSCAP's own report."""

import re
import shutil
import subprocess
from xml.etree import ElementTree as ET

import pytest

from app.events.record import format_timestamp
from app.evidence.run_record import read_run_record
from app.evidence.xccdf_and_arf import build_arf, build_xccdf
from tests.evidence.logs import EVERY_WORD, chain, finished, plain_case, queued, scoped, started, verdicts
from tests.evidence.published import NAMES, named_log
from tests.scanners.openscap.content import SMALL

X = "{http://checklists.nist.gov/xccdf/1.2}"


def foreign_case(tmp_path, monkeypatch):
    """The name of its skill has colons."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".local/share/xml/scap"
    folder.mkdir(parents=True)
    shutil.copy(SMALL, folder)
    rule = {"release": "fail"}
    said = [*verdicts("opening", rule, "OpenSCAP"), scoped(rule), *verdicts("closing", rule, "OpenSCAP")]
    return read_run_record(chain([queued(rule, skill="scap:small:more"), started(), *said, finished()]))


def test_it_has_what_stig_manager_reads():
    case = read_run_record(named_log())
    root = ET.fromstring(build_xccdf(case))
    assert case.published.note
    assert root.findtext(f"{X}description") == case.published.note
    assert (root.tag, root.get("id")) == (f"{X}Benchmark", "xccdf_mil.disa.stig_benchmark_RHEL_9_STIG")
    (result,) = root.findall(f"{X}TestResult")
    assert result.findtext(f"{X}target") == "web-1"
    assert re.fullmatch(r"cpe:/a:temper:temper:[\w.-]+", result.get("test-system"))
    assert result.get("end-time").endswith("Z")
    assert case.state.started_at > case.queued_at
    assert result.get("start-time") == format_timestamp(case.state.started_at)
    words = {one.get("idref"): one.findtext(f"{X}result") for one in result.findall(f"{X}rule-result")}
    assert words[f"xccdf_mil.disa.stig_rule_{NAMES['V-257985']}"] == "pass"
    assert words[f"xccdf_mil.disa.stig_rule_{NAMES['V-257984']}"] == "fail"
    assert {rule.findtext(f"{X}version")[:8] for rule in root.iter(f"{X}Rule")} == {"RHEL-09-"}


@pytest.mark.parametrize(
    ("simulated", "remarks"), [(True, ["SIMULATED: the engines and the host, by a tree of real files."]), (False, [])]
)
def test_what_was_simulated_is_a_remark(simulated, remarks):
    root = ET.fromstring(build_xccdf(plain_case(EVERY_WORD, {}, simulated=simulated, begun={"simulated": simulated})))
    assert [one.text for one in root.iter(f"{X}remark") if one.text.startswith("SIMULATED")] == remarks


def test_ccis_go_with_rules_and_results():
    root = ET.fromstring(build_xccdf(read_run_record(named_log())))
    for kind, by in (("Rule", "id"), ("rule-result", "idref")):
        (one,) = [one for one in root.iter(f"{X}{kind}") if one.get(by, "").endswith(NAMES["V-257985"])]
        given = [ident.text for ident in one.findall(f"{X}ident") if "cci" in ident.get("system")]
        assert given == ["CCI-000770", "CCI-004045"]


def test_a_run_that_only_looked_shows_its_one_scan():
    root = ET.fromstring(build_xccdf(plain_case(EVERY_WORD, {}, mode="scan")))
    (result,) = root.findall(f"{X}TestResult")
    words = {one.get("idref").rpartition("_")[2]: one.findtext(f"{X}result") for one in result.iter(f"{X}rule-result")}
    assert {rule: words[rule] for rule in EVERY_WORD} == EVERY_WORD


@pytest.mark.parametrize("kind", ["named", "foreign"])
def test_openscap_finds_it_valid_and_makes_its_report_of_both(tmp_path, monkeypatch, kind):
    case = read_run_record(named_log()) if kind == "named" else foreign_case(tmp_path, monkeypatch)
    for name, paper in (("results.xccdf.xml", build_xccdf), ("results.arf.xml", build_arf)):
        (tmp_path / name).write_bytes(paper(case))
        done = subprocess.run(
            ["oscap", "xccdf", "generate", "report", name], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert case.published.title in done.stdout
    valid = ["oscap", "xccdf", "validate", "results.xccdf.xml"]
    done = subprocess.run(valid, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
