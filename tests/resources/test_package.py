import pytest

from app.resources.kind import ForeseenStates, ResourceState
from app.resources.package import MOST_COMING, judge_packages


def gone(*names, needed=()):
    return ForeseenStates(
        tuple(ResourceState(f"package:{name}", "installed 1", "") for name in names), frozenset(needed)
    )


def came(*names):
    return ForeseenStates(tuple(ResourceState(f"package:{name}", "", "installed 1") for name in names))


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
