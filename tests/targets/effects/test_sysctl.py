import pytest

from app.targets.effects.sysctl import ProcpsSysctl, SystemdSysctl
from tests.hostfiles import DictFiles
from tests.targets.effects.change import lost

DEBIAN = {"/etc/debian_version": "12.9\n"}
OURS, LINKS = "/etc/sysctl.d/70-x.conf", "/etc/sysctl.d/99-protect-links.conf"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("kernel.perf_event_paranoid = 3", "kernel.perf_event_paranoid = 2"),
        ("kernel.kptr_restrict = 2", "kernel.kptr_restrict = 1"),
        ("net.ipv4.conf.all.rp_filter = 1", "net.ipv4.conf.all.rp_filter = 2"),
        ("kernel.unprivileged_bpf_disabled = 1", "kernel.unprivileged_bpf_disabled = 2"),
        ("kernel.dmesg_restrict = 1", "kernel.dmesg_restrict = 2"),
        ("vm.swappiness = 10", "vm.swappiness = 60"),
        ("kernel.kptr_restrict = 2", "# nothing"),
        ("net.ipv4.conf.*.accept_redirects = 0", "# nothing"),
        ("kernel.kptr_restrict = 1", "kernel.kptr_restrict = 1\n-kernel.kptr_restrict"),
    ],
)
def test_less_than_what_stands_is_weaker(was, now):
    assert lost({OURS: was}, {OURS: now})


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("kernel.kptr_restrict = 1", "kernel.kptr_restrict = 2"),
        ("kernel.kptr_restrict = 1", "kernel.kptr_restrict=0x1"),
        ("", "net.ipv4.conf.all.accept_redirects = 0"),
        ("", "kernel.core_pattern = |/bin/false"),
        ("kernel.core_pattern = |/opt/dump %p", "kernel.core_pattern = |/bin/false"),
        ("net/ipv4/conf/all/log_martians = 1", "net.ipv4.conf.all.log_martians = 1"),
    ],
)
def test_as_much_or_more_is_not(was, now):
    assert lost({OURS: was}, {OURS: now}) == ""


def test_where_nothing_was_set_the_kernels_own_value_counts():
    change = {OURS: "kernel.perf_event_paranoid = 2\n"}
    assert "3 and would be 2" in lost(DEBIAN, change)
    assert lost({}, change) == ""


@pytest.mark.parametrize("seen", [True, False])
def test_a_file_of_the_vendors_name_hides_the_vendors(seen):
    vendor = {"/usr/lib/sysctl.d/99-protect-links.conf": "fs.protected_fifos = 2\n"} if seen else {}
    assert "is weaker" in lost({**DEBIAN, **vendor}, {LINKS: "# ours\n"})


def test_two_programs_read_two_orders():
    """systemd knows no sysctl.conf, procps reads it last."""
    files = DictFiles({OURS: "kernel.kptr_restrict = 2\n", "/etc/sysctl.conf": "kernel.kptr_restrict = 1\n"})
    assert SystemdSysctl().read_settings(files)["kernel.kptr_restrict"] == "2"
    assert ProcpsSysctl().read_settings(files)["kernel.kptr_restrict"] == "1"
    assert "weaker" in lost({OURS: "kernel.kptr_restrict = 2\n"}, {"/etc/sysctl.conf": "kernel.kptr_restrict = 1\n"})


def test_a_setting_that_is_stated_is_left_alone_by_patterns():
    text = "net.ipv4.conf.all.rp_filter = 1\nnet.ipv4.conf.*.rp_filter = 0\n"
    found = SystemdSysctl().read_settings(DictFiles({OURS: text, **DEBIAN}))
    assert found["net.ipv4.conf.all.rp_filter"] == "1"
    assert found["net.ipv4.conf.default.rp_filter"] == "0"


EARLY = "/etc/sysctl.d/10-router.conf"
NO_REDIRECTS = "net.ipv4.conf.all.accept_redirects = 0\n"


@pytest.mark.parametrize("start", ["net.ipv4.ip_forward = 1", "net.ipv4.conf.all.forwarding = 1"])
@pytest.mark.parametrize("stop", ["net.ipv4.ip_forward = 0", "net.ipv4.conf.all.forwarding = 0"])
def test_a_router_that_becomes_a_host_takes_redirects_again(start, stop):
    """The kernel sets accept_redirects to 1 as forwarding goes off, whatever a line above it says."""
    both = f"{NO_REDIRECTS}{NO_REDIRECTS.replace('all', 'default')}"
    before = {EARLY: f"{start}\n", OURS: both}
    assert "accept_redirects" in lost(before, {"/etc/sysctl.d/99-x.conf": f"{stop}\n"})
    assert "accept_redirects" in lost(before, {"/etc/sysctl.d/99-x.conf": f"{stop}\n{both}"}), "systemd keeps the place"
    assert lost(before, {EARLY: f"{stop}\n"}) == ""
    alone = {EARLY: f"{start}\n", OURS: NO_REDIRECTS}
    assert "interfaces that" in lost(alone, {EARLY: f"{stop}\n"})


def test_forwarding_off_is_fine_where_redirects_were_never_set():
    assert lost({EARLY: "net.ipv4.ip_forward = 1\n"}, {OURS: "net.ipv4.ip_forward = 0\n"}) == ""


def test_the_greater_of_all_and_the_interface_counts_for_rp_filter():
    before = {OURS: "net.ipv4.conf.default.rp_filter = 1\n"}
    told = lost(before, {"/etc/sysctl.d/99-x.conf": "net.ipv4.conf.all.rp_filter = 2\n"})
    assert "rp_filter on interfaces" in told
    assert lost(before, {"/etc/sysctl.d/99-x.conf": "net.ipv4.conf.all.rp_filter = 1\n"}) == ""


def test_a_line_for_one_interface_counts_for_that_one():
    before = {OURS: "net.ipv4.conf.default.rp_filter = 1\nnet.ipv4.conf.eth0.rp_filter = 1\n"}
    after = "net.ipv4.conf.default.rp_filter = 1\nnet.ipv4.conf.*.rp_filter = 0\n"
    assert "eth0" in lost(before, {OURS: after})
