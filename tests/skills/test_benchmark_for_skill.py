import shutil

import pytest

from app.skills import benchmark_for_skill
from app.skills.benchmark_for_skill import choose_benchmark_with_skill_ids
from app.skills.catalog import load_skill
from tests.scanners.openscap.content import SMALL, STIG


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "added"
    made.mkdir()
    return made


def test_without_a_benchmark_nothing_is_named(folder):
    assert choose_benchmark_with_skill_ids(load_skill("stig"), (folder,)) is None
    shutil.copy(SMALL, folder)
    (folder / "broken-xccdf.xml").write_text("<")
    assert choose_benchmark_with_skill_ids(load_skill("stig"), (folder,)) is None


def test_rules_are_found_by_their_number(folder):
    shutil.copy(STIG, folder)
    made = choose_benchmark_with_skill_ids(load_skill("stig"), (folder,))
    assert made
    assert made.file == STIG.name
    assert {one.rule: one.id for one in made.rules} == {
        "V-257985": "SV-257985r1000001_rule",
        "V-257984": "SV-257984r1000002_rule",
    }


def test_the_newest_release_of_a_benchmark_is_taken_and_one_that_knows_more_before_it(folder):
    text = STIG.read_text()
    newer = text.replace("Release: 9 ", "Release: 10 ").replace("1000001_rule", "2000001_rule")
    (folder / "a-xccdf.xml").write_text(newer)
    shutil.copy(STIG, folder)
    made = choose_benchmark_with_skill_ids(load_skill("stig"), (folder,))
    assert made
    assert made.file == "a-xccdf.xml"
    (folder / "a-xccdf.xml").write_text(text.replace("Release: 9 ", "Release: \u00b2 "))
    made = choose_benchmark_with_skill_ids(load_skill("stig"), (folder,))
    assert made
    assert made.file == STIG.name
    (folder / "a-xccdf.xml").write_text(newer.replace("V-257984", "V-7"))
    made = choose_benchmark_with_skill_ids(load_skill("stig"), (folder,))
    assert made
    assert made.file == STIG.name


def test_a_folder_with_many_benchmarks_is_read_once(folder, monkeypatch):
    for number in range(12):
        shutil.copy(STIG, folder / f"{number}-xccdf.xml")
    read, parse = [], benchmark_for_skill.read_published

    def note_and_parse(content, name):
        read.append(name)
        return parse(content, name)

    monkeypatch.setattr(benchmark_for_skill, "read_published", note_and_parse)
    for _ in range(2):
        choose_benchmark_with_skill_ids(load_skill("stig"), (folder,))
    assert sorted(read) == sorted(file.name for file in folder.iterdir())


REFERS = "<reference href='u'>SV-257985r7_rule</reference>"


def test_content_names_its_own_rules_and_where_two_share_a_number_neither(tmp_path, monkeypatch, folder):
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / ".local/share/xml/scap"
    home.mkdir(parents=True)
    text = SMALL.read_text().replace("test_group_V-257985", "test_group_root")
    release = "<title>The release is written down</title>"
    (home / "one-ds.xml").write_text(text.replace(release, release + REFERS))
    made = choose_benchmark_with_skill_ids(load_skill("scap:one:more"), (folder,))
    assert made
    assert [(one.rule, one.group) for one in made.rules] == [("release", "V-257985")]
    shutil.copy(STIG, folder)
    made = choose_benchmark_with_skill_ids(load_skill("scap:one:more"), (folder,))
    assert made
    assert [(one.rule, one.id) for one in made.rules] == [("release", "SV-257985r1000001_rule")]
    byhand = "<title>Somebody looks at it</title>"
    (home / "two-ds.xml").write_text(text.replace(release, release + REFERS).replace(byhand, byhand + REFERS))
    assert choose_benchmark_with_skill_ids(load_skill("scap:two:more"), (folder,)) is None
