"""Tried with ansible-core itself."""

import io
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from app.evidence.playbook.ansible_role import build_playbook_zip
from app.evidence.playbook.line_edits_from_recorded_changes import PlaybookEdit
from app.evidence.playbook.repeatable_fixes import PortableFixes, build_shell_commands
from app.resources.kind import ShellCommands
from app.resources.permission import SetPermissions
from tests.evidence.playbook.fresh import HOSTILE, STIG, fix, harmful

ANSIBLE = Path(sys.executable).with_name("ansible-playbook")


@pytest.fixture
def play(tmp_path):
    def plays(content, *arguments):
        zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path / "role")
        given = {"temper_kept": tmp_path / "kept", "ansible_python_interpreter": sys.executable}
        words = [word for name, value in given.items() for word in ("-e", f"{name}={value}")]
        command = [str(ANSIBLE), "-i", "localhost,", "-c", "local", "playbook.yml", "-e", "ansible_become=false"]
        calm = {
            "ANSIBLE_HOME": str(tmp_path / "home"),
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_NOCOLOR": "1",
            "LC_ALL": "C.UTF-8",
        }
        return subprocess.run(
            [*command, *words, *arguments],
            cwd=tmp_path / "role",
            env=os.environ | calm,
            capture_output=True,
            text=True,
            check=False,
        )

    return plays


def test_the_role_keeps_the_rules_of_ansible_lints_profile_production():
    """Those that it broke once: long lines, tabs in tasks, commands that do not say what they change, no author."""
    long = "PermitRootLogin\tno # " + "why " * 100
    taken = fix(PlaybookEdit("replace", "/etc/ssh/sshd_config", "x\ty", long), rule=STIG.rules["V-257985"])
    archive = zipfile.ZipFile(io.BytesIO(build_playbook_zip(taken, "r1", "said " * 60)))
    texts = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".yml")}
    assert [line for text in texts.values() for line in text.splitlines() if len(line) > 160] == []
    assert "author:" in texts["roles/temper/meta/main.yml"]
    assert "\\x09" not in texts["roles/temper/tasks/main.yml"]
    assert "\\x09" in texts["roles/temper/vars/main.yml"]
    tasks = yaml.safe_load(texts["roles/temper/tasks/rule.yml"])
    steps = [step for task in tasks for part in ("block", "rescue") for step in task.get(part, [task])]
    runs = [step for step in steps if {"ansible.builtin.command", "ansible.builtin.shell"} & step.keys()]
    assert len(runs) >= 6
    assert [step["name"] for step in runs if "changed_when" not in step] == []
    assert not any("ignore_errors" in step for step in steps)


@pytest.mark.timeout(300)
def test_all_kinds_of_edits_once_and_what_makes_the_host_worse_is_put_back(tmp_path, play):
    """In one go: a play starts many processes."""
    (tmp_path / "root/etc").mkdir(parents=True)
    file, bad = tmp_path / "root/etc/motd", tmp_path / "root/bad"
    file.write_text("plain (.*)\n{{ gone }}\n")
    bad.write_text("good\n")
    motd, new = str(file), str(tmp_path / "root/etc/new")
    good = fix(
        PlaybookEdit("replace", motd, "plain (.*)", HOSTILE),
        PlaybookEdit("remove", motd, "{{ gone }}"),
        PlaybookEdit("insert", motd, new="0644", after=HOSTILE),
        PlaybookEdit("insert", motd, new="last"),
        PlaybookEdit("mode", motd, mode="0600"),
        PlaybookEdit("write", new, new=f'["{HOSTILE}"]\n', mode="0640"),
    )
    harm = harmful(bad, STIG.rules["V-257985"])
    (unheard,) = fix(PlaybookEdit("replace", str(bad), "good", "fine"), rule=STIG.rules["V-257992"]).fixes
    all_of_it = PortableFixes((*good.fixes, replace(unheard, services=("no-such-service",)), *harm.fixes), good.left)
    done = play(build_playbook_zip(all_of_it, HOSTILE, HOSTILE))
    assert "Not done, and left or put back as it was: V-257992, V-257985" in done.stdout, done.stdout + done.stderr
    assert "on this host, so nobody read what was written" in done.stdout
    assert done.returncode == 2
    assert bad.read_text() == "good\n"
    assert (file.read_text(), file.stat().st_mode & 0o777) == (f"{HOSTILE}\n0644\nlast\n", 0o600)
    made = tmp_path / "root/etc/new"
    assert (made.read_text(), made.stat().st_mode & 0o777) == (f'["{HOSTILE}"]\n', 0o640)
    assert not list(tmp_path.glob("**/*.temper-new"))
    again = play(build_playbook_zip(all_of_it, HOSTILE, HOSTILE), "--tags", "V-257984")
    assert " changed=0 " in again.stdout
    assert again.returncode == 0


@pytest.mark.timeout(300)
def test_what_was_done_is_taken_back_in_reverse_and_what_was_not_reached_is_left(tmp_path, play):
    said = tmp_path / "said"
    first, second = (
        ShellCommands("false", f"echo do {name} >>{said}", f"echo undo {name} >>{said}") for name in ("first", "second")
    )
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o775)
    (close,) = build_shell_commands(SetPermissions(path=str(closed), mode="0700"), ())
    look = ShellCommands("false", f"stat -c %a {closed} >>{said}", ":")
    done = fix(deeds=(first, second, close, look))
    done = replace(done, fixes=tuple(replace(one, services=("no-such-service",)) for one in done.fixes))
    (tmp_path / "folder").mkdir()
    unreached = ShellCommands("false", "true", f"echo undo unreached >>{said}")
    stopped = fix(
        PlaybookEdit("write", str(tmp_path / "folder"), new="", mode="0600"),
        deeds=(unreached,),
        rule=STIG.rules["V-257992"],
    )
    played = play(build_playbook_zip(PortableFixes((*done.fixes, *stopped.fixes), ()), "r", ""))
    assert "Not done, and left or put back as it was: V-257984, V-257992" in played.stdout, played.stdout
    assert said.read_text().splitlines() == ["do first", "do second", "700", "undo second", "undo first"]
    assert closed.stat().st_mode & 0o777 == 0o775
