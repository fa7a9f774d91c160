"""DISA's data stream with what other content on this machine knows about its rules: no file of DISA's is needed."""

import dataclasses
import os

import pytest

from app.candidates.gather import gather_candidates
from app.cli.fix_candidates_of_rule import ACCEPTED, print_candidates_and_get_acceptance_code
from app.cli.host_scan_and_scap_content import SOME_DO_NOT, add_benchmark_file, scan_host
from app.config import Settings
from app.skills.benchmark_for_skill import choose_benchmark_with_skill_ids
from app.skills.catalog import load_skill
from app.skills.scap.stig_manual_and_community_tasks import find_community_datastream
from tests.hostfiles import DictFiles
from tests.scanners.openscap.disa_stream import (
    KPTR,
    LOCKED,
    MANUAL,
    NAME,
    PROFILE,
    write_community,
    write_datastream,
    write_manual,
)

SKILL = f"scap:{NAME}:{PROFILE}"


@pytest.fixture
def content(tmp_path, monkeypatch):
    """The folder of added content in a new home, and a folder of downloads."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder, downloads = tmp_path / ".local/share/xml/scap", tmp_path / "downloads"
    folder.mkdir(parents=True)
    downloads.mkdir()
    return folder, downloads


def test_a_datastream_alone_says_what_it_lacks(content, capsys):
    _, downloads = content
    add_benchmark_file(write_datastream(downloads))
    said = " ".join(capsys.readouterr().out.split())
    assert f"Use it with --skill scap:{NAME}:{PROFILE}" in said
    assert "Rules: 2, with the checks of DISA. Texts: its own; no manual STIG was added." in said
    assert "Tasks: none, as no content of ComplianceAsCode here names RHEL-09's rules. Install" in said
    assert not load_skill(SKILL).list_tasks(KPTR.group)


def test_a_manual_is_accepted_as_such_and_gives_texts_and_severities(content, capsys):
    _, downloads = content
    add_benchmark_file(write_datastream(downloads, with_fixes=False))
    before = load_skill(SKILL).rules
    assert (before[LOCKED.group].fix, before[LOCKED.group].irreversible) == ("", False)
    capsys.readouterr()
    add_benchmark_file(write_manual(downloads))
    assert f"Added {MANUAL} as a manual STIG: 2 rules with texts, and no checks" in capsys.readouterr().out
    after = load_skill(SKILL).rules
    assert after[KPTR.group].fix == KPTR.fix
    assert after[KPTR.group].asks == {"sysctl kernel.kptr_restrict 1", "systemd-sysctl kernel.kptr_restrict 1"}
    assert after[KPTR.group].paths == (KPTR.path,)
    assert (after[LOCKED.group].category, after[LOCKED.group].irreversible) == ("I", True)


def test_rules_match_by_stig_id_where_the_manual_has_another_number(content):
    folder, downloads = content
    add_benchmark_file(write_datastream(downloads, with_fixes=False))
    write_manual(folder, (dataclasses.replace(KPTR, number=300001), LOCKED))
    assert load_skill(SKILL).rules[KPTR.group].fix == KPTR.fix


def test_papers_name_the_rules_by_disas_ids(content):
    _, downloads = content
    add_benchmark_file(write_datastream(downloads))
    add_benchmark_file(write_manual(downloads))
    named = choose_benchmark_with_skill_ids(load_skill(SKILL))
    assert named
    assert (named.file, named.id, named.version) == (MANUAL, "SMALL_9_STIG", "2")
    one = named.rules[0]
    assert (one.group, one.id, one.stig_id) == (KPTR.group, KPTR.rule, KPTR.stig_id)
    assert (one.rule, one.ccis, one.check) == (KPTR.group, ("CCI-000366",), f"Look into {KPTR.path}.")


def test_tasks_of_complianceascode_are_a_candidate_by_stig_id(content, capsys):
    folder, downloads = content
    add_benchmark_file(write_datastream(downloads))
    assert not load_skill(SKILL).list_tasks(KPTR.group)
    write_community(folder)
    skill = load_skill(SKILL)
    found = gather_candidates(skill, skill.rules[KPTR.group], DictFiles({}))
    assert [one.source for one in found] == [f"ComplianceAsCode's tasks for {KPTR.stig_id}", "the fix text"]
    assert found[0].actions
    add_benchmark_file(write_datastream(downloads))
    assert "Tasks: ComplianceAsCode's ssg-rhel9-ds.xml, for 1 of its rules." in " ".join(
        capsys.readouterr().out.split()
    )


def test_several_rules_for_one_stig_id_are_done_together(content):
    folder, downloads = content
    add_benchmark_file(write_datastream(downloads))
    other = dataclasses.replace(KPTR, number=1, tasks=KPTR.tasks.replace("kptr_restrict=1", "dmesg_restrict=1"))
    write_community(folder, (KPTR, other))
    skill = load_skill(SKILL)
    first, *_ = gather_candidates(skill, skill.rules[KPTR.group], DictFiles({}))
    assert "kernel.kptr_restrict=1" in str(first.actions)
    assert "kernel.dmesg_restrict=1" in str(first.actions)


def test_the_stream_that_names_the_system_most_often_is_taken(content):
    folder, _ = content
    write_community(folder, (KPTR,), "ssg-rhel8-ds.xml").write_text("RHEL-08-000000")
    write_community(folder, (KPTR,), "ssg-rhel10-ds.xml").write_text("<a>RHEL-09-213025</a>")
    best = write_community(folder, (KPTR, dataclasses.replace(LOCKED, tasks=KPTR.tasks)))
    assert find_community_datastream([KPTR.stig_id]) == best
    assert find_community_datastream(["not an id"]) is None
    assert find_community_datastream(["UBTU-22-213025"]) is None


def test_other_content_is_not_joined(content):
    folder, _ = content
    write_community(folder)
    tasks = load_skill("scap:ssg-rhel9:stig").list_tasks(f"r{KPTR.number}")
    assert [one.source for one in tasks] == ["the content's Ansible tasks"]


def test_a_companion_that_changed_is_read_again(content):
    folder, downloads = content
    add_benchmark_file(write_datastream(downloads))
    companion = write_community(folder, (KPTR,))
    before = load_skill(SKILL)
    assert load_skill(SKILL) is before
    os.utime(companion, ns=(1, 1))
    assert load_skill(SKILL) is not before


def test_a_host_is_scanned_and_shown_its_candidates(content, tmp_path, capsys):
    folder, downloads = content
    add_benchmark_file(write_datastream(downloads))
    write_community(folder)
    settings = Settings(data=tmp_path / "data")
    assert scan_host(settings, "fixture", NAME, PROFILE, (), as_json=True) == SOME_DO_NOT
    said = capsys.readouterr().out
    assert f'"rule": "{KPTR.group}"' in said
    assert '"openscap": "fail"' in said
    assert print_candidates_and_get_acceptance_code(settings, KPTR.group, "fixture", SKILL, as_json=False) == ACCEPTED
    assert f"From ComplianceAsCode's tasks for {KPTR.stig_id}: accepted by the policy" in capsys.readouterr().out
