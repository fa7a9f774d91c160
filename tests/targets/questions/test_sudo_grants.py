"""Rights under sudo, lost or gained, by our reading of sudoers."""

import pytest

from app.loop.harm_seen_by_probes import find_first_harm
from app.targets.health_probes import run_health_probes
from tests.targets.hosts import TODAY, host, text_of

MAIN, SITE = "/etc/sudoers", "/etc/sudoers.d/site"
ALIASED = "Cmnd_Alias WORK = /usr/bin/one, /usr/bin/two\nopsadmin ALL=(root) WORK\n"
EASY = "deploy ALL=(ALL) NOPASSWD: ALL\n"
OVER = f"{EASY}deploy ALL=(ALL) PASSWD: ALL\n"


def rights(site="", main=None):
    changes = {SITE: site} | ({MAIN: main} if main else {})
    return [probe for probe in run_health_probes(host(changes), TODAY) if probe.name == "sudo-rights"]


def test_each_account_is_told_with_what_it_may():
    (found,) = rights("deploy ALL=(root) NOPASSWD: /usr/bin/systemctl restart mission\n")
    assert found.ok
    assert found.holds == (
        "opsadmin: (ALL) ALL",
        "temper: (ALL) ALL",
        "deploy: (root) /usr/bin/systemctl restart mission",
    )
    assert found.weak == (
        "temper: (ALL) ALL without a password",
        "deploy: (root) /usr/bin/systemctl restart mission without a password",
    )


@pytest.mark.parametrize(
    ("before", "now", "harm"),
    [
        ("deploy ALL=(root) NOPASSWD: /usr/bin/x\n", "", "no longer: deploy: (root) /usr/bin/x"),
        # Nobody can type its password, so to be asked for one is to lose the right.
        (
            "deploy ALL=(root) NOPASSWD: /usr/bin/x\n",
            "deploy ALL=(root) /usr/bin/x\n",
            "no longer: deploy: (root) /usr",
        ),
        ("", "deploy ALL=(root) NOPASSWD: /usr/bin/x\n", "new: deploy: (root) /usr/bin/x"),
        (OVER, EASY, "new: deploy: (ALL) ALL"),
        ("", "opsadmin ALL=(ALL) NOPASSWD: ALL\n", "new: opsadmin: (ALL) ALL without a password"),
        ("", "Defaults:opsadmin !authenticate\n", "new: opsadmin: (ALL) ALL without a password"),
        (ALIASED, ALIASED.replace(", /usr/bin/two", ""), "no longer: opsadmin: (root) /usr/bin/two"),
        (ALIASED, ALIASED.replace("two", "two, /usr/bin/sh"), "new: opsadmin: (root) /usr/bin/sh"),
        ("opsadmin ALL=(ALL) !/bin/su\n", "", "no longer: opsadmin: (ALL) ALL; (ALL) !/bin/su"),
        ("opsadmin ALL=(ALL) !/bin/su\n", "opsadmin ALL=(ALL) !/bin/su\n%wheel ALL=(ALL) ALL\n", "no longer: opsadmin"),
        # What a rule asks for: who has a password is asked for it from now on.
        ("Defaults:opsadmin !authenticate\n", "", None),
        ("opsadmin ALL=(ALL) NOPASSWD: ALL\n", "", None),
        (ALIASED, ALIASED + "# a comment\n", None),
    ],
)
def test_a_right_lost_or_gained_is_harm(before, now, harm):
    found = find_first_harm(rights(before), rights(now))
    assert found is None if harm is None else found.startswith(f"sudo-rights: {harm}")


def test_a_host_that_grants_nothing_says_so():
    (found,) = rights(main="root ALL=(ALL) ALL\n")
    assert (found.ok, found.holds) == (True, ())
    assert "nothing to anybody" in found.detail
    assert find_first_harm([found], rights(main=text_of(MAIN))).startswith("sudo-rights: new: opsadmin: (ALL) ALL")
