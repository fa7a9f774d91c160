"""Limits on sign-in attempts: guessing is slow, and guessing another person's password does not lock them out."""

import ipaddress
from dataclasses import dataclass

TRIES_PER_BROWSER, TRIES_PER_KNOWN_NETWORK, TRIES_PER_NETWORK, TRIES_PER_NAME = 10, 5, 5, 30


@dataclass(frozen=True)
class LoginLimits:
    """The counters that an attempt counts against."""

    limits: dict[str, int]
    """Counter key to allowed attempts per window."""
    stranger: bool


def choose_login_limits(name: str, source: str, *, browser: str, known: bool) -> LoginLimits:
    """Choose the counters of a sign-in attempt.

    `browser`: id of a cookie that this person's browser holds. `known`: the person signed in from this network before.
    Each has its own counter, so strangers can only use up their own."""
    place = to_network_key(source)
    if browser:
        return LoginLimits({f"browser {browser}": TRIES_PER_BROWSER}, stranger=False)
    if known:
        return LoginLimits({f"name {name} from {place}": TRIES_PER_KNOWN_NETWORK}, stranger=False)
    return LoginLimits({f"from {place}": TRIES_PER_NETWORK, f"name {name}": TRIES_PER_NAME}, stranger=True)


def to_network_key(source: str) -> str:
    """Return the IPv4 address or the IPv6 /64 network, since one IPv6 client has 2^64 addresses."""
    try:
        address = ipaddress.ip_address(source)
    except ValueError:
        return "somewhere"
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))
