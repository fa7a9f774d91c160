"""What is no file, on a real Debian: each change as dpkg, findmnt and chage see it, and each undone to the letter."""

import pytest

from app.errors import ActionFailed
from app.loop.harm_seen_by_probes import find_first_harm
from app.resources.account import SetAgeing
from app.resources.integrity import BuildIntegrityDatabase
from app.resources.mount import AddMountOptions
from app.resources.package import InstallPackage, RemovePackage
from app.resources.unit import SetUnit
from tests.hosts.conftest import inside

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(600)]

PACKAGES = "dpkg-query -W -f '${binary:Package} ${db:Status-Abbrev} ${Version}\\n'"
ALL_OF_IT = (
    "cd /; { find etc var/lib/pam ! -name '*temper*' -printf '%p %y %m %u %g %l\\n'; "
    "find etc var/lib/pam -type f ! -name '*temper*' -exec sha256sum {} +; } | sort | sha256sum; "
    f"{PACKAGES} | sha256sum; cut -d ' ' -f 5,6 /proc/self/mountinfo | sha256sum; apt-mark showauto | sha256sum"
)
TRIAL = r"""
set -e
cd "$(mktemp -d)"
mkdir -p p/DEBIAN p/etc/trial p/usr/share/trial
printf '%s\n' 'Package: temper-trial' 'Version: 1.0' 'Architecture: all' 'Maintainer: n <n@example.org>' \
  'Description: t' >p/DEBIAN/control
echo /etc/trial/conf >p/DEBIAN/conffiles
echo shipped >p/etc/trial/conf
echo data >p/usr/share/trial/data
ln -s data p/usr/share/trial/link
printf '#!/bin/sh\nmkdir -p /etc/trial.made; echo by-hand >/etc/trial.made/it\n' >p/DEBIAN/postinst
printf '#!/bin/sh\nrm -rf /etc/trial.made\n' >p/DEBIAN/postrm
chmod 755 p/DEBIAN/postinst p/DEBIAN/postrm
dpkg-deb -b p t.deb >/dev/null
dpkg -i t.deb >/dev/null
echo changed-by-the-owner >/etc/trial/conf
"""


AIDE = r"""
mkdir -p /etc/aide /var/lib/aide
printf '%s\n' database_in=file:/var/lib/aide/aide.db database_out=file:/var/lib/aide/aide.db.new '/etc p+u+g+sha256' \
  >/etc/aide/aide.conf
"""


def package(action):
    return frozenset({f"package:{action.package}"})


def put_back(opened, machine, journal, was):
    undone = opened.roll_back(journal)
    assert undone.differences == ()
    assert inside(machine, ALL_OF_IT) == was
    assert opened.describe_drift(()) == ()


def test_a_package_comes_with_what_it_needs_and_goes_without_a_trace(opened, machine):
    opened.prepare()
    was = inside(machine, ALL_OF_IT)
    (offer,) = opened.list_resources_with_possible_actions(
        [InstallPackage(package=name) for name in ("libpam-pwquality", "no-such-package")]
    )
    (action,) = offer.actions
    assert action == InstallPackage(package="libpam-pwquality")
    shown = opened.assess_actions([action], package(action))
    assert "resource package:libpam-pwquality\n-absent\n+installed 1.4.5" in shown.diff
    assert {"package:libpwquality1", "package:libcrack2"} <= {one.name for one in shown.foreseen.states}
    assert shown.refusals == ()
    done = opened.apply("comes", [action], package(action))
    assert inside(machine, "dpkg-query -W -f '${db:Status-Status}' libpam-pwquality") == "installed"
    assert "/etc/pam.d/common-password" in {change.path for change in done.changes}
    assert opened.describe_drift(done.changes) == ()
    assert [probe.name for probe in opened.check_health() if not probe.ok] == []
    put_back(opened, machine, "comes", was)


def test_a_package_that_went_is_put_back_with_its_owners_configuration(opened, machine):
    inside(machine, TRIAL)
    opened.prepare()
    was = inside(machine, ALL_OF_IT)
    action = RemovePackage(package="temper-trial")
    done = opened.apply("goes", [action], package(action))
    assert inside(machine, "ls /usr/share/trial 2>&1 | grep -c 'No such file'") == "1"
    assert {change.path for change in done.changes} >= {"package:temper-trial", "/etc/trial.made/it"}
    put_back(opened, machine, "goes", was)
    assert inside(machine, "cat /etc/trial/conf /usr/share/trial/link /etc/trial.made/it").split() == [
        "changed-by-the-owner",
        "data",
        "by-hand",
    ]


def test_what_people_and_probes_need_never_goes(opened):
    opened.prepare()
    clauses = {}
    for name in ("openssh-server", "sudo", "rsyslog", "libpam-runtime", "openscap-scanner", "login"):
        action = RemovePackage(package=name)
        (refusal,) = opened.assess_actions([action], package(action)).refusals
        clauses[name] = refusal.clause
        with pytest.raises(ActionFailed):
            opened.apply(f"never-{name}", [action], package(action))
    assert set(clauses.values()) <= {"protected identity", "lockout", "evidence tampering", "not understood"}
    assert opened.list_pending() == []


