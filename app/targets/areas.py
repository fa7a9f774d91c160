"""The files that may be changed, each with its judge. Every other path is refused."""

from fnmatch import fnmatchcase

from app.targets.accounts import AGENT
from app.targets.effects import folders, selinux
from app.targets.subjects import accounts, audit, backup, banner, limits, modules, pam, profile, sshd, sudoers, tables
from app.targets.subjects.edit import Judge, Objection

_OWN = f"/etc/sudoers.d/{AGENT}"

JUDGES: tuple[tuple[str, Judge], ...] = (
    ("/etc/ssh/sshd_config", sshd.judge),
    ("/etc/ssh/sshd_config.d/*.conf", sshd.judge),
    ("/etc/crypto-policies/back-ends/opensshserver.config", sshd.judge),
    ("/etc/crypto-policies/config", tables.CRYPTO_POLICY),
    ("/etc/crypto-policies/policies/modules/*.pmod", tables.CRYPTO_MODULE),
    ("/etc/sudoers", sudoers.judge),
    ("/etc/sudoers.d/*", sudoers.judge),
    ("/etc/pam.d/system-auth", pam.judge),
    ("/etc/pam.d/password-auth", pam.judge),
    ("/etc/pam.d/postlogin", pam.judge),
    ("/etc/pam.d/common-auth", pam.judge),
    ("/etc/pam.d/common-account", pam.judge),
    ("/etc/pam.d/common-password", pam.judge),
    ("/etc/pam.d/common-session", pam.judge),
    ("/etc/pam.d/common-session-noninteractive", pam.judge),
    ("/etc/security/pwquality.conf", tables.PWQUALITY),
    ("/etc/security/pwquality.conf.d/*.conf", tables.PWQUALITY),
    ("/etc/security/faillock.conf", tables.FAILLOCK),
    ("/etc/security/limits.conf", limits.judge),
    ("/etc/security/limits.d/*.conf", limits.judge),
    ("/etc/login.defs", tables.LOGIN_DEFS),
    ("/etc/profile.d/*.sh", profile.judge),
    ("/etc/profile", profile.judge),
    ("/etc/bashrc", profile.judge),
    ("/etc/bash.bashrc", profile.judge),
    ("/etc/passwd", accounts.judge),
    ("/etc/shadow", accounts.judge),
    ("/etc/group", accounts.judge),
    ("/etc/gshadow", accounts.judge),
    ("/etc/passwd-", accounts.judge),
    ("/etc/shadow-", accounts.judge),
    ("/etc/group-", accounts.judge),
    ("/etc/gshadow-", accounts.judge),
    ("/etc/audit/auditd.conf", tables.AUDITD),
    ("/etc/audit/audit.rules", audit.judge),
    ("/etc/audit/rules.d/*.rules", audit.judge),
    ("/etc/selinux/config", tables.SELINUX),
    ("/etc/modprobe.d/*.conf", modules.judge),
    ("/etc/sysctl.conf", tables.SYSCTL),
    ("/etc/sysctl.d/*.conf", tables.SYSCTL),
    ("/etc/dnf/dnf.conf", tables.DNF),
    ("/etc/yum.repos.d/*.repo", tables.DNF),
    ("/etc/mission/mission.conf", tables.MISSION),
    ("/etc/mission/backup.conf", backup.judge),
    ("/etc/issue", banner.judge),
    ("/etc/issue.net", banner.judge),
    ("/etc/motd", banner.judge),
)
VENDOR: tuple[str, ...] = (*folders.VENDOR, *selinux.VENDOR)
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


def judge_of(path: str) -> Judge | Objection:
    """Return the judge for changes of `path`, or the objection if the path may not be changed."""
    if not path.startswith(_OWN):
        for pattern, judge in JUDGES:
            if fnmatchcase(path, pattern) and path.count("/") == pattern.count("/"):
                return judge
    for start, clause in _FORBIDDEN:
        if path.startswith(start):
            return Objection(clause, f"{path} is not ours to change.")
    return Objection("not understood", f"{path} is not among the files that this program changes.")
