"""Tried with ansible-core itself."""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.evidence.playbook.edits import Edit
from app.evidence.playbook.role import playbook, playbook_of
from tests.evidence.playbook.fresh import HOSTILE, fix, fresh_host, harmful, tree, words

RULES = ("V-257981", "V-257934")
"""Written whole, inserted, a mode."""
ANSIBLE = Path(sys.executable).with_name("ansible-playbook")


@pytest.fixture
def play(tmp_path):
    def plays(content, root, *arguments):
        zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path / "role")
        given = {"temper_root": root, "temper_kept": tmp_path / "kept", "ansible_python_interpreter": sys.executable}
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


@pytest.mark.timeout(300)
def test_a_fresh_host_passes_what_the_run_passed_and_a_second_time_changes_nothing(tmp_path, case, play):
    target = fresh_host(tmp_path / "hosts")
    root = tmp_path / "hosts/fixture/root"
    assert set(words(target, RULES).values()) == {"fail"}
    done = play(playbook(case), root, "--tags", ",".join(RULES))
    assert done.returncode == 0, done.stdout + done.stderr
    assert words(target, RULES) == dict.fromkeys(RULES, "pass")
    now = tree(root)
    again = play(playbook(case), root, "--tags", ",".join(RULES))
    assert " changed=0 " in again.stdout
    assert tree(root) == now


@pytest.mark.timeout(300)
def test_hostile_text_is_text(tmp_path, play):
    (tmp_path / "root/etc").mkdir(parents=True)
    file = tmp_path / "root/etc/motd"
    file.write_text("plain (.*)\n{{ gone }}\n")
    edits = (
        Edit("replace", "/etc/motd", "plain (.*)", HOSTILE),
        Edit("remove", "/etc/motd", "{{ gone }}"),
        Edit("write", "/etc/new", new=f'["{HOSTILE}"]\n', mode="0600"),
    )
    done = play(playbook_of(fix(*edits), HOSTILE, HOSTILE), tmp_path / "root")
    assert done.returncode == 0, done.stdout + done.stderr
    assert file.read_text() == f"{HOSTILE}\n"
    assert (tmp_path / "root/etc/new").read_text() == f'["{HOSTILE}"]\n'


@pytest.mark.timeout(300)
def test_what_makes_the_host_worse_is_put_back(tmp_path, play):
    file = tmp_path / "file"
    file.write_text("good\n")
    done = play(playbook_of(harmful(file), "r", "").replace(b'[ "$(id -u)" = 0 ]', b"! grep -q bad fil*"), "")
    assert file.read_text() == "good\n"
    assert done.returncode == 2
