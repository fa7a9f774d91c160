"""The site's values in a data stream's rules: OpenSCAP judges by them, and nothing weaker than the profile is taken."""

import hashlib
import shutil
from dataclasses import replace

import pytest

from app.events.event_field_types import ParameterUsed
from app.runs.site_values import apply_stig_bounds
from app.scanners.openscap.local_oscap_shell import TreeShell
from app.scanners.openscap.scanner import OpenScapScanner
from app.scanners.openscap.tailoring import read_tailoring
from app.skills.catalog import load_skill
from app.skills.skill import apply_parameters
from tests.scanners.openscap.content import DATA

NAME = "scap:valued:base"
PREFIX = "xccdf_temper.test_value_"
TAILORED = """<Tailoring xmlns="http://checklists.nist.gov/xccdf/1.2" id="xccdf_x_tailoring_y">
<version time="2026-11-21T10:00:00">7</version>
<Profile id="xccdf_x_profile_ours" extends="xccdf_temper.test_profile_base"><title>Ours</title>
<select idref="xccdf_temper.test_rule_greeting" selected="false"/>
<set-value idref="xccdf_temper.test_value_length">14</set-value></Profile></Tailoring>"""


@pytest.fixture(autouse=True)
def content(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".local/share/xml/scap"
    folder.mkdir(parents=True)
    shutil.copy(DATA / "scap" / "valued-ds.xml", folder)
    (folder / "site-tailoring.xml").write_text(TAILORED)


def used(name, value):
    digest = hashlib.sha256(value.encode()).hexdigest()
    return ParameterUsed(name=name, value=value, sha256=digest, rules=("length",), where="every host")


def test_what_rules_are_checked_by_is_the_sites_to_choose():
    known = load_skill(NAME).parameters
    assert set(known) == {"length", "greeting"}
    length = known["length"]
    assert (length.usual, length.rules, length.least, length.most) == ("12", ("length",), 12, 64)
    assert (
        length.explain_refusal("8") == "'8' will not do for length: 12 is the least. The profile asks for 12 or more."
    )
    assert known["greeting"].kind == "text"


def test_content_that_refers_to_the_stig_is_held_to_its_bound_as_well():
    pack = load_skill(NAME)
    raised = pack.parameters["length"]
    assert apply_stig_bounds(raised, pack).least == 12, (
        "where the content itself asks for less, the two mean different things"
    )
    alike = replace(raised, usual="15", least=None, stated="")
    assert (
        apply_stig_bounds(alike, pack)
        .explain_refusal("14")
        .endswith("15 is the least. The STIG asks for 15 or more (V-258107).")
    )


@pytest.mark.parametrize(("name", "begins"), [(NAME, "12"), ("scap:valued:ours:site", "14")])
def test_it_stands_in_the_rules_words_and_in_a_tailoring_of_our_own(name, begins):
    assert f"minlen is {begins} or more" in load_skill(name).rules["length"].requirement
    made = apply_parameters(load_skill(name), (used("length", "20"),))
    assert made.used[0].value == "20"
    assert "minlen is 20 or more" in made.rules["length"].requirement
    assert made.name == name
    assert made.content
    (profile,) = read_tailoring(made.content.tailoring, "ours").profiles.values()
    assert profile.get("id") == made.content.profile
    assert [(one.get("idref"), one.text) for one in profile.iter("{*}set-value")] == [(f"{PREFIX}length", "20")]


@pytest.mark.parametrize(
    ("name", "value", "there", "words"),
    [
        (NAME, None, "15", ["pass", "fail"]),
        (NAME, "20", "15", ["fail", "fail"]),
        (NAME, "20", "20", ["pass", "fail"]),
        ("scap:valued:ours:site", None, "13", ["fail"]),
        ("scap:valued:ours:site", "20", "15", ["fail"]),
        ("scap:valued:ours:site", "20", "21", ["pass"]),
    ],
)
async def test_openscap_judges_by_it(tmp_path, name, value, there, words):
    (tmp_path / "root/etc/security").mkdir(parents=True)
    (tmp_path / "root/etc/security/pwquality.conf").write_text(f"minlen = {there}\n")
    pack = apply_parameters(load_skill(name), (used("length", value),) if value else ())
    ids = {rule.id: rule.stig_id for rule in pack.rules.values()}
    cache = tmp_path / "cache"
    said = await OpenScapScanner(TreeShell(tmp_path / "root", cache), pack.content, ids, str(cache)).judge_rules([*ids])
    assert [one.word for one in said] == words
