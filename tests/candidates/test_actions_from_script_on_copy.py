"""A rule's own script is run on a copy of a real host over SSH, and comes back as typed actions."""

import subprocess

import pytest

from app.candidates.actions_from_script_on_copy import try_script_on_copy_and_translate
from app.candidates.scratch_files_to_actions import Undecidable
from app.events.event_field_types import WriteFile
from app.resources.account import SetAgeing
from app.resources.permission import SetPermissions
from tests.targets.ssh.conftest import host, opened  # noqa: F401 (fixtures)

LAID = """
mkdir -p /etc/cron.d /opt/tools; chmod 0755 /etc/cron.d
echo x >/opt/tools/x; chmod 0775 /opt/tools/x; ln -s x /opt/tools/y
"""


@pytest.fixture
def try_script(host, opened):  # noqa: F811
    laid = {"SSH_ORIGINAL_COMMAND": f"set -e\n{LAID}", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    subprocess.run([host.folder / "enter"], env=laid, check=True, stdin=subprocess.DEVNULL)
    target = opened()
    target.prepare()
    was = host.everything()

    def try_one(text):
        try:
            return try_script_on_copy_and_translate("r", text, target)
        finally:
            assert host.everything() == was

    return try_one


def test_what_it_does_to_files_folders_and_ages_becomes_typed_actions(try_script):
    assert try_script(
        "echo kernel.kptr_restrict=1 >>/etc/sysctl.conf\n"
        "chmod 0700 /etc/cron.d\n"
        "find /opt/tools -name x -exec chmod g-w {} +\n"
        "sed -i 's/^root:\\([^:]*\\):\\([0-9]*\\):0:99999/root:\\1:\\2:1:99999/' /etc/shadow\n"
    ) == (
        WriteFile(path="/etc/sysctl.conf", content="kernel.kptr_restrict=1\n"),
        SetAgeing(account="root", setting="min", days=1),
        SetPermissions(path="/etc/cron.d", mode="0700"),
        SetPermissions(path="/opt/tools/x", mode="0755"),
    )


def test_what_stays_as_it_is_and_what_is_a_link_gives_no_action(try_script):
    assert try_script("chmod 0755 /etc/cron.d\nchmod 0700 /opt/tools/y\nchown root:root /etc/cron.d\n") == ()


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("chmod -R go-w /etc/cron.d", "in a way that is not followed"),
        ("chmod --reference=/etc /etc/cron.d", "in a way that is not followed"),
        ("sed -i 's/^root:[^:]*/root:x/' /etc/shadow", "changes accounts or passwords"),
        ("sed -i 's/^\\(root:[^:]*:[0-9]*\\):0:99999/\\1:0:/' /etc/shadow", "clears an account's ageing"),
        ("echo 'guest:!:1:0:99999:7:::' >>/etc/shadow", "adds or removes accounts"),
        ("echo 'guest::0:0::/:/bin/sh' >>/etc/passwd", "changes accounts"),
        ("rm /etc/passwd", "took /etc/passwd away"),
        ("x" * 20_000, "more than 16384 characters"),
    ],
)
def test_what_no_typed_action_does_is_said(try_script, script, why):
    with pytest.raises(Undecidable, match=why):
        try_script(script)
