"""Packages by dnf and rpm, on a host that has an rpm database: foreseen, done, and taken back without a repository."""

import shutil
import subprocess

import pytest

from app.errors import ActionFailed
from app.resources.package import InstallPackage, RemovePackage
from tests.resources.test_conformance import AWK
from tests.targets.ssh.conftest import host, opened  # noqa: F401 (fixtures)

LONG = "temper-a-package-whose-name-is-longer-than-any-column-of-the-table-that-dnf-prints"
PREPARE = rf"""
mkdir -p /etc/rpm /etc/yum.repos.d /etc/dnf/plugins /etc/dnf/protected.d
mkdir -p /var/lib/rpm /var/cache/dnf /var/log /srv/rpms /srv/top
printf '%%_dbpath /var/lib/rpm\n' >/etc/rpm/macros
printf '[main]\ngpgcheck=0\nplugins=1\n' >/etc/dnf/dnf.conf
printf '[trial]\nname=t\nbaseurl=file:///srv/rpms\ngpgkey=file:///etc/nokey\n' >/etc/yum.repos.d/trial.repo
printf '[main]\nenabled=1\nlocklist=/etc/dnf/plugins/versionlock.list\n' >/etc/dnf/plugins/versionlock.conf
: >/etc/dnf/plugins/versionlock.list
printf 'ID=el9-trial\nVERSION_ID=9.6\nPLATFORM_ID="platform:el9"\n' >/etc/os-release
cat >/srv/top/all.spec <<'SPEC'
Name: temper-all
Version: 1.0
Release: 1.el9
Summary: t
License: t
BuildArch: noarch
%description
t
%package -n temper-trial
Summary: t
Requires: {LONG}
%description -n temper-trial
t
%package -n {LONG}
Summary: t
%description -n {LONG}
t
%package -n temper-there
Summary: t
%description -n temper-there
t
%install
mkdir -p %{{buildroot}}/etc/temper-there %{{buildroot}}/etc/temper-trial
echo shipped >%{{buildroot}}/etc/temper-there/conf
echo shipped >%{{buildroot}}/etc/temper-trial/conf
%files -n temper-trial
%config(noreplace) /etc/temper-trial/conf
%files -n {LONG}
%files -n temper-there
%config(noreplace) /etc/temper-there/conf
SPEC
rpmbuild --quiet --define '_topdir /srv/top' -bb /srv/top/all.spec >/dev/null 2>&1
cp /srv/top/RPMS/noarch/*.rpm /srv/rpms
createrepo_c -q /srv/rpms
rpm --initdb
rpm -i /srv/rpms/temper-there-*.rpm 2>/dev/null
echo site >/etc/temper-there/conf
dnf -q makecache >/dev/null 2>&1
"""
KEY = """gpg --batch --quiet --passphrase '' --quick-gen-key 'Trial' rsa2048 sign never 2>&1
gpg --armor --export >/srv/key; gpgconf --kill gpg-agent"""
INSTALL, REMOVE = InstallPackage(package="temper-trial"), RemovePackage(package="temper-there")


@pytest.fixture
def site(host, opened):  # noqa: F811
    missing = [tool for tool in ("dnf", "rpmbuild", "createrepo_c") if not shutil.which(tool)]
    assert not missing, f"this test needs {', '.join(missing)}: apt-get install dnf rpm createrepo-c"
    inside(host, f"set -e\n{AWK}{PREPARE}")
    target = opened()
    target.prepare()
    return target


def inside(host, script):  # noqa: F811
    laid = {"SSH_ORIGINAL_COMMAND": script, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
    ran = subprocess.run(
        [host.folder / "enter"], env=laid, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def assess(target, action):
    return target.assess_actions([action], frozenset({f"package:{action.package}"}))


def test_an_installation_is_offered_foreseen_done_and_taken_back(site, host):  # noqa: F811
    (offer,) = site.list_resources_with_possible_actions([INSTALL])
    assert offer.actions == (INSTALL,)
    was = inside(host, "rpm -qa | sort; find /etc -type f | sort")
    shown = assess(site, INSTALL)
    assert [one.reason.partition(" would")[0] for one in shown.refusals] == [LONG]  # no library comes unasked
    assert "installed 1.0-1.el9" in shown.diff
    both = [INSTALL, InstallPackage(package=LONG)]
    places = frozenset(f"package:{one.package}" for one in both)
    assert site.assess_actions(both, places).refusals == ()
    done = site.apply("one", both, places)
    assert {one.path for one in done.changes} >= places
    assert "shipped" in inside(host, "cat /etc/temper-trial/conf")
    assert site.roll_back("one").differences == ()
    assert inside(host, "rpm -qa | sort; find /etc -type f | sort") == was


def test_a_removal_is_taken_back_when_its_repository_is_gone(site, host):  # noqa: F811
    was = inside(host, "rpm -qa | sort; cat /etc/temper-there/conf")
    assert assess(site, REMOVE).refusals == ()
    site.apply("two", [REMOVE], frozenset({"package:temper-there"}))
    inside(host, "! rpm -q temper-there && rm -rf /srv/rpms /srv/top /var/cache/dnf/*")
    assert site.roll_back("two").differences == ()
    assert inside(host, "rpm -qa | sort; cat /etc/temper-there/conf") == was
    assert "site" in was


def test_what_cannot_be_kept_is_not_removed(site, host):  # noqa: F811
    inside(host, "rm -rf /srv/rpms /var/cache/dnf/*")
    with pytest.raises(ActionFailed, match="a package cannot be kept"):
        site.apply("three", [REMOVE], frozenset({"package:temper-there"}))
    assert inside(host, "rpm -q temper-there")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'temper-there-0:1.0-1.el9.*' >/etc/dnf/plugins/versionlock.list", "versionlock holds temper-there"),
        ("echo temper-there >/etc/dnf/protected.d/site.conf", "protected packages: temper-there"),
    ],
)
def test_what_people_locked_or_protect_stays(site, host, script, why):  # noqa: F811
    inside(host, script)
    assert why in (assess(site, REMOVE).plan.obstacle or "")


def test_an_unsigned_package_is_not_installed_where_signatures_are_asked_for(site, host):  # noqa: F811
    inside(host, "sed -i s/gpgcheck=0/gpgcheck=1/ /etc/dnf/dnf.conf")
    assert "no key is imported" in (assess(site, INSTALL).plan.obstacle or "")
    inside(host, f"export GNUPGHOME=/srv/gnupg; mkdir -m 700 /srv/gnupg; {KEY}; rpm --import /srv/key 2>&1")
    both = [INSTALL, InstallPackage(package=LONG)]
    with pytest.raises(ActionFailed, match="GPG check FAILED"):
        site.apply("four", both, frozenset(f"package:{one.package}" for one in both))
    site.roll_back("four")
    assert "temper-trial" not in inside(host, "rpm -qa")
    assert "gpgcheck=1" in inside(host, "cat /etc/dnf/dnf.conf")
