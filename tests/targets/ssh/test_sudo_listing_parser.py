"""sudo's own listing of an account's rights."""

import pytest

from app.targets.ssh.sudo_listing_parser import parse_password_needed_by_sudo_right

HEAD = """Matching Defaults entries for deploy on web:
    env_reset, mail_badpass, secure_path=/usr/sbin\\:/usr/bin, use_pty

User deploy may run the following commands on web:
"""
BOUND = """
Runas and Command-specific defaults for deploy:
    Defaults>root !authenticate    Defaults!/usr/bin/id noexec, !authenticate
"""
TRUSTED = HEAD.replace("use_pty", "use_pty, !authenticate")


def entry(*commands, users="ALL", groups="", options=""):
    lines = ["Sudoers entry: /etc/sudoers", f"    RunAsUsers: {users}"]
    lines += [f"    RunAsGroups: {groups}"] if groups else []
    lines += [f"    Options: {options}"] if options else []
    return "\n".join(["", *lines, "    Commands:", *(f"\t{command}" for command in commands), ""])


@pytest.mark.parametrize(
    ("listing", "rights"),
    [
        (HEAD + entry("ALL"), {"(ALL) ALL": True}),
        (HEAD + entry("ALL", groups="ALL"), {"(ALL:ALL) ALL": True}),
        (HEAD + entry("ALL", options="!authenticate"), {"(ALL) ALL": False}),
        (HEAD + entry("/bin/a", "/bin/b -x", users="root"), {"(root) /bin/a": True, "(root) /bin/b -x": True}),
        (HEAD + entry("ALL", options="!authenticate") + entry("ALL"), {"(ALL) ALL": True}),
        (HEAD + entry("ALL") + entry("ALL", options="!authenticate"), {"(ALL) ALL": False}),
        (HEAD + entry("ALL", options="setenv, !authenticate"), {"(ALL) ALL": False}),
        (TRUSTED + entry("ALL"), {"(ALL) ALL": False}),
        (TRUSTED + entry("ALL", options="authenticate"), {"(ALL) ALL": True}),
        (TRUSTED.replace("!authenticate", "!authenticate, authenticate") + entry("ALL"), {"(ALL) ALL": True}),
        (TRUSTED.replace("!authenticate", "authenticate, !authenticate") + entry("ALL"), {"(ALL) ALL": False}),
        (HEAD.replace("use_pty\n", f"use_pty\n{BOUND}") + entry("ALL"), {"(ALL) ALL": True}),
        (TRUSTED.replace("!authenticate\n", f"!authenticate\n{BOUND}") + entry("ALL"), {"(ALL) ALL": False}),
        (HEAD + entry("ALL") + entry("!/bin/su"), {"(ALL) ALL": True, "(ALL) !/bin/su": True}),
        ("User nobody is not allowed to run sudo on web.", {}),
        ("User deploy may not run sudo on web.", {}),
        ("sudo: unknown user deploy", None),
        ("", None),
    ],
)
def test_each_right_is_read_with_whether_a_password_is_asked(listing, rights):
    assert parse_password_needed_by_sudo_right(listing.split("\n")) == rights
