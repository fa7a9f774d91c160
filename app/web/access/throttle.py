"""Guessing passwords is slow, and guessing somebody else's keeps nobody out."""

import ipaddress
from dataclasses import dataclass

OF_BROWSER, OF_PLACE, OF_SOURCE, OF_NAME = 10, 5, 5, 30


@dataclass(frozen=True)
class CountedBy:
    """What a try is counted by."""

    limits: dict[str, int]
    """Tries that each key takes, within the time that they are counted in."""
    stranger: bool


def lane(name: str, source: str, *, browser: str, known: bool) -> CountedBy:
    """`browser` is the id of a cookie that this person's browser was given, `known` an address that they came in from.

    Each has a count of its own: those who never came in here as this person can use up theirs and nobody else's.
    """
    place = network(source)
    if browser:
        return CountedBy({f"browser {browser}": OF_BROWSER}, stranger=False)
    if known:
        return CountedBy({f"name {name} from {place}": OF_PLACE}, stranger=False)
    return CountedBy({f"from {place}": OF_SOURCE, f"name {name}": OF_NAME}, stranger=True)


def network(source: str) -> str:
    """Whoever has one address of version 6 has 2^64 of them."""
    try:
        address = ipaddress.ip_address(source)
    except ValueError:
        return "somewhere"
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))
