"""The files that may be changed, each with its judge. Every other path is refused."""

from fnmatch import fnmatchcase

from app.targets.effects import drop_ins, selinux
from app.targets.host_accounts import AGENT
from app.targets.subjects import (
    account_file_policy,
    audit_rule_policy,
    backup_config_policy,
    banner_policy,
    kernel_module_policy,
    limits_conf_policy,
    option_tables,
    pam_policy,
    shell_profile_policy,
    stated_setting_policy,
    sudoers_policy,
)
from app.targets.subjects.file_edit_given_to_judges import Judge, Objection

_OWN = f"/etc/sudoers.d/{AGENT}"
_STACKS = (
    *("system-auth", "password-auth", "postlogin", "common-auth", "common-account", "common-password"),
    *("common-session", "common-session-noninteractive"),
)

_SUBJECTS: tuple[tuple[Judge, tuple[str, ...]], ...] = (
    (option_tables.SSHD, ("/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/*.conf")),
    (option_tables.SSHD, ("/etc/crypto-policies/back-ends/opensshserver.config",)),
    (option_tables.CRYPTO_POLICY, ("/etc/crypto-policies/config",)),
    (option_tables.CRYPTO_MODULE, ("/etc/crypto-policies/policies/modules/*.pmod",)),
    (sudoers_policy.judge_sudoers_edit, ("/etc/sudoers", "/etc/sudoers.d/*")),
    (pam_policy.judge_pam_edit, tuple(f"/etc/pam.d/{name}" for name in _STACKS)),
    (pam_policy.judge_su_edit, ("/etc/pam.d/su",)),
    (option_tables.PWQUALITY, ("/etc/security/pwquality.conf", "/etc/security/pwquality.conf.d/*.conf")),
    (option_tables.FAILLOCK, ("/etc/security/faillock.conf",)),
    (limits_conf_policy.judge_limits_edit, ("/etc/security/limits.conf", "/etc/security/limits.d/*.conf")),
    (option_tables.LOGIN_DEFS, ("/etc/login.defs",)),
    (
        shell_profile_policy.judge_profile_edit,
        ("/etc/profile.d/*.sh", "/etc/profile", "/etc/bashrc", "/etc/bash.bashrc"),
    ),
    (account_file_policy.judge_account_edit, ("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow")),
    (account_file_policy.judge_account_edit, ("/etc/passwd-", "/etc/shadow-", "/etc/group-", "/etc/gshadow-")),
    (option_tables.AUDITD, ("/etc/audit/auditd.conf",)),
    (audit_rule_policy.judge_audit_edit, ("/etc/audit/audit.rules", "/etc/audit/rules.d/*.rules")),
    (option_tables.SELINUX, ("/etc/selinux/config",)),
    (kernel_module_policy.judge_modules_edit, ("/etc/modprobe.d/*.conf",)),
    (option_tables.SYSCTL, ("/etc/sysctl.conf", "/etc/sysctl.d/*.conf")),
    (option_tables.DNF, ("/etc/dnf/dnf.conf", "/etc/yum.repos.d/*.repo")),
    (option_tables.MISSION, ("/etc/mission/mission.conf",)),
    (backup_config_policy.judge_backup_edit, ("/etc/mission/backup.conf",)),
    (banner_policy.judge_invisible_characters_in_banner, ("/etc/issue", "/etc/issue.net", "/etc/motd")),
    *stated_setting_policy.STATED,
)
_APART: tuple[Judge, ...] = (account_file_policy.judge_account_edit, banner_policy.judge_invisible_characters_in_banner)
"""Judges of files that stand for themselves: a rule about /etc/issue says nothing of /etc/motd."""
_CRYPTO = tuple(
    pattern for _, patterns in _SUBJECTS for pattern in patterns if pattern.startswith("/etc/crypto-policies/")
)
JUDGES: tuple[tuple[str, Judge], ...] = tuple((pattern, judge) for judge, patterns in _SUBJECTS for pattern in patterns)
VENDOR: tuple[str, ...] = (*drop_ins.VENDOR, *selinux.VENDOR)
"""Read-only places that decide what a change does: vendor drop-ins and installed files."""
_FORBIDDEN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("protected identity", (_OWN, "/root/", "/home/")),
    ("destruction", ("/dev/", "/boot/", "/proc/", "/sys/", "/etc/fstab", "/usr/", "/bin/", "/sbin/", "/lib")),
    ("evidence tampering", ("/var/log/", "/etc/rsyslog", "/etc/logrotate", "/etc/systemd/journald", "/etc/aide")),
    ("evidence tampering", ("/etc/selinux/", "/etc/audit/", "/opt/temper", "/var/lib/temper")),
    ("persistence", ("/etc/cron", "/etc/anacrontab", "/etc/at.", "/etc/systemd/", "/etc/rc", "/etc/udev/")),
    ("persistence", ("/var/spool/",)),
    ("privilege", ("/etc/ld.so", "/etc/environment", "/etc/polkit-1/", "/etc/pam.d/")),
    ("protected identity", ("/etc/security/", "/etc/nologin", "/etc/ssh/")),
    ("network", ("/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/firewalld/", "/etc/nftables")),
    ("network", ("/etc/sysconfig/", "/etc/NetworkManager/")),
)
"""Clauses that refuse paths by their beginnings; the first that fits is named."""


def list_family_patterns(path: str) -> tuple[str, ...]:
    """Return the patterns of all files that a program reads together with this one; empty if the path has no judge.

    `path` may also be a pattern, or the folder of drop-ins.
    """
    for judge, patterns in _SUBJECTS:
        if any(_is_in_family(path, pattern) for pattern in patterns):
            return (path,) if judge in _APART else _CRYPTO if path.startswith("/etc/crypto-policies/") else patterns
    return ()


def _is_in_family(path: str, pattern: str) -> bool:
    return matches_area(path, pattern) or (path.rstrip("/") == pattern.rpartition("/")[0] and "*" in pattern)


def matches_area(path: str, pattern: str) -> bool:
    """Return True if the pattern fits the path, folder by folder."""
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)


def find_judge_or_objection(path: str) -> Judge | Objection:
    """Return the judge for changes of `path`, or the objection if the path may not be changed."""
    if not path.startswith(_OWN):
        for pattern, judge in JUDGES:
            if matches_area(path, pattern):
                return judge
    for clause, starts in _FORBIDDEN:
        if path.startswith(starts):
            return Objection(clause, f"Temper may not change {path}.")
    return Objection("not understood", f"{path} is not among the files that Temper may change.")
