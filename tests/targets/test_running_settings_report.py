from app.targets.running_settings_report import (
    REBOOT,
    compare_running,
    list_stated_sysctl_names,
    read_changed_sysctl_values,
)
from tests.hostfiles import DictFiles

FILES = DictFiles(
    {
        "/etc/sysctl.d/60-site.conf": "kernel.dmesg_restrict = 1\n"
        "net.ipv4.ip_local_port_range = 1024 65000\n$(id) = 1\n",
        "/etc/modprobe.d/no.conf": "install sctp /bin/false\ninstall dccp /sbin/modprobe --ignore-install dccp\n",
        "/etc/audit/audit.rules": "-f 2\n-w /etc/shadow -p wa -k identity\n-w /etc/sudoers -p wa -k actions\n-e 2\n",
    }
)
IN_FORCE = (
    ("boot", "id", "b1"),
    ("sshd", "read", ""),
    ("sysctl", "kernel.dmesg_restrict", "1"),
    ("sysctl", "net.ipv4.ip_local_port_range", "1024  65000"),
    ("audit", "enabled", "2"),
    ("audit", "failure", "2"),
    ("rule", "-", "-w /etc/shadow -p wa -k identity"),
    ("rule", "-", "-a always,exit -S all -F path=/etc/sudoers -F perm=wa -F key=actions"),
    ("module", "dccp", "loaded"),
)


def told(*rows):
    return [(one.setting, one.wanted, one.running, one.by) for one in compare_running(FILES, rows).pending_settings]


def test_what_runs_as_the_files_say_is_in_force():
    found = compare_running(FILES, IN_FORCE)
    assert (found.boot, found.checked_programs, found.pending_settings) == (
        "b1",
        ("sshd", "sysctl", "audit", "modules"),
        (),
    )


def test_what_cannot_be_asked_is_not_called_in_force():
    assert compare_running(FILES, [("boot", "id", "b1")]).checked_programs == ()


def test_the_kernel_goes_by_the_old_value():
    (one,) = told(("sysctl", "kernel.dmesg_restrict", "0"))
    assert one == ("kernel.dmesg_restrict", "1", "0", "sysctl --system or a reboot")


def test_only_settings_that_a_file_of_the_administrator_states_are_asked_for_by_plain_names():
    assert list_stated_sysctl_names(FILES) == ["kernel.dmesg_restrict", "net.ipv4.ip_local_port_range"]


def test_audit_rules_that_are_not_loaded_and_what_only_a_reboot_loads():
    rows = [("audit", "enabled", "2"), ("audit", "failure", "1"), ("rule", "-", "-w /etc/shadow -p wa -k identity")]
    assert told(*rows) == [
        ("failure (-f)", "2", "1", REBOOT),
        ("rules with the key actions", "loaded", "not loaded", REBOOT),
    ]
    none = told(("audit", "enabled", "1"), ("rule", "-", "No rules"))
    assert ("rules", "2 loaded", "none loaded", "augenrules --load") in none
    assert ("enabled (-e)", "2", "1", "augenrules --load") in none


def test_a_module_that_is_loaded_although_its_file_shuts_it_out():
    assert told(("module", "sctp", "loaded")) == [("sctp", "never loaded", "loaded", "modprobe -r sctp or a reboot")]


def test_of_a_change_only_what_its_files_concern_counts():
    found = compare_running(FILES, [*IN_FORCE, ("sysctl", "kernel.dmesg_restrict", "0"), ("module", "sctp", "loaded")])
    assert found.filter_by_programs_affected_by_paths(["/etc/sysctl.d/60-site.conf"]).checked_programs == ("sysctl",)
    assert [
        one.program for one in found.filter_by_programs_affected_by_paths(["/etc/modprobe.d/x.conf"]).pending_settings
    ] == ["modules"]
    assert found.filter_by_programs_affected_by_paths(["/etc/login.defs"]).checked_programs == ()


def test_a_hosts_words_are_cleaned():
    rows = [("sshd", "late", "/etc/ssh/\x1b[31mx"), ("boot", "id", "b" * 500)]
    found = compare_running(FILES, rows)
    assert found.pending_settings[0].setting == "/etc/ssh/x"
    assert len(found.boot) <= 64


def test_a_mount_that_does_not_go_by_fstab_yet_is_behind():
    rows = [("mount", "/tmp", "nodev noexec | nodev"), ("mount", "/home", "nodev | nodev nosuid")]
    (found,) = compare_running(DictFiles({}), rows).pending_settings
    assert (found.setting, found.wanted, found.running) == ("/tmp", "nodev noexec", "nodev")
    assert found.by == "mount -o remount /tmp"
    assert compare_running(DictFiles({}), rows).filter_by_programs_affected_by_paths(
        ["/etc/fstab"]
    ).pending_settings == (found,)
    assert compare_running(DictFiles({}), [("mount", "/tmp", "none | nodev")]).pending_settings == ()


def test_the_kernel_settings_that_a_change_states_are_those_of_its_own_files():
    before = DictFiles({"/usr/lib/sysctl.d/a.conf": "fs.protected_regular = 2\n", "/etc/sysctl.conf": "kernel.x = 1\n"})
    after = DictFiles({"/etc/sysctl.conf": "kernel.x = 1\nfs.protected_regular=2\nkernel.y =  1  2\n"})
    assert read_changed_sysctl_values(before, after) == {"fs.protected_regular": "2", "kernel.y": "1 2"}
