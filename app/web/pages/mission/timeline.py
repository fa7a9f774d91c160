"""A run's timeline: each item's time and outcome. Dragging along it replays the run."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.events import kinds
from app.events.record import Recorded
from app.store.events import EventStore

READ = (
    *("run.queued", "run.started", "item.started", "item.passed", "item.escalated", "item.skipped", "item.deferred"),
    *("sentry.alarm", "verdict.explained", "action.rolled_back", "approval.requested"),
)
TICKS = (5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 4 * 3600, 8 * 3600, 86400)
MOST_TICKS = 8


@dataclass(frozen=True)
class TimelineSpan:
    """An item's time span, in percent of the run's."""

    rule: str
    outcome: str
    left: float
    width: float


@dataclass(frozen=True)
class TimelineMark:
    kind: str
    glyph: str
    left: float
    text: str


@dataclass(frozen=True)
class Timeline:
    began: float
    """The time at which the run was queued; the zero of the axis."""
    seconds: float
    stretches: tuple[TimelineSpan, ...]
    signs: tuple[TimelineMark, ...]
    ticks: tuple[tuple[float, float], ...]
    """Position in percent, and seconds."""

    def to_offset(self, at: float) -> float:
        return round(min(max(at - self.began, 0.0), self.seconds), 1)


def read_timeline(store: EventStore, run: str, until: float) -> Timeline:
    return build_timeline(store.read_events(run, kinds=READ), until)


def build_timeline(events: Iterable[Recorded], until: float) -> Timeline:
    told = list(events)
    began = told[0].at if told else until
    seconds = max(until - began, 0.1)

    def to_percent(at: float) -> float:
        return round(100 * (at - began) / seconds, 2)

    stretches, signs = [], []
    since: dict[str, float] = {}
    for recorded in told:
        event = recorded.event
        if isinstance(event, kinds.ItemStarted):
            since[event.rule] = recorded.at
        elif isinstance(event, kinds.ItemEnd):
            start = to_percent(since.pop(event.rule, recorded.at))
            width = round(to_percent(recorded.at) - start, 2)
            stretches.append(TimelineSpan(event.rule, event.outcome, start, width))
        elif sign := _describe_mark(event):
            signs.append(TimelineMark(*sign[:2], to_percent(recorded.at), sign[2]))
    working = [
        TimelineSpan(rule, "working", to_percent(at), round(100 - to_percent(at), 2)) for rule, at in since.items()
    ]
    return Timeline(began, round(seconds, 1), (*stretches, *working), tuple(signs), _place_ticks(seconds))


def _describe_mark(event: object) -> tuple[str, str, str] | None:
    match event:
        case kinds.SentryAlarm():
            return "alarm", "!", f"{event.rule}: Sentry alarm"
        case kinds.VerdictExplained(veto=True):
            return "refused", "✗", f"{event.rule}: Auditor's veto"
        case kinds.ActionRolledBack():
            return "undone", "↺", f"{event.rule}: rolled back"
        case kinds.ApprovalRequested():
            return "asks", "?", f"{event.rule}: a person was asked"
        case _:
            return None


def _place_ticks(seconds: float) -> tuple[tuple[float, float], ...]:
    step = next((one for one in TICKS if seconds / one <= MOST_TICKS), TICKS[-1])
    return tuple((round(100 * at / seconds, 2), float(at)) for at in range(step, int(seconds) + 1, step))
