"""The policy for packages: which may be installed, and which must never be removed."""

import re
from collections.abc import Iterator

from app.targets.resources.dry_run import INSTALLED, PACKAGE, DryRun, ResourceState
from app.targets.subjects.file_edit import Objection

MOST_COMING = 20
"""The most packages that one change may install. More is for a person to decide."""
_PROTECTED: tuple[tuple[str, str], ...] = (
    (r"openssh-.*|ssh|libwrap.*", "protected identity"),
    (r"sudo.*|passwd|login|shadow-utils|util-linux.*|libpam.*|pam|libpwquality.*|authselect.*|sssd.*", "lockout"),
    (r"systemd.*|dbus.*|init|sysvinit.*|dracut.*|initramfs-tools.*|grub.*|shim.*", "destruction"),
    (r"linux-(?:image|base|modules).*|kernel.*|libc6|glibc.*|base-(?:files|passwd)|setup|filesystem", "destruction"),
    (r"dpkg.*|apt|libapt-.*|rpm.*|dnf.*|yum.*|debconf|coreutils.*|tar|sed|grep|dash|bash|mawk|gawk", "destruction"),
    (r"ifupdown.*|isc-dhcp-client|netplan.*|NetworkManager.*|network-manager.*|iproute.*|resolvconf", "network"),
    (r"firewalld|nftables|iptables.*|ufw", "weakening"),
    (r"audit.*|libaudit.*|rsyslog.*|aide.*|openscap.*|libopenscap.*|scap-security-guide|ssg-.*", "evidence tampering"),
    (r"selinux-.*|libselinux.*|apparmor.*|fail2ban|usbguard|fapolicyd", "weakening"),
)
"""Packages that are never removed: they provide login, boot, logging or rollback."""
_UNWELCOME = re.compile(
    r"(?:inetutils-|krb5-)?telnetd?(?:-.*)?|telnet-server|rsh-.*|nis|ypserv|ypbind|(?:a?tftpd?|vsftpd|proftpd)(?:-.*)?"
    r"|(?:x|openbsd-|inetutils-)inetd|talkd?|sendmail.*|netcat.*|nmap.*|gdb|strace|.*-dbg(?:sym)?"
)
"""Packages that hardening removes are not installed."""


def judge_packages(foreseen: DryRun) -> Objection | None:
    packages = [one for one in foreseen.states if one.name.startswith(PACKAGE)]
    coming = sum(map(_is_new, packages))
    if coming > MOST_COMING:
        return Objection("too much", f"{coming} packages would come; one change may bring {MOST_COMING}.")
    return next((found for one in packages for found in _find_objections(one, foreseen.needed)), None)


def _find_objections(one: ResourceState, needed: frozenset[str]) -> Iterator[Objection]:
    name = one.name.removeprefix(PACKAGE)
    if _is_new(one):
        if _UNWELCOME.fullmatch(name):
            yield Objection("weakening", f"{name} would come, and it is among what hardening takes away.")
    elif one.after.startswith(INSTALLED):
        yield Objection("too much", f"{name} would become another version: an upgrade is a person's to order.")
    elif one.name in needed:
        yield Objection("protected identity", f"{name} would go, and this program or its probes work with it.")
    else:
        for pattern, clause in _PROTECTED:
            if re.fullmatch(pattern, name):
                yield Objection(clause, f"{name} would go, and it is protected.")


def _is_new(one: ResourceState) -> bool:
    return one.after.startswith(INSTALLED) and not one.before.startswith(INSTALLED)
