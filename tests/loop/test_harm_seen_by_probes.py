"""What counts as harm: worse than before the run, and nothing that was broken already."""

import msgspec
import pytest

from app.events.event_field_types import Probe
from app.events.kinds import RebootUndone, SentryProbed
from app.loop.attempt_state import Attempt
from app.loop.harm_seen_by_probes import (
    SINCE,
    find_first_harm,
    find_first_harm_after_reboot,
    find_preexisting_failures,
    find_rollback_leftover,
    find_touched_probes_not_asked,
)
from app.loop.prompts import TurnContext, build_user_prompt
from app.loop.state import Item
from app.targets.health_probes import run_health_probes
from app.targets.probe_comparison import mark_worsened_probes
from tests.hostfiles import DictFiles
from tests.loop.playing import rule

FINE = (Probe("sshd", True, "starts"), Probe("pam", True, "sane"))
BROKEN = Probe("pam", False, "no auth line")


@pytest.mark.parametrize(
    ("before", "now", "harm"),
    [
        (FINE, FINE, None),
        (FINE, (FINE[0], BROKEN), "pam: no auth line"),
        ((FINE[0], BROKEN), (FINE[0], BROKEN), None),
        ((FINE[0], BROKEN), FINE, None),
        ((FINE[0], BROKEN), (Probe("sshd", False, "refuses"), BROKEN), "sshd: refuses"),
        (FINE[:1], (FINE[0], BROKEN), "pam: no auth line"),
        (FINE, FINE[:1], "pam: it can no longer be asked; before the run: sane"),
        ((FINE[0], BROKEN), FINE[:1], None),
    ],
)
def test_harm_is_what_is_worse_than_before_the_run(before, now, harm):
    assert find_first_harm(before, now) == harm


def test_what_failed_before_is_blamed_on_nobody():
    assert find_preexisting_failures((FINE[0], BROKEN), (FINE[0], BROKEN)) == ("pam",)
    assert find_preexisting_failures(FINE, (FINE[0], BROKEN)) == ()


UNASKED = Probe("password-change", True, "not asked: the host allows no mount namespace", asked=False)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/etc/pam.d/common-password", ("password-change",)),
        ("/etc/security/pwquality.conf", ("password-change",)),
        ("/etc/login.defs", ("password-change",)),
        ("/etc/shadow", ("password-change",)),
        ("/etc/ssh/sshd_config", ()),
        ("/etc/issue", ()),
    ],
)
def test_a_probe_that_was_not_asked_counts_for_the_paths_that_it_is_about(path, names):
    others = (Probe("audit", True, "not there", asked=False), Probe("pam", True, "sane", asked=True), *FINE)
    assert find_touched_probes_not_asked((*others, UNASKED), ("/etc/motd", path)) == names
    assert find_touched_probes_not_asked((*others, msgspec.structs.replace(UNASKED, asked=None)), (path,)) == ()


def test_a_probe_that_can_no_longer_be_asked_is_harm():
    asked = Probe("password-change", True, "root sets a password", asked=True)
    assert find_first_harm((asked,), (UNASKED,)) == f"password-change: it can no longer be asked: {UNASKED.detail}"
    assert find_first_harm((msgspec.structs.replace(asked, asked=None),), (UNASKED,)) is None
    assert find_first_harm((UNASKED,), (asked,)) is None


DEPLOY, ADMIN = "deploy: (root) /usr/bin/systemctl", "opsadmin: (ALL) ALL"
EASY = f"{ADMIN} without a password"


def rights(*holds, weak=(), ok=True):
    return (Probe("sudo-rights", ok, "sudo grants", holds, weak),)


@pytest.mark.parametrize(
    ("before", "now", "harm"),
    [
        (rights(ADMIN, DEPLOY), rights(DEPLOY, ADMIN), None),
        (rights(ADMIN, DEPLOY), rights(ADMIN), f"sudo-rights: no longer: {DEPLOY}"),
        (rights(ADMIN), rights(ADMIN, DEPLOY), f"sudo-rights: new: {DEPLOY}"),
        (rights(ADMIN), rights(ADMIN, weak=(EASY,)), f"sudo-rights: new: {EASY}"),
        (rights(ADMIN, weak=(EASY,)), rights(ADMIN), None),
        (rights(ADMIN, DEPLOY, ok=False), rights(ADMIN, ok=False), f"sudo-rights: no longer: {DEPLOY}"),
        (FINE, (*FINE, *rights(ADMIN, ok=False)), None),
        (rights(ADMIN), rights(), f"sudo-rights: no longer: {ADMIN}"),
    ],
)
def test_what_a_probe_holds_may_be_neither_lost_nor_added(before, now, harm):
    assert find_first_harm(before, now) == harm


def test_what_a_boot_was_denied_is_no_harm_of_the_changes_before_it():
    """The kernel's audit may have been off at the boot before: what that was denied, nobody knows."""
    none = Probe("selinux-denials", True, "SELinux denied since the boot: nothing", asked=True)
    read = "denied systemd-tmpfile: read on dir lost_found_t"
    denied = Probe("selinux-denials", False, f"new: {read}", weak=(read,), asked=True)
    login = Probe("agent-login", True, "let in")
    assert find_first_harm((login, none), (login, denied)) is not None
    assert find_first_harm_after_reboot((login, none), (login, denied)) is None
    assert find_first_harm_after_reboot((login,), (login, denied)) is None
    out = Probe("agent-login", False, "refused")
    assert find_first_harm_after_reboot((login, none), (out, denied)) == "agent-login: refused"
    undone = RebootUndone(
        host="web", snapshot="", rules=(), paths=(), differences=(), probes=(login, denied), seconds=1
    )
    assert find_rollback_leftover("the rollback", undone, (login, none)) is None
    assert (
        find_rollback_leftover("the rollback", msgspec.structs.replace(undone, probes=(out,)), (login, none))
        is not None
    )


def test_what_was_lost_shows_in_the_probe_itself():
    (marked,) = mark_worsened_probes(rights(ADMIN, DEPLOY), rights(ADMIN))
    assert (marked.ok, marked.detail) == (False, f"no longer: {DEPLOY}")
    assert mark_worsened_probes(rights(ADMIN), rights(ADMIN)) == rights(ADMIN)
    assert find_preexisting_failures(rights(ADMIN, DEPLOY, ok=False), rights(ADMIN, ok=False)) == ()


def test_every_probe_that_an_earlier_release_never_asked_is_known_as_such():
    """A run that began under it compares only what both sides have."""
    asked = {probe.name for probe in run_health_probes(DictFiles({}), 0)}
    first = {"agent-login", "agent-sudo", "sshd-config", "administrator", "backup-login"}
    first |= {"mission-config", "mission-inbox", "sudoers", "pam", "accounts"}
    assert asked - first <= SINCE
    assert not first & SINCE


def test_the_sentry_is_told_which_failures_are_none_of_the_changes():
    at = {"rule": "A", "attempt": 1}
    probed = SentryProbed(**at, probes=(Probe("sshd", False, "refuses"), BROKEN), drift=(), log=(), ailing=("pam",))
    told = build_user_prompt(
        "triage", TurnContext(Item("A"), Attempt(1, 0.0, probed=probed), rule("A"), "h", DictFiles({}), {}), 4000
    )
    assert "\nFAILED sshd: refuses\nFAILED-BEFORE pam: no auth line\n" in told
    assert "marked FAILED-BEFORE failed before the run began" in told
