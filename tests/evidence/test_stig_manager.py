"""STIG Manager's own parser, as published, reads the papers: what it takes, and under which rule ids."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

from app.evidence.ckl import build_ckl
from app.evidence.cklb import build_cklb
from app.evidence.xccdf_and_arf import build_xccdf
from app.skills.benchmark_for_skill import choose_benchmark_with_skill_ids
from app.skills.catalog import load_skill
from tests.evidence.logs import plain_case
from tests.scanners.openscap.content import ARF, STIG

NODE = compute_driver_executable()[0]
"""The one that drives the browser tests."""
SCRIPT = Path(__file__).with_name("stig_manager.mjs")
RULES = tuple(load_skill("stig").rules)
WORDS = ("pass", "fail", "notapplicable", "unknown", "error")
SAID = {rule: WORDS[at % 5] for at, rule in enumerate(RULES)}
PLAIN = {"pass": "pass", "fail": "fail", "notapplicable": "notapplicable"}


def revised(rule):
    return f"S{rule}r{RULES.index(rule) + 100}_rule"


def guide(folder):
    """A guide of all rules, in the form of the small one and in its words."""
    small = STIG.read_text()
    head, tail = small[: small.index("<Group ")], "</Benchmark>"
    group = re.search(r'<Group id="V-257985">.*?</Group>', small, re.DOTALL)[0]
    groups = [group.replace("SV-257985r1000001_rule", revised(one)).replace("V-257985", one, 1) for one in RULES]
    (folder / "U_WHOLE_STIG_V2R9_Manual-xccdf.xml").write_text("\n".join([head, *groups, tail]))
    return choose_benchmark_with_skill_ids(load_skill("stig"), (folder,))


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """What it makes of each paper of one run, by OpenSCAP's verdicts, and of what is none of ours."""
    folder = tmp_path_factory.mktemp("papers")
    begun = {"published": guide(folder), "scanner": "OpenSCAP 1.3.7"}
    whole = plain_case(dict.fromkeys(SAID, "fail"), SAID, begun=begun)
    unnamed = plain_case(dict.fromkeys(SAID, "fail"), SAID)
    papers = {"ckl": build_ckl(whole), "cklb": build_cklb(whole), "xccdf": build_xccdf(whole)}
    others = {"without": ("ckl", build_ckl(unnamed)), "arf": ("xccdf", ARF.read_bytes()), "junk": ("cklb", b"{}")}
    asked = {**{kind: (kind, content) for kind, content in papers.items()}, **others}
    for name, (_, content) in asked.items():
        (folder / name).write_bytes(content)
    words = [f"{kind}={folder / name}" for name, (kind, _) in asked.items()]
    done = subprocess.run([NODE, SCRIPT, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(asked, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("kind", ["ckl", "cklb", "xccdf"])
def test_every_review_is_found_by_the_benchmarks_own_rule_id(read, kind):
    (checklist,) = read[kind]["checklists"]
    expected = {revised(rule): PLAIN[word] for rule, word in SAID.items() if word in PLAIN}
    got = {review["ruleId"]: review["result"] for review in checklist["reviews"]}
    assert {rule: got[rule] for rule in expected} == expected
    assert (checklist["benchmarkId"], read[kind]["target"]["name"]) == ("RHEL_9_STIG", "web-1")
    assert not read[kind].get("errors")
    assert set(got) <= {revised(rule) for rule in RULES}


@pytest.mark.parametrize("kind", ["ckl", "cklb"])
def test_checklists_carry_the_revision_and_what_nobody_decided(read, kind):
    (checklist,) = read[kind]["checklists"]
    assert checklist["revisionStr"] == "V2R9"
    assert len(checklist["reviews"]) == len(RULES) == 30
    undecided = [one["result"] for one in checklist["reviews"] if one["result"] not in PLAIN]
    assert undecided == ["informational"] * 12
    assert {one["status"] for one in checklist["reviews"] if one["result"] in PLAIN} == {"submitted"}


def test_without_a_benchmark_no_review_would_be_found(read):
    (checklist,) = read["without"]["checklists"]
    assert len(checklist["reviews"]) == 30
    assert {one["ruleId"] for one in checklist["reviews"]}.isdisjoint(map(revised, RULES))


def test_it_reads_no_asset_report_whoever_made_it_and_says_so(read):
    """OpenSCAP's own: hence results.xccdf.xml."""
    assert read["arf"] == {"refused": "No Benchmark or TestResult element"}
    assert read["junk"]["refused"].startswith("Invalid CKLB object")
