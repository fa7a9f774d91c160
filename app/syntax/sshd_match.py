"""Match lines of sshd_config, compared as in sshd: patterns know only * and ?."""

import ipaddress
from dataclasses import dataclass
from functools import lru_cache

from app.syntax.host_text import fold_case, parse_natural_number
from app.syntax.sshd_line import split_first_word

Conditions = tuple[tuple[str, str], ...]
"""All must hold: ("user", "bob,!root"). Empty is `Match all`."""

ATTRIBUTES = ("user", "group", "host", "address", "localaddress", "localport", "rdomain")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_MOST_PORTS = 65535


@dataclass(frozen=True)
class ConnectionSpec:
    """A connection: user, source and local end, as for `sshd -C`."""

    user: str = ""
    groups: frozenset[str] = frozenset()
    host: str = ""
    address: str = ""
    localaddress: str = ""
    localport: str = ""
    rdomain: str = ""
    also: Conditions = ()
    """Criteria of later sshd versions that hold."""


def parse_conditions_with_fault(rest: str) -> tuple[Conditions, str]:
    """Return the conditions of a Match line, and why sshd would reject it; empty if it would not."""
    found: list[tuple[str, str]] = []
    left: str | None = rest
    while left:
        word, left = split_first_word(left)
        if not word or word.startswith("#"):
            break
        value, left = (None, None) if left is None else split_first_word(left)
        missing = not value or value.startswith("#")
        if fold_case(word) == "all":
            alone = not found and missing
            return (), "" if alone else "Match: all stands with another criterion"
        if value is None or missing:
            return tuple(found), f"Match: the criterion {word!a} has no value"
        if fold_case(word) not in ATTRIBUTES:
            return (*found, (fold_case(word), value)), f"Match: sshd does not know the criterion {word!a}"
        found.append((fold_case(word), value))
    return tuple(found), _describe_fault(found)


def _describe_fault(conditions: list[tuple[str, str]]) -> str:
    if not conditions:
        return "Match: no criterion can be read"
    for attribute, value in conditions:
        if attribute == "localport" and (parse_natural_number(value) or 0) > _MOST_PORTS:
            return f"Match: {value!a} is no port"
        if attribute in ("address", "localaddress") and any(_has_host_bits(one) for one in value.split(",")):
            return f"Match: {value!a} has bits behind its mask"
    return ""


def matches_conditions(conditions: Conditions, connection: ConnectionSpec) -> bool:
    return all(_is_condition_met(attribute, value, connection) for attribute, value in conditions)


def _is_condition_met(attribute: str, value: str, connection: ConnectionSpec) -> bool:
    match attribute:
        case "user":
            return bool(connection.user) and get_pattern_match_sign(value, connection.user) == 1
        case "group":
            return is_group_listed(value, connection.groups)
        case "host":
            return bool(connection.host) and get_pattern_match_sign(fold_case(value), fold_case(connection.host)) == 1
        case "address":
            return bool(connection.address) and is_address_listed(value, connection.address)
        case "localaddress":
            return bool(connection.localaddress) and is_address_listed(value, connection.localaddress)
        case "localport":
            wanted, given = (parse_natural_number(port) or port for port in (value, connection.localport))
            return bool(given) and wanted == given
        case "rdomain":
            return bool(connection.rdomain) and get_pattern_match_sign(value, connection.rdomain) == 1
    return (attribute, value) in connection.also


def get_pattern_match_sign(patterns: str, name: str) -> int:
    """Return 1 if a pattern matches, -1 if a negated one does, else 0."""
    found = 0
    for pattern in patterns.split(","):
        if pattern.startswith("!"):
            if matches_single_pattern(pattern[1:], name):
                return -1
        elif matches_single_pattern(pattern, name):
            found = 1
    return found


def is_group_listed(patterns: str, groups: frozenset[str]) -> bool:
    verdicts = {get_pattern_match_sign(patterns, group) for group in groups}
    return 1 in verdicts and -1 not in verdicts


def is_address_listed(patterns: str, address: str) -> bool:
    found = False
    for written in patterns.split(","):
        pattern = written.removeprefix("!")
        network = parse_network(pattern)
        here = _is_inside(address, network) if network else matches_single_pattern(pattern, address)
        if here and written.startswith("!"):
            return False
        found = found or here
    return found


def matches_single_pattern(pattern: str, name: str) -> bool:
    """Return True if the name matches. No regular expression: many stars must not take exponential time."""
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
def parse_network(pattern: str) -> Network | None:
    """Return the network of an address with an optional mask; None for anything else, which is a pattern."""
    address, slash, bits = pattern.partition("/")
    if slash and parse_natural_number(bits) is None:
        return None
    try:
        return ipaddress.ip_network(pattern if slash else address)
    except ValueError:
        return None


def _is_inside(address: str, network: Network) -> bool:
    try:
        return ipaddress.ip_address(address) in network
    except ValueError:
        return False


def _has_host_bits(pattern: str) -> bool:
    """Return True if address bits lie behind the mask, which makes sshd exit."""
    written = pattern.removeprefix("!")
    try:
        ipaddress.ip_network(written, strict=False)
    except ValueError:
        return False
    return parse_network(written) is None
