"""A tailoring file at each door: kept, made a skill, and refused in the same sentence."""

import shutil

import pytest

from app.skills.catalog import load_skill
from app.skills.skill import build_rulebook
from tests.runs.doors import house
from tests.scanners.openscap.content import SMALL, TAILORING

TEXT = TAILORING.read_text()
NAME = "scap:small:ours:site"


@pytest.fixture
async def doors(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".local/share/xml/scap").mkdir(parents=True)
    shutil.copy(SMALL, tmp_path / ".local/share/xml/scap")
    async with house(tmp_path / "data") as made:
        made.folder = tmp_path
        yield made


async def api(doors, text, content="small", name="site"):
    answer = await doors.http.post("/api/v1/tailorings", json={"document": text, "content": content, "name": name})
    return None if answer.status_code == 201 else answer.json()["detail"]


async def terminal(doors, text, content="small", name="site"):
    file = doors.folder / "given.xml"
    file.write_text(text)
    words = ("--content", content, "--name", name)
    wrong = await doors.typed_bare("scap", "tailor", str(file), *words)
    return wrong.sentence if wrong else None


@pytest.mark.parametrize("door", [api, terminal])
async def test_it_becomes_a_skill(doors, door):
    assert await door(doors, TEXT) is None
    made = load_skill(NAME)
    assert (made.name, made.title) == (NAME, "A small benchmark: Ours")
    assert [*made.rules] == ["V-257985", "release"]
    assert [*made.left_out] == ["by_hand"]
    assert made.tailored
    assert (made.tailored.file, made.tailored.version, made.tailored.left_out) == (
        "site-tailoring.xml",
        "3",
        ("by_hand",),
    )
    assert made.content
    assert made.content.tailoring == TEXT.encode()
    assert b'"by_hand"' in build_rulebook(made)
    (listed,) = (await doors.http.get("/api/v1/tailorings")).json()["profiles"]
    assert (listed["skill"], listed["rules"], listed["left_out"]) == (NAME, 2, 1)
    assert listed["sha256"] == made.tailored.sha256


async def test_what_is_wrong_is_said_alike(doors):
    shutil.copy(SMALL, doors.folder / ".local/share/xml/scap/other-ds.xml")
    wrong = [
        (TEXT.replace("rule_release", "rule_gone"), "small", "site", "which A small benchmark does not have"),
        ("<a/>", "small", "site", "has no tailoring"),
        (TEXT.replace("small-ds.xml", "other-ds.xml"), "small", "site", "is for other-ds.xml, not for small"),
        (TEXT, "gone", "site", "There is no data stream 'gone'"),
        (TEXT, "small", "Site!", "'Site!' is not a valid name for a tailoring"),
    ]
    for text, content, name, says in wrong:
        found = {await door(doors, text, content, name) for door in (api, terminal)}
        assert len(found) == 1, found
        assert says in found.pop()
    assert (await doors.http.get("/api/v1/tailorings")).json() == {"profiles": []}


async def test_a_run_can_be_ordered_on_it(doors):
    await api(doors, TEXT)
    answer = await doors.http.post("/api/v1/runs", json={"host": "fixture", "skill": NAME, "mode": "scan"})
    assert answer.status_code == 202, answer.text
    assert doors.submitted[0].rules == ("V-257985", "release")
    refused = await doors.http.post("/api/v1/runs", json={"host": "fixture", "skill": NAME, "rules": ["by_hand"]})
    assert refused.status_code == 422
    gone = await doors.http.post("/api/v1/runs", json={"host": "fixture", "skill": "scap:small:ours:gone"})
    assert "There is no tailoring 'gone'; the tailorings are: site." in gone.json()["detail"]
