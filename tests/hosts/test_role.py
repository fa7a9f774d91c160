"""What a run exports, on a Debian that Temper never saw: by ansible-core over SSH, and OpenSCAP on that host judges."""

import asyncio
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.cli.debian_demo import RULES, SKILL
from app.targets.rootfs.base_image_definition import PACKAGES, BaseImage
from app.targets.rootfs.rootfs_machine import Rootfs
from tests.hosts.conftest import KEPT, inside
from tests.hosts.over_ssh import OverSsh
from tests.hosts.test_resources import ALL_OF_IT

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(900)]

ANSIBLE = Path(sys.executable).with_name("ansible-playbook")
WITH_PYTHON = BaseImage(packages=(*PACKAGES, "python3"))
"""All that Ansible asks of a host beside SSH."""
CONTENT = "usr/share/xml/scap/ssg/content/ssg-debian12-ds.xml"
PREFIX = "xccdf_org.ssgproject.content_"
LEFT_OUT = {"sshd_disable_root_login", "accounts_password_pam_unix_rounds_password_auth"}
WANTED = set(RULES) - LEFT_OUT
HALF_WRITTEN = "find / -xdev -name '*.temper-new' | wc -l"
SOCKETS = "ls -l /proc/$(cat /run/sshd.pid)/fd | grep -o 'socket:.*'"
"""A sshd that read its files again listens by others."""


@pytest.fixture(autouse=True)
def nobodys_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def fresh():
    one = Rootfs(KEPT, f"fresh-{os.getpid()}")
    try:
        one.build(WITH_PYTHON)
        one.start()
        yield one
    finally:
        one.discard()


def verdicts(machine):
    """By what oscap itself prints."""
    rules = [word for rule in sorted(WANTED) for word in ("--rule", f"{PREFIX}rule_{rule}")]
    profile = f"{PREFIX}profile_{SKILL.rpartition(':')[2]}"
    asked = ["oscap", "xccdf", "eval", "--progress", "--profile", profile, *rules, f"/{CONTENT}"]
    ran = asyncio.run(OverSsh(machine.get_access()).run(asked, 120))
    assert ran.code in (0, 2), ran.stderr
    return dict(re.findall(rf"^{PREFIX}rule_(\w+):(\w+)$", ran.stdout.decode(), re.MULTILINE))


@pytest.fixture
def exported(site, machine, tmp_path):
    assert site.temper("scap", "add", str(machine.base_folder / CONTENT), data=False).returncode == 0
    words = ("--host", "deb", "--mode", "auto", "--speed", "0", "--skill", SKILL, "--rules", ",".join(RULES))
    done = site.temper("run", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    events = site.events()
    assert {one["rule"] for one in events if one["kind"] == "item.passed"} == WANTED
    made = site.temper("evidence", events[0]["run"], "--format", "ansible", "--out", str(tmp_path / "playbook.zip"))
    assert made.returncode == 0, made.stderr
    zipfile.ZipFile(tmp_path / "playbook.zip").extractall(tmp_path / "role")
    return tmp_path / "role"


def play(role, machine):
    """As the agent's account, who becomes root by sudo."""
    at, folder = machine.get_access(), role.parent
    (folder / "inventory.ini").write_text(
        f"fresh ansible_host=127.0.0.1 ansible_port={at.port} ansible_user={at.account} "
        f"ansible_ssh_private_key_file={at.key} ansible_python_interpreter=/usr/bin/python3\n"
    )
    options = f"-F none -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile={at.known_hosts}"
    environment = {
        "ANSIBLE_HOME": str(folder / "ansible"),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(folder / "cp"),
        "ANSIBLE_SSH_COMMON_ARGS": options,
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        [str(ANSIBLE), "-i", str(folder / "inventory.ini"), "playbook.yml"],
        cwd=role,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    return dict(re.findall(r"(\w+)=(\d+)", done.stdout.rpartition("PLAY RECAP")[2]))


def test_a_fresh_debian_passes_what_the_run_passed_and_a_second_time_nothing_changes(exported, fresh):
    assert verdicts(fresh) == dict.fromkeys(WANTED, "fail")
    sockets = inside(fresh, SOCKETS)
    first = play(exported, fresh)
    assert int(first["changed"]) >= len(WANTED)
    assert (first["failed"], first["rescued"]) == ("0", "0")
    assert verdicts(fresh) == dict.fromkeys(WANTED, "pass")
    assert inside(fresh, SOCKETS) != sockets, "sshd did not read its files again"
    assert inside(fresh, HALF_WRITTEN) == "0"
    was = inside(fresh, ALL_OF_IT)
    again = play(exported, fresh)
    assert (again["changed"], again["failed"], again["rescued"]) == ("0", "0", "0")
    assert inside(fresh, ALL_OF_IT) == was
