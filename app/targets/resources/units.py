"""The policy for units: which may be stopped or disabled, and which must not be started."""

import re

from app.targets.resources.dry_run import NOT_FORESEEN, UNIT, DryRun
from app.targets.subjects.file_edit import Objection

_PROTECTED: tuple[tuple[str, str], ...] = (
    (r"sshd?(?:@.*)?|sshd?-.*|temper.*|user@.*", "protected identity"),
    (r"systemd-.*|dbus.*|init.*|rc.*|polkit.*|udev.*|kmod.*|procps|lvm2.*|dracut.*", "destruction"),
    (r"getty.*|serial-getty.*|console-.*|sssd.*|nslcd|winbind", "lockout"),
    (r"network.*|NetworkManager.*|ifup.*|wpa_supplicant.*|dhcp.*|resolvconf.*", "network"),
    (r"auditd?|audit-.*|rsyslog|syslog.*|aide.*|osqueryd?", "evidence tampering"),
    (
        r"firewalld|nftables|iptables|ufw|apparmor|fail2ban|usbguard|fapolicyd|chronyd?|ntp.*|dailyaidecheck",
        "weakening",
    ),
)
_UNWELCOME = re.compile(
    r"debug-shell|rescue|emergency|ctrl-alt-del|telnet.*|rsh.*|rlogin.*|rexec.*|a?tftpd?.*|vsftpd|proftpd|nis|ypserv"
    r"|ypbind|x?inetd|rpcbind.*|kdump|autofs|cups.*|avahi-.*|console-shell"
)
_OFF, _ON = ("disabled", "masked"), ("enabled", "unmasked")


def judge_units(foreseen: DryRun) -> Objection | None:
    for one in foreseen.states:
        if not one.name.startswith(UNIT) or one.after == NOT_FORESEEN:
            continue
        name, _, kind = one.name.removeprefix(UNIT).rpartition(".")
        (_, ran), (set_to, runs) = (state.split(" ", 1) for state in (one.before, one.after))
        if (runs == "active" != ran or set_to in _ON) and _UNWELCOME.fullmatch(name):
            return Objection("weakening", f"{name}.{kind} would run, and it is among what hardening takes away.")
        if (runs == "inactive" != ran) or set_to in _OFF:
            if kind == "mount":
                return Objection("destruction", f"{name}.{kind}: what is mounted stays mounted.")
            for pattern, clause in _PROTECTED:
                if re.fullmatch(pattern, name):
                    return Objection(clause, f"{name}.{kind} would not run any more, and it is protected.")
    return None
