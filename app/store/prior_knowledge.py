"""What a run reads of the past: the host's earlier runs, lessons, proven fixes and waivers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Engine
from sqlmodel import col, select

from app.events.event_field_types import Lesson, PendingSetting, Probe, ProvenFix
from app.events.kinds import InForceChecked, ItemEscalated, ItemPassed, RunStarted, VerdictGiven
from app.events.record import Recorded, select_events
from app.events.waiver_in_force import Waiver
from app.store import lessons, proven_fixes, waivers
from app.store.events import EventStore
from app.store.models import RunRow
from app.store.session_shared_within_request import open_read_session

CHANGES = ("auto", "review")
"""Run modes that may change a host."""
MOST_LESSONS = 3


@dataclass(frozen=True)
class PreviousState:
    """The state in which the last run that could change a host left it."""

    run: str = ""
    boot: str = ""
    """The kernel's boot_id when that run last asked for it; empty in old logs."""
    probes: tuple[Probe, ...] = ()
    held: frozenset[str] = frozenset()
    """Rules that passed at its end."""
    passed: frozenset[str] = frozenset()
    """Findings that the run fixed."""
    behind: tuple[tuple[str, PendingSetting], ...] = ()
    """Pending settings by rule: set by the run, but not in force yet."""


class RunHistory:
    """The history of a host without a past, for trials, which stay independent of each other."""

    def list_known_lessons(self, _rule: str) -> Sequence[Lesson]:
        """Return lessons of earlier runs for the next attempt on the rule."""
        return ()

    def list_fixes_proven_elsewhere(
        self,
        _rule: str,
        _deciding_files_digest: str,
        *,
        is_host_simulated: bool,  # noqa: ARG002
    ) -> Sequence[ProvenFix]:
        """Return fixes proven on other hosts with the same files; those of simulated hosts only for a simulated one."""
        return ()

    def list_active_waivers(self, _host: str, _now: float) -> tuple[Waiver, ...]:
        return ()

    def read_last_run_and_passed_rules(self) -> tuple[str, frozenset[str]]:
        """Return id and passed rules of the host's last finished run with this skill; empty if there is none."""
        return "", frozenset()

    def read_previous_state(self) -> PreviousState:
        """Return the state in which the last such run that could change the host left it."""
        return PreviousState()


class StoredRunHistory(RunHistory):
    def __init__(self, database: Engine, store: EventStore, run: str) -> None:
        self._database, self._store, self._run = database, store, run

    def list_known_lessons(self, rule: str) -> Sequence[Lesson]:
        with open_read_session(self._database) as session:
            rows = lessons.list_most_helpful_lessons_for_rule(session, rule, MOST_LESSONS)
            return [msgspec.convert(row, Lesson, from_attributes=True) for row in rows]

    def list_fixes_proven_elsewhere(
        self, rule: str, deciding_files_digest: str, *, is_host_simulated: bool
    ) -> Sequence[ProvenFix]:
        with open_read_session(self._database) as session:
            run = session.get_one(RunRow, self._run)
            return proven_fixes.list_fixes_proven_elsewhere(
                session, run, rule, deciding_files_digest, is_host_simulated=is_host_simulated
            )

    def list_active_waivers(self, host: str, now: float) -> tuple[Waiver, ...]:
        with open_read_session(self._database) as session:
            return waivers.list_active_waivers(session, host, now)

    def read_last_run_and_passed_rules(self) -> tuple[str, frozenset[str]]:
        before = self._find_last_finished_run_of_same_skill()
        return before, find_rules_passed_in_last_scan(
            self._store.read_events(before, kinds=("verdict",))
        ) if before else frozenset()

    def read_previous_state(self) -> PreviousState:
        before = self._find_last_finished_run_of_same_skill(*CHANGES)
        if not before:
            return PreviousState()
        kinds = ("run.started", "force", "verdict", "item.passed", "item.escalated")
        return build_end_state(before, list(self._store.read_events(before, kinds=kinds)))

    def _find_last_finished_run_of_same_skill(self, *modes: str) -> str:
        with open_read_session(self._database) as session:
            ours = session.get_one(RunRow, self._run)
            like = select(RunRow.id).where(
                RunRow.host == ours.host,
                RunRow.skill == ours.skill,
                RunRow.state == "finished",
                col(RunRow.queued_at) < ours.queued_at,
            )
            if modes:
                like = like.where(col(RunRow.mode).in_(modes))
            return session.exec(like.order_by(col(RunRow.queued_at).desc()).limit(1)).first() or ""


def find_rules_passed_in_last_scan(events: Iterable[Recorded]) -> frozenset[str]:
    # The closing scan comes later and replaces the opening verdict.
    scans = (one for one in select_events(events, VerdictGiven) if one.phase in ("opening", "closing"))
    words = {one.rule: one.word for one in scans}
    return frozenset(rule for rule, word in words.items() if word == "pass")


def build_end_state(run: str, events: list[Recorded]) -> PreviousState:
    began, asked = next(iter(select_events(events, RunStarted)), None), select_events(events, InForceChecked)
    passed = frozenset(one.rule for one in select_events(events, ItemPassed))
    passed -= {one.rule for one in select_events(events, ItemEscalated) if one.reopened}
    newest = {one.rule: one for one in asked if one.rule in passed}
    return PreviousState(
        run=run,
        boot=next((one.boot for one in reversed(asked) if one.boot), ""),
        probes=began.probes if began else (),
        held=find_rules_passed_in_last_scan(events),
        passed=passed,
        behind=tuple((rule, one) for rule, event in newest.items() for one in event.behind),
    )
