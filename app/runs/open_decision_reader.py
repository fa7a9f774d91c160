"""Reads what waits for a person from the database. Of hosts, only those that changed since the last read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Literal

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from app.errors import TemperError
from app.events.kinds import ItemDeferred, ItemEscalated, RunQueued
from app.events.record import select_events
from app.loop.run_skill_loader import load_skill_with_run_parameters
from app.loop.state import RunState
from app.runs.open_decisions import InboxSources, LeftFinding, OpenDecision, list_decisions
from app.skills.catalog import load_skill
from app.skills.skill import Rule
from app.store import attention_queries, rollouts, run_queries, waivers
from app.store.host_groups import read_groups
from app.store.host_rule_states import LEFT, PERSONS, UNDONE, StandingRow, decode_encoded_cells_by_rule, parse_cell
from app.store.session_shared_within_request import open_read_session

_Key = tuple[str, str]
"""Host and skill."""


class DecisionReader:
    """One per process. Thread-safe."""

    def __init__(self, database: Engine, read_state: Callable[[str], RunState], now: Callable[[], float]) -> None:
        self._database, self._read_state, self._now = database, read_state, now
        self._findings: dict[_Key, tuple[tuple[str, float], tuple[LeftFinding, ...]]] = {}
        """What the roles left on each host, with run and time of the standing that said so."""
        self._lock = Lock()
        self.last_count = 0
        """The number of decisions at the last read."""

    def list_decisions(self) -> list[OpenDecision]:
        with open_read_session(self._database) as session:
            found = list_decisions(self._read_inbox_sources(session))
        self.last_count = len(found)
        return found

    def find_decision(self, decision_id: str) -> OpenDecision | None:
        return next((one for one in self.list_decisions() if one.id == decision_id), None)

    def _read_inbox_sources(self, session: Session) -> InboxSources:
        unended, paused = rollouts.list_unended_rollouts(session), attention_queries.list_paused_runs(session)
        held = [row.id for row in unended if row.state == "paused"]
        return InboxSources(
            now=self._now(),
            asking=[
                self._read_run_and_asked_rule(run) for run in attention_queries.list_run_ids_awaiting_approval(session)
            ],
            findings=self._read_findings(session),
            in_work=_map_hosts_to_rules_of_unended_runs(session),
            waivers=waivers.list_waivers(session),
            groups=read_groups(session),
            rollouts=unended,
            paused_rollouts=attention_queries.read_newest_events(session, held, "rollout.paused"),
            failed=run_queries.list_hosts_newest_started_runs(session, "failed"),
            paused=paused,
            paused_runs=attention_queries.read_newest_events(session, [row.id for row in paused], "run.paused"),
        )

    def _read_run_and_asked_rule(self, run: str) -> tuple[RunState, Rule | None]:
        state = self._read_state(run)
        asked = state.attempt.approval if state.attempt and state.subject_awaiting_approval is state.attempt else None
        return state, _find_rule_of_run(state, asked.rule) if asked else None

    def _read_findings(self, session: Session) -> list[LeftFinding]:
        with self._lock:
            heads = session.exec(select(StandingRow.host, StandingRow.skill, StandingRow.run, StandingRow.at)).all()
            known = {(host, skill): (run, at) for host, skill, run, at in heads}
            for gone in self._findings.keys() - known.keys():
                del self._findings[gone]
            new = [key for key, head in known.items() if key not in self._findings or self._findings[key][0] != head]
            read = _read_left_findings_by_host_and_skill(session, {host for host, _ in new}) if new else {}
            self._findings |= {key: (known[key], read.get(key, ())) for key in new}
            return [one for _, found in self._findings.values() for one in found]


def _map_hosts_to_rules_of_unended_runs(session: Session) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    runs = [row.id for row in run_queries.list_unended_runs(session)]
    for asked in select_events(attention_queries.read_newest_events(session, runs, "run.queued").values(), RunQueued):
        found[asked.host] = found.get(asked.host, frozenset()) | frozenset(asked.rules)
    return found


def _read_left_findings_by_host_and_skill(session: Session, hosts: set[str]) -> Mapping[_Key, tuple[LeftFinding, ...]]:
    """Return the findings that wait on these hosts: their cells, with the reasons that the log gives."""
    rows = list(_read_all_standings_of_hosts(session, sorted(hosts)))
    cells = {
        (row.host, row.skill, rule): cell.run
        for row in rows
        for rule, text in decode_encoded_cells_by_rule(row.cells).items()
        if text[0] in (PERSONS, LEFT, UNDONE) and (cell := parse_cell(text))
    }
    left = {
        (one.run, one.event.rule): (one.at, one.event)
        for one in attention_queries.read_escalation_and_deferral_events(session, set(cells.values()))
        if isinstance(one.event, ItemEscalated | ItemDeferred)
    }
    simulated = {(row.host, row.skill): row.simulated for row in rows}
    rules = {skill: _load_rules(skill) for skill in {skill for _, skill, _ in cells}}
    found: dict[_Key, tuple[LeftFinding, ...]] = {}
    for (host, skill, rule), run in cells.items():
        if end := left.get((run, rule)):
            at, event = end
            outcome: Literal["escalated", "deferred"] = "escalated" if isinstance(event, ItemEscalated) else "deferred"
            one = LeftFinding(outcome, host, skill, rule, run, at, event.reason, simulated=simulated[host, skill])
            found[host, skill] = (*found.get((host, skill), ()), _add_rule_details(one, rules[skill].get(rule)))
    return found


def _read_all_standings_of_hosts(session: Session, hosts: Sequence[str]) -> Iterator[StandingRow]:
    for start in range(0, len(hosts), attention_queries.AT_ONCE):
        some = hosts[start : start + attention_queries.AT_ONCE]
        yield from session.exec(select(StandingRow).where(col(StandingRow.host).in_(some)))


def _add_rule_details(finding: LeftFinding, rule: Rule | None) -> LeftFinding:
    if rule is None:
        return finding
    return replace(finding, title=rule.title, category=rule.category, breaks=rule.breaks)


def _find_rule_of_run(state: RunState, rule: str) -> Rule | None:
    """Return a rule of the run's skill; None if its content is no longer on this machine."""
    try:
        return load_skill_with_run_parameters(state).rules.get(rule)
    except TemperError:
        return None


def _load_rules(skill: str) -> Mapping[str, Rule]:
    """Return the skill's rules; empty if its content is no longer on this machine."""
    try:
        return load_skill(skill).rules
    except TemperError:
        return {}
