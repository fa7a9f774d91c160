"""Chooses test connections: one for every combination of Match blocks that can apply together."""

import itertools
from collections.abc import Callable, Iterable, Sequence

from app.syntax.sshd import SshdConfig
from app.syntax.sshd_match import ATTRIBUTES, ConnectionSpec, Network, matches_conditions, parse_network
from app.targets.host_accounts import HostAccounts

NO_PORT = "65534"
"""A port that no Match line names; sshd needs one to evaluate LocalPort."""
ANYBODY = "somebody-else"
_MOST = 20_000
"""Limit on combinations. Few candidates per attribute remain, since equal ones are merged."""
_OTHERS = {"host": "elsewhere.invalid", "address": "198.18.0.1", "localaddress": "198.18.0.2", "localport": NO_PORT}

Values = dict[str, object]


def list_connection_per_match_combination(
    configs: Sequence[SshdConfig], accounts: HostAccounts
) -> dict[str, ConnectionSpec]:
    """Return a connection for each label, such as "address 192.168.0.0/16"; the label "" matches no block."""
    blocks = list(dict.fromkeys(block.conditions for config in configs for block in config.matches if block.conditions))
    asked = list(dict.fromkeys(condition for block in blocks for condition in block))
    found = {"": ConnectionSpec()}
    varied = _list_varied_attributes(asked)
    ways = [_keep_distinct(_list_candidates(attribute, asked, accounts), asked) for attribute in varied]
    for parts in itertools.islice(itertools.product(*ways), _MOST):
        who = ConnectionSpec(**{name: value for part in parts for name, value in part.items()})  # type: ignore[arg-type]
        met = [block for block in blocks if matches_conditions(block, who)]
        if met:
            found.setdefault(" and ".join(" ".join(map(" ".join, block)) for block in met), who)
    return found


def _list_varied_attributes(conditions: Sequence[tuple[str, str]]) -> list[str]:
    """Return the attributes to vary; user and group vary together."""
    named = {"user" if attribute == "group" else attribute for attribute, _value in conditions}
    return sorted({name if name in ATTRIBUTES else "also" for name in named})


def _keep_distinct(candidates: Iterable[Values], conditions: Sequence[tuple[str, str]]) -> list[Values]:
    """Keep one candidate for each set of conditions that it meets."""
    found: dict[tuple[bool, ...], Values] = {}
    for values in candidates:
        who = ConnectionSpec(**values)  # type: ignore[arg-type]
        found.setdefault(tuple(matches_conditions((one,), who) for one in conditions), values)
    return list(found.values())


def _list_candidates(attribute: str, conditions: Sequence[tuple[str, str]], accounts: HostAccounts) -> list[Values]:
    written = [value for name, value in conditions if name == attribute]
    if attribute == "also":
        unknown = [one for one in conditions if one[0] not in ATTRIBUTES]
        return [{"also": some} for some in ((), *((one,) for one in unknown), tuple(unknown))]
    if attribute == "user":
        return _list_user_candidates(written, [value for name, value in conditions if name == "group"], accounts)
    if attribute in ("address", "localaddress"):
        return [{attribute: one} for one in (_OTHERS[attribute], *_list_boundary_addresses(written))]
    return [{attribute: one} for one in (_OTHERS.get(attribute, ANYBODY), *_list_matching_names(written))]


def _list_user_candidates(
    user_patterns: Sequence[str], group_patterns: Sequence[str], accounts: HostAccounts
) -> list[Values]:
    """Return users to try; existing accounts first, because sshd can be queried about those."""
    known: list[Values] = [{"user": one.name, "groups": accounts.list_groups(one.name)} for one in accounts.accounts]
    names = _list_matching_names(group_patterns)
    belongs = [frozenset[str](), *(frozenset({group}) for group in names), frozenset(names)]
    might: list[Values] = [
        {"user": name, "groups": some}
        for name in (ANYBODY, *_list_matching_names(user_patterns))
        for some in dict.fromkeys(belongs)
    ]
    return [*known, *might]


def _list_matching_names(pattern_lists: Sequence[str]) -> list[str]:
    """Return names that match one pattern, or two of them at once."""
    patterns = list(dict.fromkeys(one.removeprefix("!") for value in pattern_lists for one in value.split(",")))
    plain = [_fill_pattern(pattern, "x", "x") for pattern in patterns]
    open_ones = [pattern for pattern in patterns if "*" in pattern]
    both = [_fill_pattern(one, _fill_pattern(other, "", "x"), "x") for one in open_ones for other in patterns]
    return [name for name in dict.fromkeys((*plain, *both)) if name]


def _fill_pattern(pattern: str, any_text: str, one_character: str) -> str:
    return pattern.replace("*", any_text).replace("?", one_character)


def _list_boundary_addresses(pattern_lists: Sequence[str]) -> list[str]:
    """Return the first and last address of each network and the one after it, which covers every region."""
    patterns = [one.removeprefix("!") for value in pattern_lists for one in value.split(",")]
    networks = [network for network in map(parse_network, patterns) if network]
    named = [_fill_pattern(pattern, "1", "1") for pattern in patterns if parse_network(pattern) is None]
    ends: list[Callable[[Network], object]] = [lambda one: one[0], lambda one: one[-1] + 1, lambda one: one[-1]]
    found = []
    for network, end in itertools.product(networks, ends):
        try:
            found.append(str(end(network)))
        except ValueError:
            continue  # No address follows the last one.
    return [*found, *named]
