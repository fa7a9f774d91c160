"""Marks beside the samples: outcomes, alarms, rollbacks, engines changing roles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.events.kinds import EngineState, TurnStarted, get_event_kind
from app.events.record import Recorded
from app.store.events import EventStore

MarkKind = Literal["run", "passed", "escalated", "deferred", "undone", "alarm", "asks", "engine", "hand-over"]

MOST = 500
HAND_OVERS_WITHIN = 1800.0
"""Seconds: over a longer time hand-overs would hide the rest."""
_KINDS: dict[str, MarkKind] = {
    "run.started": "run",
    "run.finished": "run",
    "run.failed": "run",
    "run.stopped": "run",
    "item.passed": "passed",
    "item.escalated": "escalated",
    "item.deferred": "deferred",
    "action.rolled_back": "undone",
    "sentry.alarm": "alarm",
    "approval.requested": "asks",
}


@dataclass(frozen=True)
class EventMark:
    at: float
    kind: MarkKind
    run: str
    seq: int
    text: str


def read_event_marks(store: EventStore, runs: Sequence[str] | None, since: float, until: float) -> list[EventMark]:
    """Return marks of these runs, or of all for None; engine marks are always included."""
    on = [span.run for span in store.list_run_spans(since, until) if runs is None or span.run in runs]
    kinds = (*_KINDS, "turn.started") if until - since <= HAND_OVERS_WITHIN else tuple(_KINDS)
    found = [mark for run in on for mark in _iterate_run_marks(store.read_events(run, kinds=kinds, since=since), until)]
    found += [mark for one in store.read_samples(since, until, ("engine.state",)) if (mark := _to_engine_mark(one))]
    return sorted(found, key=lambda mark: (mark.at, mark.seq))[-MOST:]


def _iterate_run_marks(events: Iterator[Recorded], until: float) -> Iterator[EventMark]:
    held: dict[str, str] = {}
    for one in events:
        if one.at > until:
            return
        if isinstance(event := one.event, TurnStarted):
            before, held[event.engine] = held.get(event.engine), event.role
            if before and before != event.role:
                text = f"{event.engine} goes from {before} to {event.role}"
                yield EventMark(one.at, "hand-over", one.run, one.seq, text)
        elif told := event.describe():
            yield EventMark(one.at, _KINDS[get_event_kind(event)], one.run, one.seq, told.text)


def _to_engine_mark(recorded: Recorded) -> EventMark | None:
    if not isinstance(event := recorded.event, EngineState) or event.state == "loading":
        return None
    return EventMark(recorded.at, "engine", "", recorded.seq, f"{event.engine} is {event.state}")
