"""The state of the fleet in memory; each read loads only the rows that changed."""

import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

from sqlmodel import Session, col, select

from app.errors import TemperError
from app.runs.rollout.named_host_groups_and_selection import list_added_else_builtin_hosts
from app.runs.rollout.next_rollout_step import describe_harm_or_failure
from app.skills.catalog import load_skill
from app.store import run_queries
from app.store.host_rule_states import StandingRow, decode_encoded_cells_by_rule
from app.store.models import RunRow
from app.web.pages.fleet.grid import FleetLine, find_rule_index_of_each_column, reorder_letters

_STANDING = col(StandingRow.host), col(StandingRow.run), col(StandingRow.at), col(StandingRow.cells)
_LETTER = itemgetter(0)
MANY = 500
"""If more hosts changed, the query reads all rows instead of listing hosts."""


@dataclass
class FleetBoard:
    """Hosts by rules for one skill. Thread-safe."""

    skill: str
    epoch: str = field(default_factory=lambda: secrets.token_hex(3))
    """Differs in each process, so that a page from an earlier process is detected."""
    version: int = 0
    columns: list[str] = field(default_factory=list)
    """Rules in the skill's order, then rules that the skill does not have."""
    lines: dict[str, FleetLine] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    """Host to the version in which its line last changed."""
    _cells: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    """Host to its scanned rules and one letter for each. Hosts with equal rules share one tuple."""
    _rules: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    _places: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    """Scanned rules to the index of each column's letter."""
    _seen: dict[str, tuple[str, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read_changes(self, session: Session, hosts_folder: Path) -> None:
        """Load the changes since the last read and rebuild the lines. Concurrent callers wait for the lock."""
        with self._lock:
            self._add_columns(self._update_cells_and_list_changed_hosts_rulesets(session))
            working = {run.host: run for run in reversed(run_queries.list_unended_runs(session))}
            newest = {run.host: run for run in run_queries.list_hosts_newest_started_runs(session)}
            lines = {
                host: self._build_line(host, working.get(host), newest.get(host))
                for host in dict.fromkeys([*self._cells, *list_added_else_builtin_hosts(hosts_folder)])
            }
            new = [host for host, line in lines.items() if self.lines.get(host) != line]
            if new or len(lines) != len(self.lines):
                self.version += 1
                self.changed |= dict.fromkeys(new, self.version)
            changed = set(new)
            # An unchanged line keeps its object, and with it the cached wire text.
            self.lines = {host: line if host in changed else self.lines[host] for host, line in lines.items()}

    def list_changed_since(self, version: int) -> list[FleetLine]:
        return [line for host, line in self.lines.items() if self.changed.get(host, 0) > version]

    def _update_cells_and_list_changed_hosts_rulesets(self, session: Session) -> Iterable[tuple[str, ...]]:
        """Load the rows that changed since the last read, found by comparing keys. Return their rule sets."""
        keys = select(StandingRow.host, StandingRow.run, StandingRow.at).where(StandingRow.skill == self.skill)
        heads = session.execute(keys).all()
        for gone in self._cells.keys() - {host for host, _, _ in heads}:
            del self._cells[gone], self._seen[gone]
        new = [host for host, run, at in heads if self._seen.get(host) != (run, at)]
        if not new:
            return ()
        query = select(*_STANDING).where(StandingRow.skill == self.skill)
        few = query.where(col(StandingRow.host).in_(new)) if len(new) < MANY else query
        if len(self._rules) > MANY:
            self._rules, self._places = {rules: rules for rules, _ in self._cells.values()}, {}
        found = {}
        for host, run, at, cells in session.execute(few):
            told = decode_encoded_cells_by_rule(cells)
            rules = self._rules.setdefault(tuple(told), tuple(told))
            self._cells[host] = rules, "".join(map(_LETTER, told.values()))
            self._seen[host] = run, at
            found[rules] = rules
        return found

    def _add_columns(self, rule_sets: Iterable[tuple[str, ...]]) -> None:
        """Add columns for new rules. New columns invalidate the cached positions of every line."""
        there = set(self.columns).union(*rule_sets)
        if len(there) > len(self.columns):
            first = [rule for rule in read_rule_titles(self.skill) if rule in there]
            self.columns = [*first, *sorted(there - set(first))]
            self._places = {}

    def _build_line(self, host: str, working: RunRow | None, newest: RunRow | None) -> FleetLine:
        run, before = working or newest, self.lines.get(host)
        at = self._seen.get(host, ("", 0.0))[1]
        alarm = _describe_harm_failure_or_drift(newest) if newest else ""
        if before and before.at == at and len(before.letters) == len(self.columns):
            letters = before.letters
        else:
            rules, letters = self._cells.get(host, ((), ""))
            if rules not in self._places:
                self._places[rules] = find_rule_index_of_each_column(rules, self.columns)
            letters = reorder_letters(letters, self._places[rules])
        if run is None:
            return FleetLine(host, letters, at=at)
        return FleetLine(host, letters, run.id, run.state, alarm, run.simulated, at)


def _describe_harm_failure_or_drift(run: RunRow) -> str:
    if harm := describe_harm_or_failure(run):
        return harm
    return f"{run.drifted} rule{'s' if run.drifted != 1 else ''} drifted" if run.drifted else ""


def read_rule_titles(skill: str) -> Mapping[str, str]:
    """Return the skill's rules in order; empty if its content is no longer on this machine."""
    try:
        return {rule.id: rule.title for rule in load_skill(skill).rules.values()}
    except TemperError:
        return {}


def select_lines_or_blanks(lines: Mapping[str, FleetLine], hosts: Sequence[str]) -> list[FleetLine]:
    """Return the lines of these hosts; a host without results gets an empty line."""
    width = max((len(line.letters) for line in lines.values()), default=0)
    return [lines.get(host) or FleetLine(host, "." * width) for host in hosts]
