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
    play_until_no_task_fails,
    remove_rules,
    run_ansible_fixes_between_scans,
    split_at_task_of_line,
)
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import SshAccess

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


HERE_SSH = 'for word in "$@"; do :; done\neval "$word"\n'
HERE_SUDO = 'while [ "$1" != /bin/sh ]; do shift; done\nexec "$@"\n'
TOUCHED = TASK.format(rule="touched", module="ansible.builtin.copy", argument="content: x\n        dest: {file}")
WRONG = "    - name: wrong\n      command: 'true'\n      when: minlen.found\n      tags:\n      - wrong\n"
IN_A_BLOCK = "    - name: block\n      block:\n      - name: inner\n        fail:\n      tags:\n      - block\n"


def test_a_rule_whose_task_fails_is_left_out_with_the_reason_and_the_rules_after_it_run(tmp_path, access):
    put_program(tmp_path / "bin", "ssh", HERE_SSH)
    put_program(tmp_path / "bin", "sudo", HERE_SUDO)
    touched = TOUCHED.format(file=tmp_path / "touched")
    made = Playbook(HEAD + WRONG + IN_A_BLOCK + touched, {"kernel": "collection no.such"})
    ran = play_until_no_task_fails(ANSIBLE, made, ("wrong", "block", "touched"), access, tmp_path)
    assert ran.text == HEAD + touched
    assert (tmp_path / "touched").read_text() == "x"
    assert list(ran.left_out) == ["kernel", "wrong", "block"]
    assert "Error while evaluating conditional" in ran.left_out["wrong"]
    assert ran.left_out["block"].endswith("Failed as requested from task")


def test_a_failure_outside_of_the_rules_ends_the_score(tmp_path, access):
    put_program(tmp_path / "bin", "ssh", HERE_SSH)
    put_program(tmp_path / "bin", "sudo", HERE_SUDO)
    with pytest.raises(EnvironmentUnusable, match=r"the playbook stopped: .*conditional"):
        play_until_no_task_fails(ANSIBLE, Playbook(HEAD + WRONG, {}), ("touched",), access, tmp_path)


def test_rules_that_it_did_not_reach_are_left_out_if_its_own_changes_keep_it_out(tmp_path, access):
    put_program(tmp_path / "bin", "ssh", f"[ -e {tmp_path}/locked ] && exit 1\n{HERE_SSH}")
    put_program(tmp_path / "bin", "sudo", HERE_SUDO)
    done = FILE.replace("/etc/motd", str(tmp_path))
    locks = f"    - command: touch {tmp_path}/locked\n      failed_when: true\n      tags:\n      - wrong\n"
    made = Playbook(HEAD + done + locks + BESIDE, {})
    ran = play_until_no_task_fails(ANSIBLE, made, ("file_mode", "wrong", "kernel"), access, tmp_path)
    assert ran.text == HEAD + done
    assert list(ran.left_out) == ["wrong", "kernel"]
    assert ran.left_out["kernel"].startswith("a host that Ansible can work on after its own changes: ")


def test_a_line_is_in_one_task():
    text, first = HEAD + FILE + BESIDE, HEAD.count("\n") + 1
    assert split_at_task_of_line(text, 1) == ("", HEAD, FILE + BESIDE)
    assert split_at_task_of_line(text, first) == (HEAD, FILE, BESIDE)
    assert split_at_task_of_line(text, first + FILE.count("\n") - 1) == (HEAD, FILE, BESIDE)
    assert split_at_task_of_line(text, first + FILE.count("\n")) == (HEAD + FILE, BESIDE, "")
