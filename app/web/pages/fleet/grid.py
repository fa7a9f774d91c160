"""The grid of hosts by rules: one letter per cell, packed as two letters per character."""

import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from fastapi import Query

from app.store.host_rule_states import LEFT, NOTHING, OPEN, PASSED, PERSONS, SLIPPED, UNDONE, WORK
from app.web.deps import Words

LETTERS = NOTHING + OPEN + PASSED + UNDONE + PERSONS + LEFT + WORK + SLIPPED
WORDS = {
    WORK: "in progress",
    SLIPPED: "drifted",
    UNDONE: "undone",
    PERSONS: "needs review",
    OPEN: "open",
    LEFT: "deferred",
    PASSED: "passed",
    NOTHING: "unknown",
}
"""The label of each letter, in the order of the legend."""
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_BITS = bytes.maketrans(LETTERS.encode(), bytes(range(len(LETTERS))))
_DIGITS = bytes.maketrans(bytes(range(len(DIGITS))), DIGITS.encode())
SORTS = {"alarm": "alarms first", "open": "most open first", "passed": "most passed first", "name": "by name"}
SHOWN = {
    "": "all hosts",
    "alarm": "with an alarm",
    "work": "running",
    "person": "with items that need review",
    "slipped": "with drift",
    "open": "with open findings",
}


@dataclass(frozen=True)
class FleetLine:
    host: str
    letters: str
    """One letter for each column."""
    run: str = ""
    """The active run, else the newest."""
    state: str = ""
    """The state of that run."""
    alarm: str = ""
    """The host's problem in one sentence, or empty."""
    simulated: bool = False
    at: float = 0.0

    def count(self, letter: str) -> int:
        return self.letters.count(letter)

    @property
    def has_active_run(self) -> bool:
        return self.state in ("queued", "running", "paused")

    @cached_property
    def wire_text(self) -> str:
        """Host, run, state, alarm flag and packed cells, separated by tabs."""
        return "\t".join(
            (self.host, self.run, self.state, "!" if self.alarm else "", pack_letters_in_pairs(self.letters))
        )


@dataclass(frozen=True)
class FleetQuery:
    """The query string of the fleet page, so that a reload shows the same."""

    skill: Words = ""
    sort: Words = "alarm"
    show: Words = ""
    q: Words = ""
    columns: Words = "rule"
    table: Annotated[bool, Query()] = False
    page: Annotated[int, Query(ge=1, le=10_000)] = 1


_FILTERS: dict[str, Callable[[FleetLine], bool]] = {
    "alarm": lambda line: bool(line.alarm),
    "work": lambda line: line.has_active_run,
    "person": lambda line: PERSONS in line.letters,
    "slipped": lambda line: SLIPPED in line.letters,
    "open": lambda line: OPEN in line.letters or UNDONE in line.letters,
}


def pack_letters_in_pairs(letters: str) -> str:
    """Pack two letters into one character. It works on the line as one integer to avoid a loop over all cells."""
    bits = (letters + NOTHING if len(letters) % 2 else letters).encode().translate(_BITS)
    pairs = (int.from_bytes(bits[::2]) << 3) + int.from_bytes(bits[1::2])
    return pairs.to_bytes(len(bits) // 2).translate(_DIGITS).decode()


def find_rule_index_of_each_column(rules: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Return the index in `rules` of each column, or -1 if it is absent."""
    there = {rule: place for place, rule in enumerate(rules)}
    return [there.get(rule, -1) for rule in columns]


def reorder_letters(letters: str, letter_indexes: Sequence[int]) -> str:
    return "".join(map((letters + NOTHING).__getitem__, letter_indexes))


def count_cells(lines: Iterable[FleetLine]) -> dict[str, int]:
    found = dict.fromkeys(WORDS, 0)
    for line in lines:
        for letter in WORDS:
            found[letter] += line.count(letter)
    return found


def filter_and_sort_lines(
    lines: Sequence[FleetLine], fleet_query: FleetQuery, hosts_by_group: Mapping[str, Sequence[str]]
) -> list[FleetLine]:
    shows = _FILTERS.get(fleet_query.show)
    wanted = [line for line in lines if shows is None or shows(line)]
    if fleet_query.q:
        members = set(hosts_by_group.get(fleet_query.q, ()))
        like = fleet_query.q if any(sign in fleet_query.q for sign in "*?[") else f"*{fleet_query.q}*"
        wanted = [line for line in wanted if line.host in members or fnmatch.fnmatch(line.host, like)]
    return sorted(wanted, key=lambda line: (*_rank_line(line, fleet_query.sort), _get_natural_sort_key(line.host)))


def _rank_line(line: FleetLine, sort: str) -> tuple[int, ...]:
    left = line.count(OPEN) + line.count(UNDONE) + line.count(SLIPPED) + line.count(PERSONS) + line.count(LEFT)
    match sort:
        case "name":
            return ()
        case "open":
            return (-left,)
        case "passed":
            return (-line.count(PASSED), left)
        case _:
            return (not line.alarm, -line.count(SLIPPED), -line.count(PERSONS), not line.has_active_run, -left)


def _get_natural_sort_key(host: str) -> tuple[str, int, str]:
    """Sort key that puts web2 before web10."""
    stem = host.rstrip("0123456789")
    return stem, int(host[len(stem) :] or 0), host


def order_column_indexes_by_trouble(lines: Sequence[FleetLine], columns: Sequence[str]) -> list[int]:
    """Return column indexes, the rule that is open on most hosts first."""
    open_on = [0] * len(columns)
    for line in lines:
        for place, letter in enumerate(line.letters):
            if letter in (OPEN, UNDONE, PERSONS, SLIPPED):
                open_on[place] += 1
    return sorted(range(len(columns)), key=lambda place: (-open_on[place], place))
