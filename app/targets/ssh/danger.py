"""Which changes could keep everybody out, and what must be told of a change before it counts."""

from collections.abc import Iterable

from app.events.words import AnyAction, Reload

SECONDS = 120
"""Until the host takes a change back by itself, unless a new login said that it can stay."""

_CUTTING = (
    "/etc/ssh/",
    "/etc/crypto-policies/",
    "/etc/pam.d/",
    "/etc/security/",
    "/etc/sudoers",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/gshadow",
    "/etc/login.defs",
    "/etc/nologin",
    "/etc/profile",
    "/etc/bashrc",
    "/etc/bash.bashrc",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/etc/network/",
    "/etc/netplan/",
    "/etc/NetworkManager/",
    "/etc/systemd/",
    "/etc/sysconfig/",
    "/etc/sysctl",
    "/etc/modprobe.d/",
    "/etc/nftables",
    "/etc/firewalld/",
    "/etc/selinux/",
)
_OF_SSHD = ("/etc/ssh/", "/etc/crypto-policies/")


def can_cut(paths: Iterable[str]) -> bool:
    return any(path.startswith(_CUTTING) for path in paths)


def services(paths: Iterable[str], actions: Iterable[AnyAction] = ()) -> tuple[str, ...]:
    """To be reloaded, each once, sshd last: a change that nobody reads yet proves nothing."""
    asked = {one.service.removesuffix(".service") for one in actions if isinstance(one, Reload)}
    if any(path.startswith(_OF_SSHD) for path in paths):
        asked.add("sshd")
    return tuple(sorted(asked, key=lambda service: (service == "sshd", service)))
