"""What ansible-core alone would refuse is left out, rule by rule, and named; the rest is played as it was generated."""

import os
import sys
from pathlib import Path

import pytest

from app.errors import EnvironmentUnusable
from app.scores import openscap_playbook
from app.scores.openscap_playbook import (
    NO_FIX,
    Playbook,
    drop_unplayable_rules,
    map_unrun_rules_to_reasons,
    remove_rules,
    run_ansible_fixes_between_scans,
)
from app.targets.rootfs.loopback_ssh_access import SshAccess

ANSIBLE = str(Path(sys.executable).with_name("ansible-playbook"))
HEAD = "---\n# made\n- hosts: all\n  vars:\n    minlen: !!str 15\n  tasks:\n"
TASK = "    - name: {rule}\n      {module}:\n        {argument}\n      tags:\n      - medium_severity\n      - {rule}\n"
FILE = TASK.format(rule="file_mode", module="ansible.builtin.file", argument="path: /etc/motd")
GONE = TASK.format(rule="kernel", module="no.such.thing", argument="name: a")
BESIDE = TASK.format(rule="kernel", module="command", argument="cmd: 'true'")


def test_rules_whose_tasks_want_a_collection_are_left_out_whole_and_the_others_stay_as_they_are(tmp_path):
    left = drop_unplayable_rules(ANSIBLE, HEAD + BESIDE + GONE + FILE, ("file_mode", "kernel", "third"), tmp_path)
    assert left == Playbook(HEAD + FILE, {"kernel": "collection no.such"})
    assert map_unrun_rules_to_reasons(left, ("file_mode", "kernel", "third")) == {
        "kernel": "collection no.such",
        "third": NO_FIX,
    }


def test_a_rule_is_known_by_its_whole_name():
    longer = FILE.replace("file_mode", "file_mode_strict")
    assert remove_rules(HEAD + FILE + longer, ["file_mode"]) == HEAD + longer


ENDLESS = "exec tail -f /dev/null\n"


def put_program(folder, name, script):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}")
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def access(tmp_path, monkeypatch):
    """A machine whose files lie in a folder with a blank, and whose ssh client is a script in tmp_path/bin."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "a b").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return SshAccess(22, "temper", tmp_path / "a b/key", tmp_path / "a b/known")


def test_ansible_that_never_ends_is_ended_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(openscap_playbook, "ANSIBLE_SECONDS", 0.1)
    with pytest.raises(EnvironmentUnusable, match=r"ansible-playbook took longer than 0\.1 s"):
        drop_unplayable_rules(put_program(tmp_path, "ansible", ENDLESS), HEAD, (), tmp_path)


async def test_a_machine_that_never_answers_is_given_up_with_a_sentence(tmp_path, monkeypatch, access):
    put_program(tmp_path / "bin", "ssh", ENDLESS)
    monkeypatch.setattr(openscap_playbook, "SECONDS", 0.1)
    with pytest.raises(EnvironmentUnusable, match="the scans and the playbook took longer than"):
        await run_ansible_fixes_between_scans(access, "", (), "content", "profile")


async def test_paths_with_a_blank_reach_ssh_whole(tmp_path, access):
    log, playbook = tmp_path / "log", tmp_path / "made.yml"
    playbook.write_text(f"{HEAD}{FILE}<<playbook ends>>\n")
    script = f'printf \'%s\\n\' "$@" >>{log}\ncase "$*" in *ControlMaster*) exit 255;; esac\n'
    put_program(tmp_path / "bin", "ssh", f"{script}cat {playbook}\n{ENDLESS}")
    with pytest.raises(EnvironmentUnusable, match="the playbook stopped"):
        await run_ansible_fixes_between_scans(access, "", ("file_mode",), "content", "profile")
    words = log.read_text().splitlines()
    assert words.count(f'UserKnownHostsFile="{access.known_hosts}"') == 2
    assert f'IdentityFile="{access.key}"' in words
