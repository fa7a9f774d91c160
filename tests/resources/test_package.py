import pytest

from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from app.resources.package import MOST_COMING, InstallPackage, RemovePackage, judge_packages
from tests.resources.case import KindCase, Sample

REPOSITORY = r"""
mkdir -p /etc/apt/preferences.d /etc/apt/apt.conf.d /etc/apt/trusted.gpg.d /var/lib/apt/lists/partial
mkdir -p /var/cache/apt/archives/partial /var/log/apt /var/lib/dpkg/info /var/lib/dpkg/updates
: >/var/lib/dpkg/status
: >/var/lib/dpkg/available
for name in temper-trial temper-there; do
  mkdir -p /srv/$name/DEBIAN /srv/$name/etc/$name
  printf '%s\n' "Package: $name" 'Version: 1.0' 'Architecture: all' 'Maintainer: n <n@example.org>' 'Description: t' \
    >/srv/$name/DEBIAN/control
  echo shipped >/srv/$name/etc/$name/conf
  dpkg-deb -b /srv/$name /srv/$name.deb >/dev/null
  cat /srv/$name/DEBIAN/control
  echo "Filename: ./$name.deb"
  echo "Size: $(stat -c %s /srv/$name.deb)"
  echo "SHA256: $(sha256sum </srv/$name.deb | cut -d ' ' -f 1)"
  echo
done >/srv/Packages
echo 'deb [trusted=yes] file:/srv ./' >/etc/apt/sources.list
echo 'APT::Sandbox::User "root";' >/etc/apt/apt.conf
apt-get -q -q update
dpkg -i /srv/temper-there.deb >/dev/null
"""
CASE = KindCase(
    samples=(
        Sample(
            InstallPackage(package="temper-trial"),
            HostState("", version="1.0"),
            ResourceState("package:temper-trial", "", "installed 1.0"),
            ResourceState("package:temper-trial", "installed 0.9", "installed 1.0"),
        ),
        Sample(
            RemovePackage(package="temper-there"),
            HostState("installed 1.0"),
            ResourceState("package:temper-there", "installed 1.0", ""),
            ResourceState("package:temper-there", "installed 1.0", "installed 1.1"),
        ),
    ),
    rule=RuleTexts("x", "apt-get install temper-trial\nThe temper-there package must not be there."),
    prepare=REPOSITORY,
)


def gone(*names, needed=()):
    return ForeseenStates(
        tuple(ResourceState(f"package:{name}", "installed 1", "") for name in names), frozenset(needed)
    )


def came(*names, asked=()):
    states = tuple(ResourceState(f"package:{name}", "", "installed 1") for name in names)
    return ForeseenStates(states, asked=frozenset(asked))


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("openssh-server", "protected identity"),
        ("sudo", "lockout"),
        ("libpam-modules", "lockout"),
        ("systemd-sysv", "destruction"),
        ("linux-image-6.1.0-1-amd64", "destruction"),
        ("NetworkManager", "network"),
        ("auditd", "evidence tampering"),
        ("ssg-debian", "evidence tampering"),
        ("nftables", "weakening"),
    ],
)
def test_what_everybody_depends_on_stays(name, clause):
    assert judge_packages(gone("telnet", name)).clause == clause


def test_what_the_host_says_that_we_need_stays():
    assert judge_packages(gone("gawk-extra")) is None
    assert judge_packages(gone("gawk-extra", needed={"package:gawk-extra"})).clause == "protected identity"


def test_what_hardening_takes_away_may_go_and_not_come():
    for name in ("telnet", "rsh-client", "nis", "tftpd-hpa", "xinetd"):
        assert judge_packages(gone(name)) is None
        assert judge_packages(came("libthing1", name)).clause == "weakening"


def test_an_upgrade_on_the_way_is_no_part_of_a_change():
    both = ForeseenStates((ResourceState("package:libc-x", "installed 1", "installed 2"), *came("aide").states))
    assert judge_packages(both).clause == "too much"


def test_so_much_and_no_more():
    assert judge_packages(came(*(f"a{n}" for n in range(MOST_COMING)))) is None
    assert judge_packages(came(*(f"a{n}" for n in range(MOST_COMING + 1)))).clause == "too much"


@pytest.mark.parametrize("name", ["libtomcrypt1", "tzdata", "libcap2-bin", "chrony-common", "python3-apt"])
def test_libraries_data_and_plain_programs_may_come_along(name):
    assert judge_packages(came("chrony", name, asked={"package:chrony"})) is None


@pytest.mark.parametrize("name", ["cron", "libpam-cap", "libnss-myhostname", "libvirt-daemon", "exim4-base"])
def test_what_could_run_or_open_something_is_a_persons_to_welcome(name):
    assert judge_packages(came("chrony", name, asked={"package:chrony"})).clause == "too much"
