"""What was decided, as a tailoring: OpenSCAP takes the file and evaluates what we said, and so do we."""

import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from lxml import etree
from sqlmodel import Session

from app.scanners.openscap.benchmark import read_benchmark
from app.scanners.openscap.tailoring import add_tailoring, offer_only_tailored_profiles, read_tailoring
from app.store.host_groups import replace_group
from tests.runs.doors import house
from tests.scanners.openscap.content import DATA
from tests.skills.scap.test_scap_values import TAILORED

VALUED = DATA / "scap" / "valued-ds.xml"
NAME = "scap:valued:base"
SOON = (datetime.now(UTC).date() + timedelta(90)).isoformat()
WAIVER = {"skill": NAME, "owner": "Ops & co", "reason": "<no motd>", "until": SOON}


@pytest.fixture
async def doors(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".local/share/xml/scap").mkdir(parents=True)
    shutil.copy(VALUED, tmp_path / ".local/share/xml/scap")
    add_tailoring(TAILORED.encode(), "site", read_benchmark(VALUED))
    async with house(tmp_path / "data") as made:
        with Session(made.database) as session, session.begin():
            replace_group(session, "lab", ["fixture"])
        made.folder = tmp_path
        yield made


async def written(doors, **asked):
    answer = await doors.http.get("/api/v1/tailoring.xml", params={"skill": NAME, **asked})
    assert answer.status_code == 200, answer.text
    return answer.content


def said(content):
    """What it changes, as our own reader has it."""
    (profile,) = read_tailoring(content, "x").profiles.values()
    lines = {
        one.get("idref").partition("test_")[2]: one.get("selected") or one.text for one in profile if one.get("idref")
    }
    return profile.get("extends").partition("test_")[2], lines


def oscap(*words, cwd):
    return subprocess.run(["oscap", *words], cwd=cwd, capture_output=True, text=True, check=False)


def judged(doors, content):
    """What OpenSCAP itself makes of it, on this machine: it accepts the file, and asks for these rules."""
    (doors.folder / "t.xml").write_bytes(content)
    assert oscap("xccdf", "validate", "--skip-schematron", "t.xml", cwd=doors.folder).returncode == 0
    assert "XCCDF Tailoring" in oscap("info", "t.xml", cwd=doors.folder).stdout
    (profile,) = read_tailoring(content, "x").profiles
    asked = ["--tailoring-file", "t.xml", "--profile", profile, "--results", "r.xml"]
    ran = oscap("xccdf", "eval", *asked, str(VALUED), cwd=doors.folder)
    assert ran.returncode in (0, 2), ran.stderr
    results = etree.parse(doors.folder / "r.xml")
    values = {one.get("idref").partition("value_")[2]: one.text for one in results.iter("{*}set-value")}
    return re.findall(r"Rule\s+\S+_rule_(\w+)", ran.stdout), values


async def test_nothing_decided_is_the_profile_as_it_stands(doors):
    content = await written(doors)
    assert said(content) == ("profile_base", {})
    rules, values = judged(doors, content)
    assert (rules, values["length"]) == (["length", "greeting"], "12")


async def test_waivers_and_values_of_a_host_are_those_of_its_groups_too(doors):
    await doors.http.post("/api/v1/waivers", json=WAIVER | {"rule": "greeting", "group": "lab"})
    await doors.http.put("/api/v1/parameters/length", json={"value": "20", "skill": NAME, "host": "fixture"})
    await doors.http.put("/api/v1/parameters/length", json={"value": "16", "skill": NAME, "group": "lab"})
    own, lab, all_ = await written(doors, host="fixture"), await written(doors, group="lab"), await written(doors)
    assert said(own) == ("profile_base", {"rule_greeting": "false", "value_length": "20"})
    assert said(lab) == ("profile_base", {"rule_greeting": "false", "value_length": "16"})
    assert said(all_) == ("profile_base", {})
    assert f"WAIVED until {SOON} on group lab, owner Ops &amp; co: &lt;no motd&gt;".encode() in own
    rules, values = judged(doors, own)
    assert (rules, values["length"]) == (["length"], "20")


async def test_a_choice_of_rules_and_what_an_operators_own_tailoring_says_stay(doors):
    assert judged(doors, await written(doors, rules="greeting"))[0] == ["greeting"]
    mine = await written(doors, skill="scap:valued:ours:site")
    assert judged(doors, mine) == (["length"], judged(doors, mine)[1])
    assert judged(doors, mine)[1]["length"] == "14"
    benchmark = offer_only_tailored_profiles(read_tailoring(mine, "x"), read_benchmark(VALUED))
    assert [one.name for one in benchmark.list_rules_removed_by_tailoring("xccdf_x_profile_ours")] == ["greeting"]


async def test_the_terminal_writes_the_same_file(doors):
    out = doors.folder / "out.xml"
    assert await doors.typed("scap", "export", "--skill", NAME, "--host", "fixture", "--out", str(out)) is None
    assert said(out.read_bytes()) == said(await written(doors, host="fixture"))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"skill": "stig"}, "'stig' is not a profile of a data stream: give one, as scap:CONTENT:PROFILE."),
        ({"skill": "scap:gone:base"}, "There is no data stream 'gone'"),
        ({"host": "moon"}, "There is no host 'moon'"),
        ({"group": "moon"}, "There is no group 'moon': the groups are lab."),
        ({"group": "lab", "host": "fixture"}, "Give a host or a group, not both."),
        ({"rules": "V-1"}, "There is no rule 'V-1'"),
    ],
)
async def test_what_is_wrong_is_said_alike(doors, asked, says):
    refused = (await doors.http.get("/api/v1/tailoring.xml", params={"skill": NAME, **asked})).json()["detail"]
    assert says in refused
    words = [word for name, value in ({"skill": NAME} | asked).items() for word in (f"--{name}", value)]
    assert (await doors.typed("scap", "export", *words)).sentence == refused


async def test_the_page_offers_it_for_a_data_streams_profile(doors):
    text = (await doors.http.get(f"/parameters?skill={NAME}")).text
    assert f"/api/v1/tailoring.xml?skill={NAME.replace(':', '%3A')}" in text
    assert "scap:valued:ours:site" in text
    assert "tailoring.xml" not in (await doors.http.get("/parameters")).text
