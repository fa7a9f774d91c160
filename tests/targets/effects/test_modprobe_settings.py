import pytest

from app.syntax.modprobe import parse_module_lines
from app.targets.effects.modprobe_settings import evaluate_module_lines
from tests.targets.effects.change import lost

OURS = "/etc/modprobe.d/50-site.conf"
KEPT_OUT = "install sctp /bin/false\nblacklist sctp\n"


@pytest.mark.parametrize(
    "now",
    [
        "blacklist sctp\n",
        "install sctp /bin/false\n",
        "install sctp /sbin/modprobe --ignore-install sctp\n" + KEPT_OUT,
        "install s* /sbin/modprobe x\n" + KEPT_OUT,
        KEPT_OUT.replace("blacklist sctp", "blacklist \\\nsctpx"),
    ],
)
def test_a_module_that_was_kept_out_stays_out(now):
    assert lost({OURS: KEPT_OUT}, {OURS: now})


def test_an_earlier_file_decides():
    earlier = {"/etc/modprobe.d/10-a.conf": "install sctp /sbin/modprobe --ignore-install sctp\n"}
    assert "install sctp is nothing" in lost({OURS: KEPT_OUT}, earlier)


@pytest.mark.parametrize("now", ["install sctp /usr/bin/true\nblacklist sctp\n", KEPT_OUT + "blacklist cramfs\n"])
def test_what_keeps_as_many_out_is_fine(now):
    assert lost({OURS: KEPT_OUT}, {OURS: now}) == ""


def test_a_file_of_the_vendors_name_hides_the_vendors():
    vendor = {"/usr/lib/modprobe.d/dist-blacklist.conf": "blacklist floppy\n"}
    assert "blacklist floppy" in lost(vendor, {"/etc/modprobe.d/dist-blacklist.conf": "blacklist sctp\n"})
    assert "options bonding" in lost({}, {"/etc/modprobe.d/systemd.conf": "blacklist sctp\n"})


@pytest.mark.parametrize(
    ("rest", "read"),
    [
        ("pre: crc softdep x pre: can", {"softdep sctp": "pre: crc softdep x can"}),
        ("post: a pre: b post: c", {"softdep sctp": "pre: b post: a c"}),
        ("crc can", {}),
        ("pre:", {}),
    ],
)
def test_what_is_loaded_around_a_module_is_two_lists(rest, read):
    assert evaluate_module_lines(parse_module_lines(f"softdep sctp {rest}\n", OURS)) == read
