"""The files that may be changed, each with its judge. Every other path is refused."""

from fnmatch import fnmatchcase

from app.targets.effects import drop_ins, selinux
from app.targets.host_accounts import AGENT
from app.targets.subjects import (
    accounts,
    audit,
    backup,
    banner,
    limits,
    modules,
    option_tables,
    pam,
    profile,
    sudoers,
)
from app.targets.subjects.file_edit import Judge, Objection

_OWN = f"/etc/sudoers.d/{AGENT}"

JUDGES: tuple[tuple[str, Judge], ...] = (
    ("/etc/ssh/sshd_config", option_tables.SSHD),
    ("/etc/ssh/sshd_config.d/*.conf", option_tables.SSHD),
    ("/etc/crypto-policies/back-ends/opensshserver.config", option_tables.SSHD),
    ("/etc/crypto-policies/config", option_tables.CRYPTO_POLICY),
    ("/etc/crypto-policies/policies/modules/*.pmod", option_tables.CRYPTO_MODULE),
    ("/etc/sudoers", sudoers.judge_sudoers_edit),
    ("/etc/sudoers.d/*", sudoers.judge_sudoers_edit),
    ("/etc/pam.d/system-auth", pam.judge_pam_edit),
    ("/etc/pam.d/password-auth", pam.judge_pam_edit),
    ("/etc/pam.d/postlogin", pam.judge_pam_edit),
    ("/etc/pam.d/common-auth", pam.judge_pam_edit),
    ("/etc/pam.d/common-account", pam.judge_pam_edit),
    ("/etc/pam.d/common-password", pam.judge_pam_edit),
    ("/etc/pam.d/common-session", pam.judge_pam_edit),
    ("/etc/pam.d/common-session-noninteractive", pam.judge_pam_edit),
    ("/etc/security/pwquality.conf", option_tables.PWQUALITY),
    ("/etc/security/pwquality.conf.d/*.conf", option_tables.PWQUALITY),
    ("/etc/security/faillock.conf", option_tables.FAILLOCK),
    ("/etc/security/limits.conf", limits.judge_limits_edit),
    ("/etc/security/limits.d/*.conf", limits.judge_limits_edit),
    ("/etc/login.defs", option_tables.LOGIN_DEFS),
    ("/etc/profile.d/*.sh", profile.judge_profile_edit),
    ("/etc/profile", profile.judge_profile_edit),
    ("/etc/bashrc", profile.judge_profile_edit),
    ("/etc/bash.bashrc", profile.judge_profile_edit),
    ("/etc/passwd", accounts.judge_account_edit),
    ("/etc/shadow", accounts.judge_account_edit),
    ("/etc/group", accounts.judge_account_edit),
    ("/etc/gshadow", accounts.judge_account_edit),
    ("/etc/passwd-", accounts.judge_account_edit),
    ("/etc/shadow-", accounts.judge_account_edit),
    ("/etc/group-", accounts.judge_account_edit),
    ("/etc/gshadow-", accounts.judge_account_edit),
    ("/etc/audit/auditd.conf", option_tables.AUDITD),
    ("/etc/audit/audit.rules", audit.judge_audit_edit),
    ("/etc/audit/rules.d/*.rules", audit.judge_audit_edit),
    ("/etc/selinux/config", option_tables.SELINUX),
    ("/etc/modprobe.d/*.conf", modules.judge_modules_edit),
    ("/etc/sysctl.conf", option_tables.SYSCTL),
    ("/etc/sysctl.d/*.conf", option_tables.SYSCTL),
    ("/etc/dnf/dnf.conf", option_tables.DNF),
    ("/etc/yum.repos.d/*.repo", option_tables.DNF),
    ("/etc/mission/mission.conf", option_tables.MISSION),
    ("/etc/mission/backup.conf", backup.judge_backup_edit),
    ("/etc/issue", banner.judge_banner_edit),
    ("/etc/issue.net", banner.judge_banner_edit),
    ("/etc/motd", banner.judge_banner_edit),
)
VENDOR: tuple[str, ...] = (*drop_ins.VENDOR, *selinux.VENDOR)
"""Read-only places that decide what a change does: vendor drop-ins and installed files."""
_FORBIDDEN: tuple[tuple[str, str], ...] = (
    (_OWN, "protected identity"),
    (f"/home/{AGENT}/", "protected identity"),
    ("/root/", "protected identity"),
    ("/home/", "protected identity"),
    ("/dev/", "destruction"),
    ("/boot/", "destruction"),
    ("/proc/", "destruction"),
    ("/sys/", "destruction"),
    ("/etc/fstab", "destruction"),
    ("/usr/", "destruction"),
    ("/bin/", "destruction"),
    ("/sbin/", "destruction"),
    ("/lib", "destruction"),
    ("/var/log/", "evidence tampering"),
    ("/etc/rsyslog", "evidence tampering"),
    ("/etc/logrotate", "evidence tampering"),
    ("/etc/systemd/journald", "evidence tampering"),
    ("/etc/aide", "evidence tampering"),
    ("/etc/selinux/", "evidence tampering"),
    ("/etc/audit/", "evidence tampering"),
    ("/opt/temper", "evidence tampering"),
    ("/var/lib/temper", "evidence tampering"),
    ("/etc/cron", "persistence"),
    ("/etc/anacrontab", "persistence"),
    ("/etc/at.", "persistence"),
    ("/etc/systemd/", "persistence"),
    ("/etc/rc", "persistence"),
    ("/etc/udev/", "persistence"),
    ("/var/spool/", "persistence"),
    ("/etc/ld.so", "privilege"),
    ("/etc/environment", "privilege"),
    ("/etc/polkit-1/", "privilege"),
    ("/etc/pam.d/", "privilege"),
    ("/etc/security/", "protected identity"),
    ("/etc/nologin", "protected identity"),
    ("/etc/ssh/", "protected identity"),
    ("/etc/hosts", "network"),
    ("/etc/resolv.conf", "network"),
    ("/etc/nsswitch.conf", "network"),
    ("/etc/firewalld/", "network"),
    ("/etc/nftables", "network"),
    ("/etc/sysconfig/", "network"),
    ("/etc/NetworkManager/", "network"),
)


def find_judge(path: str) -> Judge | Objection:
    """Return the judge for changes of `path`, or the objection if the path may not be changed."""
    if not path.startswith(_OWN):
        for pattern, judge in JUDGES:
            if fnmatchcase(path, pattern) and path.count("/") == pattern.count("/"):
                return judge
    for start, clause in _FORBIDDEN:
        if path.startswith(start):
            return Objection(clause, f"{path} is not ours to change.")
    return Objection("not understood", f"{path} is not among the files that this program changes.")
