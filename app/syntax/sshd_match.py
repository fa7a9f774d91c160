"""Which connections a Match line means. Compared as sshd compares: patterns know * and ? and nothing else."""

import ipaddress
from dataclasses import dataclass
from functools import lru_cache

from app.syntax.source import fold, number
from app.syntax.sshd_line import delimited

Conditions = tuple[tuple[str, str], ...]
"""All have to hold: ("user", "bob,!root"). None at all is `Match all`."""

ATTRIBUTES = ("user", "group", "host", "address", "localaddress", "localport", "rdomain")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_MOST_PORTS = 65535


@dataclass(frozen=True)
class SshdVisitor:
    """Who comes from where to which door."""

    user: str = ""
    groups: frozenset[str] = frozenset()
    host: str = ""
    address: str = ""
    localaddress: str = ""
    localport: str = ""
    rdomain: str = ""
    also: Conditions = ()
    """Criteria that only a later sshd knows, and that hold."""


def conditions(rest: str) -> tuple[Conditions, str]:
    """What a Match line asks for, and why sshd would refuse the line: empty where it would not."""
    found: list[tuple[str, str]] = []
    left: str | None = rest
    while left:
        word, left = delimited(left)
        if not word or word.startswith("#"):
            break
        value, left = (None, None) if left is None else delimited(left)
        missing = not value or value.startswith("#")
        if fold(word) == "all":
            alone = not found and missing
            return (), "" if alone else "Match: all stands with another criterion"
        if value is None or missing:
            return tuple(found), f"Match: the criterion {word!a} has no value"
        if fold(word) not in ATTRIBUTES:
            return (*found, (fold(word), value)), f"Match: sshd does not know the criterion {word!a}"
        found.append((fold(word), value))
    return tuple(found), _fault(found)


def _fault(found: list[tuple[str, str]]) -> str:
    if not found:
        return "Match: no criterion can be read"
    for attribute, value in found:
        if attribute == "localport" and (number(value) or 0) > _MOST_PORTS:
            return f"Match: {value!a} is no port"
        if attribute in ("address", "localaddress") and any(_is_askew(one) for one in value.split(",")):
            return f"Match: {value!a} has bits behind its mask"
    return ""


def fits(asked: Conditions, who: SshdVisitor) -> bool:
    return all(_holds(attribute, value, who) for attribute, value in asked)


def _holds(attribute: str, value: str, who: SshdVisitor) -> bool:
    match attribute:
        case "user":
            return bool(who.user) and listed(value, who.user) == 1
        case "group":
            return group_listed(value, who.groups)
        case "host":
            return bool(who.host) and listed(fold(value), fold(who.host)) == 1
        case "address":
            return bool(who.address) and address_listed(value, who.address)
        case "localaddress":
            return bool(who.localaddress) and address_listed(value, who.localaddress)
        case "localport":
            return bool(who.localport) and (number(value) or value) == (number(who.localport) or who.localport)
        case "rdomain":
            return bool(who.rdomain) and listed(value, who.rdomain) == 1
    return (attribute, value) in who.also


def listed(patterns: str, name: str) -> int:
    """1 where one fits, -1 where one behind an exclamation mark does, else 0."""
    found = 0
    for pattern in patterns.split(","):
        if pattern.startswith("!"):
            if like(pattern[1:], name):
                return -1
        elif like(pattern, name):
            found = 1
    return found


def group_listed(patterns: str, groups: frozenset[str]) -> bool:
    verdicts = {listed(patterns, group) for group in groups}
    return 1 in verdicts and -1 not in verdicts


def address_listed(patterns: str, address: str) -> bool:
    found = False
    for written in patterns.split(","):
        pattern = written.removeprefix("!")
        network = net(pattern)
        here = _inside(address, network) if network else like(pattern, address)
        if here and written.startswith("!"):
            return False
        found = found or here
    return found


def like(pattern: str, name: str) -> bool:
    """Without a regular expression: a pattern of many stars must not take for ever."""
    at = seen = 0
    star, held = -1, 0
    while seen < len(name):
        if pattern[at : at + 1] == "*":
            star, held = at, seen
            at += 1
        elif pattern[at : at + 1] in ("?", name[seen]):
            at, seen = at + 1, seen + 1
        elif star >= 0:
            held += 1
            at, seen = star + 1, held
        else:
            return False
    return not pattern[at:].strip("*")


@lru_cache(maxsize=1024)
def net(pattern: str) -> Network | None:
    """An address with or without a mask; None of anything else, which is then a pattern."""
    address, slash, bits = pattern.partition("/")
    if slash and number(bits) is None:
        return None
    try:
        return ipaddress.ip_network(pattern if slash else address)
    except ValueError:
        return None


def _inside(address: str, network: Network) -> bool:
    try:
        return ipaddress.ip_address(address) in network
    except ValueError:
        return False


def _is_askew(pattern: str) -> bool:
    """A mask that is shorter than the address; sshd ends at such a line."""
    written = pattern.removeprefix("!")
    try:
        ipaddress.ip_network(written, strict=False)
    except ValueError:
        return False
    return net(written) is None