def test_a_mount_becomes_stricter_in_the_kernel_and_in_fstab_and_as_it_was_again(opened, machine):
    shm = AddMountOptions(mount="/dev/shm", options=("nodev",))
    assert opened.assess_actions([shm], frozenset({"mount:/dev/shm"})).refusals == ()
    inside(machine, "echo 'tmpfs /dev/shm tmpfs defaults,nosuid 0 0' >>/etc/fstab")
    opened.prepare()
    was, fine = inside(machine, ALL_OF_IT), opened.check_health()
    action = AddMountOptions(mount="/dev/shm", options=("nodev", "nosuid", "noexec"))
    opened.apply("mount", [action], frozenset({"mount:/dev/shm"}))
    options = inside(machine, "findmnt -n -o OPTIONS --mountpoint /dev/shm").split(",")
    assert {"nodev", "nosuid", "noexec"} <= set(options)
    assert "tmpfs /dev/shm tmpfs defaults,nosuid,nodev,noexec 0 0" in inside(machine, "cat /etc/fstab")
    assert find_first_harm(fine, opened.check_health()) is None
    assert "mounts" in opened.check_in_force().checked_programs
    put_back(opened, machine, "mount", was)
    (refusal,) = opened.assess_actions(
        [AddMountOptions(mount="/proc", options=("nodev",))], frozenset({"mount:/proc"})
    ).refusals
    assert refusal.clause == "not understood"


def test_a_password_ages_as_chage_says_and_whoever_logs_in_by_a_key_is_left_alone(opened, machine):
    inside(machine, "touch /etc/shadow- && chmod 0 /etc/shadow- && chown 0:0 /etc/shadow-")
    opened.prepare()
    was = inside(machine, ALL_OF_IT)
    action = SetAgeing(account="opsadmin", setting="max", days=60)
    opened.apply("age", [action], frozenset({"account:opsadmin"}))
    assert "Maximum number of days between password change\t\t: 60" in inside(machine, "chage -l opsadmin")
    assert inside(machine, "stat -c '%a %u:%g' /etc/shadow-").strip() == "0 0:0", "chage itself takes /etc/shadow's"
    put_back(opened, machine, "age", was)
    for name in ("root", "temper"):
        refused = opened.assess_actions(
            [SetAgeing(account=name, setting="max", days=60)], frozenset({f"account:{name}"})
        ).refusals
        assert [one.clause for one in refused] == ["lockout"]
    inside(machine, "chage -d 1 opsadmin")
    (refusal,) = opened.assess_actions([action], frozenset({"account:opsadmin"})).refusals
    assert (refusal.clause, "would expire at once" in refusal.reason) == ("lockout", True)


def test_aide_has_a_database_by_its_own_word_and_none_again(opened, machine):
    inside(machine, "apt-get -q -y install --no-install-recommends aide >/tmp/log 2>&1")
    inside(machine, AIDE)
    opened.prepare()
    was, action, allowed = (
        inside(machine, ALL_OF_IT),
        BuildIntegrityDatabase(tool="aide"),
        frozenset({"integrity:aide"}),
    )
    (offer,) = opened.list_resources_with_possible_actions([action])
    assert offer.actions == (action,)
    check = "aide --config /etc/aide/aide.conf --check"
    assert "No such file or directory" in inside(machine, f"{check} 2>&1 || :")
    opened.apply("database", [action], allowed)
    inside(machine, "echo 1 >/etc/trial-file")
    assert "Added entries:\t\t1" in inside(machine, f"{check} || :")
    inside(machine, "rm /etc/trial-file")
    assert [one.clause for one in opened.assess_actions([action], allowed).refusals] == ["weakening"]
    put_back(opened, machine, "database", was)
    assert inside(machine, "ls /var/lib/aide") == ""


def test_a_unit_is_left_out_of_the_next_boot_as_systemctl_says_and_is_in_it_again(opened, machine):
    """systemd is installed and does not run in a machine like this: nothing can be started or stopped there."""
    inside(machine, "apt-get -q -y install systemd >/tmp/log 2>&1 || { tail -n 3 /tmp/log; false; }")
    opened.prepare()
    was, fine, allowed = inside(machine, ALL_OF_IT), opened.check_health(), frozenset({"unit:fstrim.timer"})
    (offer,) = opened.list_resources_with_possible_actions(
        [SetUnit(unit=name, to=to) for name in ("fstrim.timer", "no-such.service") for to in ("mask", "disable")]
    )
    assert offer.actions == (SetUnit(unit="fstrim.timer", to="mask"), SetUnit(unit="fstrim.timer", to="disable"))
    for action, word in zip(offer.actions, ("masked", "disabled"), strict=True):
        done = opened.apply(f"unit-{word}", [action], allowed)
        assert inside(machine, "systemctl is-enabled fstrim.timer || :") == word
        assert opened.describe_drift(done.changes) == ()
        assert find_first_harm(fine, opened.check_health()) is None
        put_back(opened, machine, f"unit-{word}", was)
        assert inside(machine, "systemctl is-enabled fstrim.timer") == "enabled"
    (refusal,) = opened.assess_actions([SetUnit(unit="fstrim.timer", to="stop")], allowed).refusals
    assert "systemd does not run there" in refusal.reason
    assert [
        one.clause
        for one in opened.assess_actions(
            [SetUnit(unit="ssh.service", to="mask")], frozenset({"unit:ssh.service"})
        ).refusals
    ] == ["protected identity"]


def test_a_host_left_in_mid_install_takes_it_back_by_itself(opened, machine):
    """As if the line and Temper were both gone: the journal on the host is enough."""
    opened.prepare()
    was = inside(machine, ALL_OF_IT)
    action = InstallPackage(package="libpam-pwquality")
    opened.apply("left", [action], package(action))
    inside(machine, "rm /var/lib/temper/journal/left/touched; sh /var/lib/temper/journal/left/restore left boot")
    assert inside(machine, ALL_OF_IT) == was
    assert inside(machine, "ls /var/lib/temper/journal/left | grep -cE '^(undone|state|keep)$'") == "1"
    undone = opened.roll_back("left")
    assert undone.differences == ()
    assert opened.list_pending() == []
