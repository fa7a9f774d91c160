import pytest

from app.targets.effects.settings_only_reboot_undoes import find_one_way_settings
from app.targets.read_tracking_cache import ReadTrackingCache
from tests.hostfiles import DictFiles

RULES, SOURCE = "/etc/audit/audit.rules", "/etc/audit/rules.d/a.rules"
SYSCTL, MAIN = "/etc/sysctl.d/a.conf", "/etc/sysctl.conf"


def find(before, after):
    whole = {**before, **after}
    return find_one_way_settings(list(after), DictFiles(before), DictFiles(whole), ReadTrackingCache())


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        (RULES, "-D\n-e 2\n", "audit -e 2"),
        (RULES, "-e2\n", "audit -e 2"),
        (SOURCE, "-e 2\n", "audit -e 2"),
        (RULES, "--loginuid-immutable\n", "audit --loginuid-immutable yes"),
        (SYSCTL, "kernel.kexec_load_disabled=1\n", "systemd-sysctl kernel.kexec_load_disabled 1"),
        (SYSCTL, "-kernel/kexec_load_disabled = 01\n", "systemd-sysctl kernel.kexec_load_disabled 1"),
        (SYSCTL, "kernel.yama.ptrace_scope = 3\n", "systemd-sysctl kernel.yama.ptrace_scope 3"),
        (SYSCTL, "kernel.modules_disabled = 0x1\n", "systemd-sysctl kernel.modules_disabled 1"),
        (SYSCTL, "kernel.modules_disabled = 1\n", "systemd-sysctl kernel.modules_disabled 1"),
        (SYSCTL, "kernel.unprivileged_bpf_disabled = 1\n", "systemd-sysctl kernel.unprivileged_bpf_disabled 1"),
        (MAIN, "kernel.modules_disabled = 1\n", "sysctl kernel.modules_disabled 1"),
        (RULES, "-e 1\n-f 2\n", None),
        (SYSCTL, "kernel.yama.ptrace_scope = 2\nkernel.unprivileged_bpf_disabled = 2\n", None),
    ],
)
def test_only_a_value_that_the_kernel_keeps_is_one_way(path, text, wanted):
    found = find({}, {path: text})
    assert (wanted in found) if wanted else found == ()


def test_what_holds_already_is_not_brought_by_the_change():
    before = {RULES: "-b 64\n-e 2\n", SOURCE: "-b 64\n-e 2\n", SYSCTL: "kernel.yama.ptrace_scope = 3\n"}
    after = {RULES: "-b 128\n-e 2\n", SYSCTL: "kernel.yama.ptrace_scope = 3\nkernel.kptr_restrict = 2\n"}
    assert find(before, after) == ()
    assert find(before, {RULES: "-e 1\n"}) == ()


def test_the_last_line_that_undoes_another_is_what_brings_it():
    before = {SYSCTL: "kernel.yama.ptrace_scope = 3\n", "/etc/sysctl.d/b.conf": "kernel.yama.ptrace_scope = 1\n"}
    assert find(before, {"/etc/sysctl.d/b.conf": "# nothing\n"})
