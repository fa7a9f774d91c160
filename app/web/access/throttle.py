"""Limits on sign-in attempts: guessing is slow, and guessing another person's password does not lock them out."""

import ipaddress
from dataclasses import dataclass

OF_BROWSER, OF_PLACE, OF_SOURCE, OF_NAME = 10, 5, 5, 30


@dataclass(frozen=True)
class CountedBy:
    """The counters that an attempt counts against."""

    limits: dict[str, int]
    """Counter key to allowed attempts per window."""
    stranger: bool


def lane(name: str, source: str, *, browser: str, known: bool) -> CountedBy:
    """Choose the counters of a sign-in attempt.

    `browser`: id of a cookie that this person's browser holds. `known`: the person signed in from this network before.
    Each has its own counter, so strangers can only use up their own."""
    place = network(source)
    if browser:
        return CountedBy({f"browser {browser}": OF_BROWSER}, stranger=False)
    if known:
        return CountedBy({f"name {name} from {place}": OF_PLACE}, stranger=False)
    return CountedBy({f"from {place}": OF_SOURCE, f"name {name}": OF_NAME}, stranger=True)


def network(source: str) -> str:
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
