"""Who comes in with a password, by our reading of the stacks."""

import pytest

from app.loop.harm_seen_by_probes import find_first_harm
from app.syntax.host_files_protocol import FileState
from app.targets.health_probes import run_health_probes
from app.text.redaction import redact_secrets
from tests.targets.hosts import TODAY, host, text_of

SHADOW, STACK = "/etc/shadow", "/etc/pam.d/system-auth"
COMMON = {
    "/etc/pam.d/system-auth": None,
    "/etc/pam.d/password-auth": None,
    "/etc/pam.d/common-auth": (
        "auth [success=1 default=ignore] pam_unix.so\nauth requisite pam_deny.so\nauth required pam_permit.so\n"
    ),
    "/etc/pam.d/common-account": "account required pam_unix.so\n",
    **{
        f"/etc/pam.d/{service}": "@include common-auth\n@include common-account\n"
        for service in ("sshd", "sudo", "login", "su")
    },
}


def asked(changes, name="password-login"):
    return next(probe for probe in run_health_probes(host(changes), TODAY) if probe.name == name)


def test_who_has_a_password_and_a_shell_is_named():
    found = asked({})
    assert found.ok
    assert found.holds == tuple(
        f"{who} by password through {service}" for service in ("sshd", "sudo") for who in ("root", "opsadmin")
    )
    console = asked({}, "console-login").detail
    assert console == redact_secrets(console) == "login and su let root, opsadmin in by password"


def test_debians_stacks_are_gone_through_with_their_jumps():
    assert asked(COMMON).ok
    jumped = COMMON["/etc/pam.d/common-auth"].replace("success=1", "success=2")
    assert not asked(COMMON | {"/etc/pam.d/common-auth": jumped}).ok
    assert not asked(COMMON | {"/etc/pam.d/common-account": "account requisite pam_deny.so\n"}).ok


@pytest.mark.parametrize(
    ("old", "new"),
    [("opsadmin:$6$x:", "opsadmin:!$6$x:"), ("opsadmin:$6$x:1:0:99999:7:::", "opsadmin:$6$x:1:0:99999:7::19999:")],
)
def test_an_account_that_no_longer_comes_in_is_harm(old, new):
    shut = {SHADOW: text_of(SHADOW).replace(old, new)}
    now = [one for one in run_health_probes(host(shut), TODAY) if one.name == "password-login"]
    assert now[0].ok
    assert find_first_harm([asked({})], now).startswith("password-login: no longer: opsadmin by password through sshd")


def test_nologin_keeps_all_but_root_out():
    now = asked({"/etc/nologin": "closed\n"})
    assert now.holds == ("root by password through sshd", "root by password through sudo")


def test_where_nobody_has_a_password_nothing_can_be_lost():
    bare = text_of(SHADOW).replace("$6$x", "!!")
    assert "nobody has a password" in asked({SHADOW: bare}).detail
    assert asked({SHADOW: bare}).holds == ()


def test_an_empty_password_is_none_that_a_rule_could_take_away():
    bare = {SHADOW: text_of(SHADOW).replace("opsadmin:$6$x", "opsadmin:")}
    assert not any("opsadmin" in one for one in asked(bare).holds)


OPEN, CLOSED = FileState(b"umask 077\n", 0o644, "root:root"), FileState(b"umask 077\n", 0o600, "root:root")


def ask_login_shells(changes):
    return [probe for probe in run_health_probes(host(changes), TODAY) if probe.name == "login-shells"]


@pytest.mark.parametrize("path", ["/etc/bash.bashrc", "/etc/bashrc", "/etc/profile", "/etc/login.defs"])
def test_what_a_login_needs_is_open_to_all_who_log_in(path):
    (found,) = ask_login_shells({path: CLOSED})
    assert not found.ok
    assert path in found.detail
    assert find_first_harm(ask_login_shells({path: OPEN}), [found]) == f"login-shells: {found.detail}"


def test_a_folder_on_the_way_counts():
    assert not ask_login_shells({"/etc/profile": OPEN, "/etc": FileState(b"", 0o700, "root:root")})[0].ok


def test_what_a_shell_leaves_out_may_be_closed_but_not_become_so():
    path = "/etc/profile.d/site.sh"
    assert ask_login_shells({path: CLOSED})[0].ok
    assert find_first_harm(ask_login_shells({path: CLOSED}), ask_login_shells({path: CLOSED})) is None
    assert find_first_harm(ask_login_shells({path: CLOSED}), ask_login_shells({path: OPEN})) is None
    assert find_first_harm(ask_login_shells({path: OPEN}), ask_login_shells({path: CLOSED})).startswith(
        "login-shells: new: /etc/profile.d/site.sh"
    )
    assert find_first_harm(ask_login_shells({}), ask_login_shells({path: OPEN})) is None
