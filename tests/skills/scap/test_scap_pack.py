import os
import shutil

import pytest

from app.errors import BadInput
from app.skills.catalog import load_skill
from tests.hostfiles import DictFiles
from tests.scanners.openscap.content import PROFILE, RULE, SMALL


@pytest.fixture(autouse=True)
def content(tmp_path, monkeypatch):
    """A home that keeps one data stream."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".local/share/xml/scap"
    folder.mkdir(parents=True)
    return shutil.copy(SMALL, folder)


def test_a_data_stream_and_a_profile_make_a_skill(content):
    made = load_skill("scap:small:more")
    assert made.name == "scap:small:more"
    assert made.title == "A small benchmark: More of it"
    assert made.content
    assert (str(made.content.datastream), made.content.profile) == (content, f"{PROFILE}more")
    assert {rule.id: rule.category for rule in made.rules.values()} == {
        "V-257985": "I",
        "release": "II",
        "moduli": "II",
    }
    root = made.rules["V-257985"]
    assert root.stig_id == f"{RULE}root_login"
    assert root.paths[0] == "/etc/ssh/sshd_config"


def test_files_alone_do_not_judge_its_rules():
    for rule in load_skill("scap:small:base").rules.values():
        verdict = rule.check(DictFiles({}))
        assert (verdict.rule, verdict.word) == (rule.id, "unknown")


def test_a_data_stream_that_changed_is_read_again(content):
    before = load_skill("scap:small:base")
    assert load_skill("scap:small:base") is before
    os.utime(content, ns=(1, 1))
    assert load_skill("scap:small:base") is not before


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("scap", "Give the skill as scap:CONTENT:PROFILE; content on this machine: .*small"),
        ("scap:small", "Give the skill as scap:CONTENT:PROFILE"),
        ("scap:gone:base", "no data stream 'gone'"),
        ("scap:../small:base", "no data stream"),
        ("scap:small:bas", "it has: base, more"),
    ],
)
def test_what_is_missing_is_said(name, says):
    with pytest.raises(BadInput, match=says):
        load_skill(name)
