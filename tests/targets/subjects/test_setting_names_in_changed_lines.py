import pytest

from app.targets.subjects.file_edit_given_to_judges import FileEdit
from app.targets.subjects.setting_names_in_changed_lines import iterate_changed_lines_and_keys
from app.targets.writable_areas import find_judge_or_objection
from tests.hostfiles import DictFiles

SUDO = "/etc/sudoers.d/a"
RULES = "/etc/audit/rules.d/a.rules"
STACK = "/etc/pam.d/common-auth"


def keys(path, added=(), removed=()):
    judge = find_judge_or_objection(path)
    edit = FileEdit(path, "", "", tuple(added), tuple(removed), 0o644, 0o644, DictFiles({}), tuple(added), judge)
    return [found for _, found in iterate_changed_lines_and_keys(edit)]


@pytest.mark.parametrize(
    ("path", "line", "wanted"),
    [
        ("/etc/ssh/sshd_config", "X11Forwarding no", ("X11Forwarding",)),
        ("/etc/login.defs", "UMASK 077", ("UMASK",)),
        ("/etc/sysctl.d/a.conf", "net.ipv4.ip_forward = 0", ("net.ipv4.ip_forward",)),
        ("/etc/security/limits.conf", "* hard maxlogins 10", ("maxlogins",)),
        ("/etc/modprobe.d/a.conf", "install sctp /bin/false", ("sctp",)),
        ("/etc/modprobe.d/a.conf", "install firewire-core /bin/false", ("firewire_core", "firewire-core")),
        ("/etc/dconf/db/local.d/a", "idle-delay=uint32 600", ("idle-delay",)),
        ("/etc/dconf/db/local.d/a", "[org/gnome/desktop/session]", ()),
        ("/etc/default/grub", 'GRUB_CMDLINE_LINUX="pti=on"', ("GRUB_CMDLINE_LINUX",)),
        ("/etc/profile.d/a.sh", "declare -xr TMOUT=600", ("TMOUT",)),
        ("/etc/mission/backup.conf", "login = svc-backup", ("login",)),
        (SUDO, "Defaults !authenticate", ("authenticate",)),
        (SUDO, "Defaults timestamp_timeout=5", ("timestamp_timeout",)),
        (SUDO, "a ALL=(ALL) NOPASSWD: ALL", ("NOPASSWD",)),
        (RULES, "-f  2", ("-f 2",)),
        (RULES, "--loginuid-immutable", ("--loginuid-immutable",)),
        (RULES, "-w /etc/sudoers.d/ -p wa -k a", ("/etc/sudoers.d",)),
        (RULES, "-a always,exit -F arch=b64 -S chmod,fchmod -F auid>=1000", ("chmod", "fchmod")),
        (RULES, "-a always,exit -F path=/usr/bin/su -F perm=x", ("/usr/bin/su", "privileged")),
        (STACK, "auth required pam_faillock.so preauth deny=3", ("pam_faillock", "preauth", "deny")),
        ("/etc/crypto-policies/config", "FIPS", ()),
        ("/etc/issue", "Authorised use only.", ()),
    ],
)
def test_a_line_is_about_the_settings_that_it_names(path, line, wanted):
    assert keys(path, [line]) == keys(path, (), [line]) == [wanted]


@pytest.mark.parametrize(
    ("added", "removed", "wanted"),
    [
        ("auth sufficient pam_unix.so", "auth sufficient pam_unix.so nullok", [(), ("nullok",)]),
        ("auth sufficient pam_unix.so rounds=9", "auth sufficient pam_unix.so", [("rounds",), ()]),
        ("auth required pam_unix.so", "auth sufficient pam_unix.so", [("pam_unix",), ("pam_unix",)]),
    ],
)
def test_of_a_pam_rule_that_stays_only_the_change_counts(added, removed, wanted):
    assert keys(STACK, [added], [removed]) == wanted


def test_comments_and_blank_lines_are_about_nothing():
    assert keys("/etc/login.defs", ["# UMASK 022", "", "  "]) == []
