"""How the fleet stands, kept in memory: what a transaction changed since is all that is read anew."""

import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlmodel import Session, col, select

from app.errors import TemperError
from app.runs.rollout.chosen import known_hosts
from app.runs.rollout.decide import harm_of
from app.skills.catalog import skill
from app.store import queries
from app.store.models import RunRow
from app.store.standing import StandingRow, cells_of
from app.web.pages.fleet.picture import FleetLine, letters_of

MANY = 500
"""Hosts beyond which all are read rather than named one by one."""


@dataclass
class FleetBoard:
    """Of one skill. Asked from many threads."""

    skill: str
    epoch: str = field(default_factory=lambda: secrets.token_hex(3))
    """A page that was made by an earlier process holds another."""
    version: int = 0
    columns: list[str] = field(default_factory=list)
    """Rules, in the skill's order; what it does not know comes after."""
    lines: dict[str, FleetLine] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    """Host to the version in which its line is new."""
    _cells: dict[str, dict[str, str]] = field(default_factory=dict)
    _seen: dict[str, tuple[str, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, session: Session, hosts: Path) -> None:
        """Take in what is new; whoever comes meanwhile waits for the same look."""
        with self._lock:
            fresh = self._fresh(session)
            if fresh:
                self._columns(fresh)
            working = {run.host: run for run in reversed(queries.unended(session))}
            newest = {run.host: run for run in queries.newest_of_each_host(session)}
            lines = {
                host: self._line(host, working.get(host), newest.get(host))
                for host in dict.fromkeys([*self._cells, *known_hosts(hosts)])
            }
            new = [host for host, line in lines.items() if self.lines.get(host) != line]
            if new or len(lines) != len(self.lines):
                self.version += 1
                self.changed |= dict.fromkeys(new, self.version)
            self.lines = lines

    def since(self, version: int) -> list[FleetLine]:
        return [line for host, line in self.lines.items() if self.changed.get(host, 0) > version]

    def _fresh(self, session: Session) -> Sequence[StandingRow]:
        """Rows that were written since the last look: a few bytes a host are read to know which."""
        heads = session.execute(
            select(StandingRow.host, StandingRow.run, StandingRow.at).where(StandingRow.skill == self.skill)
        ).all()
        for gone in self._cells.keys() - {host for host, _, _ in heads}:
            del self._cells[gone], self._seen[gone]
        new = [host for host, run, at in heads if self._seen.get(host) != (run, at)]
        if not new:
            return ()
        query = select(StandingRow).where(StandingRow.skill == self.skill)
        few = query.where(col(StandingRow.host).in_(new)) if len(new) < MANY else query
        rows = session.exec(few).all()
        for row in rows:
            self._cells[row.host], self._seen[row.host] = cells_of(row), (row.run, row.at)
            session.expunge(row)
        return rows

    def _columns(self, fresh: Sequence[StandingRow]) -> None:
        """Where a rule is new, every line is drawn anew."""
        known = set(self.columns)
        new = [rule for row in fresh for rule in self._cells[row.host] if rule not in known]
        if new:
            there = dict.fromkeys([*self.columns, *new])
            first = [rule for rule in _order(self.skill) if rule in there]
            self.columns = [*first, *sorted(there.keys() - set(first))]

    def _line(self, host: str, working: RunRow | None, newest: RunRow | None) -> FleetLine:
        run, before = working or newest, self.lines.get(host)
        at = self._seen.get(host, ("", 0.0))[1]
        alarm = _alarm(newest) if newest else ""
        if before and before.at == at and len(before.letters) == len(self.columns):
            letters = before.letters
        else:
            letters = letters_of(self._cells.get(host, {}), self.columns)
        return FleetLine(
            host,
            letters,
            run=run.id if run else "",
            state=run.state if run else "",
            alarm=alarm,
            simulated=bool(run and run.simulated),
            at=at,
        )


def _alarm(run: RunRow) -> str:
    if harm := harm_of(run):
        return harm
    return f"{run.drifted} rules that held have slipped" if run.drifted else ""


def _order(name: str) -> Sequence[str]:
    """None where the content that the rules came from is gone from this machine."""
    try:
        return tuple(skill(name).rules)
    except TemperError:
        return ()


def titles(name: str) -> Mapping[str, str]:
    try:
        return {rule.id: rule.title for rule in skill(name).rules.values()}
    except TemperError:
        return {}


def only_of(lines: Mapping[str, FleetLine], hosts: Sequence[str]) -> list[FleetLine]:
    """A host that nothing is known of has a line all the same."""
    width = max((len(line.letters) for line in lines.values()), default=0)
    return [lines.get(host) or FleetLine(host, "." * width) for host in hosts]
