"""A run's timeline: its turns, items and waits. It begins when work begins, and long waits are folded."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Literal

import msgspec

from app.events import kinds
from app.events.record import Recorded
from app.machine.sampling.engine_outages_from_log import EngineOutage, read_outages_except_unended_of_departed_engines
from app.store.events import EventStore
from app.text.clean import clean_text
from app.web.pages.mission.caption import describe_who_was_harmed
from app.web.stream.recently_used import RecentlyUsed
from app.web.stream.sse_messages import encode_message

READ = (
    *("run.queued", "run.preparing", "run.started", "run.paused", "run.resumed"),
    *("run.stopped", "run.finished", "run.failed"),
    *("scan.started", "scan.finished", "turn.started", "turn.finished", "turn.interrupted"),
    *("item.started", "item.passed", "item.escalated", "item.skipped", "item.deferred"),
    *("approval.requested", "approval.given", "approval.refused", "approval.edited", "approval.expired"),
    *("sentry.alarm", "verdict.explained", "action.rolled_back", "reboot.announced", "reboot.lost"),
)
TICKS = (5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 4 * 3600, 8 * 3600, 86400)
MOST_TICKS = 8
FOLDED = 5.0
"""Seconds that a longer wait takes on the axis."""
KEPT = 16
LONGEST_WORDS = 44
NARROWEST = 0.02
"""Percent. Narrower turns are left out of the first picture of a long run: nobody sees them."""

Row = Literal["turn", "item", "wait", "mark", "outage"]


class Stretch(msgspec.Struct, frozen=True):
    """Something with a time on the timeline; a mark has no length. Its name is stable while the run goes on."""

    id: str
    row: Row
    kind: str
    """The role, the outcome, the reason of the wait, or the kind of mark."""
    since: float
    until: float | None
    """None while it lasts."""
    text: str
    words: str = ""
    """What the page writes over a mark, where there is room."""


class DrawnStretch(msgspec.Struct, frozen=True):
    """A stretch on the axis of a run whose timeline has `seconds`."""

    stretch: Stretch
    place: float
    """Seconds on the axis."""
    end: float | None
    left: float
    """Percent, as `width`."""
    width: float


@dataclass
class Timeline:
    """The fold of a run's events. Times on the axis are seconds of work, and FOLDED seconds for each longer wait."""

    queued: float | None = None
    began: float | None = None
    """When work began, the zero of the axis; None while the run is queued."""
    over: bool = False
    seq: int = 0
    stretches: dict[str, Stretch] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    """The seq of the last change of each stretch."""
    _open: dict[Row, str] = field(default_factory=dict)
    _title: str = ""
    """The title of the item at work."""
    _paused: bool = False
    _asked: bool = False

    def copy(self) -> "Timeline":
        return replace(self, stretches=dict(self.stretches), changed=dict(self.changed), _open=dict(self._open))

    @property
    def zero(self) -> float:
        return self.began or self.queued or 0.0

    @property
    def wait_spans(self) -> list[tuple[float, float | None]]:
        return [(one.since, one.until) for one in self.stretches.values() if one.row == "wait"]

    def to_axis_seconds(self, at: float) -> float:
        """Return the seconds on the axis of a time; 0 for the time in the queue."""
        place = at - self.zero
        for since, until in self.wait_spans:
            if at <= since:
                break
            end = at if until is None else until
            length = max(end - since, 0.001)
            kept = min(length, FOLDED)
            place -= min(at, end) - since - kept * min(1.0, (at - since) / length)
        return max(0.0, place)

    def to_time(self, axis_seconds: float) -> float:
        """Return the time of a place on the axis."""
        at = self.zero + axis_seconds
        for since, until in self.wait_spans:
            if at <= since or until is None:
                break
            length, kept = until - since, min(until - since, FOLDED)
            at = since + (at - since) * length / kept if at < since + kept else at + length - kept
        return at

    def apply_event(self, recorded: Recorded, before: float | None = None) -> None:
        """Apply an event of one of the kinds READ. `before`: the time of the event before it, known after a crash."""
        self.seq, at, event = recorded.seq, recorded.at, recorded.event
        match event:
            case kinds.RunQueued():
                self.queued = at
            case kinds.RunPreparing() | kinds.RunStarted():
                self.began = self.began or at
            case kinds.RunFinished() | kinds.RunFailed() | kinds.RunStopped():
                self._end_run(at)
            case kinds.TurnStarted():
                self._begin_stretch("turn", event.role, at, f"{event.role.capitalize()}, {event.rule}")
            case kinds.ScanStarted():
                self._begin_stretch("turn", "scan", at, "scan of all rules")
            case kinds.TurnFinished() | kinds.TurnInterrupted() | kinds.ScanFinished():
                self._end_stretch("turn", at)
            case kinds.ItemStarted():
                self._title = event.title
                self._begin_stretch("item", "working", at, event.rule)
            case kinds.ItemPassed() | kinds.ItemEscalated() | kinds.ItemSkipped() | kinds.ItemDeferred():
                self._end_stretch("item", at, event.outcome, f"{event.rule}: {event.outcome}")
            case _:
                self._begin_or_end_wait(event, at, before)
        if mark := _find_mark_kind_text_and_words(event, self._title):
            kind, text, words = mark
            self._store_stretch_and_mark_changed(
                Stretch(f"m{self.seq}", "mark", kind, at, at, text, clean_text(words, LONGEST_WORDS))
            )

    def _begin_or_end_wait(self, event: object, at: float, previous_event_time: float | None) -> None:
        match event:
            case kinds.RunPaused():
                self._paused = True
            case kinds.ApprovalRequested():
                self._asked = True
            case kinds.ApprovalGiven(given=given, of=of) if given < of:
                pass
            case kinds.ApprovalGiven() | kinds.ApprovalRefused() | kinds.ApprovalEdited() | kinds.ApprovalExpired():
                self._asked = False
            case kinds.RunResumed():
                self._paused = False
                if event.after_crash and previous_event_time is not None:
                    self._end_stretch("turn", previous_event_time)
                    self._begin_stretch("wait", "down", previous_event_time, "no Temper process worked on this run")
            case _:
                return
        if not (self._paused or self._asked) or isinstance(event, kinds.RunResumed):
            self._end_stretch("wait", at)
        if (self._paused or self._asked) and "wait" not in self._open:
            text = "paused" if self._paused else "waited for a person"
            self._begin_stretch("wait", "paused" if self._paused else "person", at, text)

    def _begin_stretch(self, row: Row, kind: str, at: float, text: str) -> None:
        if row != "wait" or row not in self._open:
            self._end_stretch(row, at)
            name = f"{row[0]}{self.seq}"
            self._open[row] = name
            self._store_stretch_and_mark_changed(Stretch(name, row, kind, at, None, text))

    def _end_stretch(self, row: Row, at: float, kind: str = "", text: str = "") -> None:
        if name := self._open.pop(row, None):
            one = self.stretches[name]
            self._store_stretch_and_mark_changed(
                msgspec.structs.replace(one, kind=kind or one.kind, until=at, text=text or one.text)
            )
        elif kind:  # an item may end without a start: skipped rules
            self._store_stretch_and_mark_changed(Stretch(f"{row[0]}{self.seq}", row, kind, at, at, text))

    def _end_run(self, at: float) -> None:
        self.over = True
        for row in list(self._open):
            self._end_stretch(row, at)

    def _store_stretch_and_mark_changed(self, stretch: Stretch) -> None:
        self.stretches[stretch.id], self.changed[stretch.id] = stretch, self.seq


def fold_timeline(log: Iterable[Recorded]) -> Timeline:
    """Return the timeline of a run, from its whole log."""
    line, before = Timeline(), None
    for one in log:
        if kinds.get_event_kind(one.event) in READ:
            line.apply_event(one, before)
        before = one.at
    return line


def _find_mark_kind_text_and_words(event: object, item_title: str) -> tuple[str, str, str] | None:
    """Return the kind, the text and the words of a mark, or None if the event has none."""
    match event:
        case kinds.SentryAlarm():
            return "alarm", f"{event.rule}: Sentry alarm", describe_who_was_harmed(event) or item_title
        case kinds.VerdictExplained(veto=True):
            return "refused", f"{event.rule}: Auditor's veto", f"vetoed: {item_title}"
        case kinds.ActionRolledBack():
            return "undone", f"{event.rule}: rolled back", f"undone: {item_title}"
        case kinds.ItemEscalated():
            return "escalated", f"{event.rule}: escalated", f"to a person: {item_title}"
        case kinds.ApprovalRequested():
            words = f"asked: {item_title}" if event.rule else "asked: reboot"
            return "asks", f"{event.rule or 'Reboot'}: a person was asked", words
        case kinds.RebootAnnounced():
            return "undone", f"{event.host}: rebooted", "rebooted"
        case kinds.RebootLost():
            return "alarm", f"{event.host}: did not come back", "did not come back"
        case _:
            return None


class TimelineReader:
    """Reads timelines. It keeps the last ones, as logs only grow. Thread-safe; one instance per application."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._lock = Lock()
        self._known = RecentlyUsed[str, Timeline](KEPT)

    def read_timeline(self, run: str) -> Timeline:
        """Return the run's timeline up to its newest event."""
        with self._lock:
            line = self._known.get(run) or Timeline()
            if not line.over:
                for recorded in self._store.read_events(run, after=line.seq, kinds=READ):
                    line.apply_event(recorded, self._find_time_before_crash(recorded))
            return self._known.keep(run, line).copy()

    def encode_changes(self, run: str, batch: Sequence[Recorded]) -> bytes:
        """Encode what these events changed on the timeline, as a message for the page; empty if they changed nothing.

        A viewer who gets it twice draws the same."""
        first = next((one.seq for one in batch if kinds.get_event_kind(one.event) in READ), None)
        if first is None:
            return b""
        line = self.read_timeline(run)
        told = [one for name, one in line.stretches.items() if line.changed[name] >= first]
        changes = {"began": line.began, "over": line.over, "stretches": told}
        return encode_message(msgspec.json.encode(changes), name="timeline")

    def read_outages(self, timeline: Timeline, until: float, engines: Collection[str]) -> list[EngineOutage]:
        return read_outages_except_unended_of_departed_engines(self._store, timeline.zero, until, engines)

    def _find_time_before_crash(self, recorded: Recorded) -> float | None:
        if isinstance(recorded.event, kinds.RunResumed) and recorded.event.after_crash:
            return self._store.find_time_of_newest_event_up_to_seq(recorded.run, recorded.seq - 1)
        return None


@dataclass(frozen=True)
class TimelineView:
    """A timeline as the page draws it."""

    began: float | None
    zero: float
    seconds: float
    """Length of the axis."""
    over: bool
    last: float
    """The time at its end."""
    waits: tuple[tuple[float, float | None], ...]
    stretches: tuple[DrawnStretch, ...]
    ticks: tuple[tuple[float, float], ...]
    """Position in percent, and seconds."""


def draw_timeline(timeline: Timeline, until: float, outages: Sequence[EngineOutage] = ()) -> TimelineView:
    """Lay the timeline out up to a time."""
    seconds = max(timeline.to_axis_seconds(until), 0.1) if timeline.began else 0.1
    drawn = [_draw_stretch(timeline, one, seconds) for one in timeline.stretches.values()]
    drawn = [one for one in drawn if one.stretch.row != "turn" or one.width >= NARROWEST or one.end is None]
    drawn += [_draw_stretch(timeline, _to_stretch(one), seconds) for one in outages]
    return TimelineView(
        began=timeline.began,
        zero=timeline.zero,
        seconds=round(seconds, 1),
        over=timeline.over,
        last=until,
        waits=tuple(timeline.wait_spans),
        stretches=tuple(drawn),
        ticks=_list_tick_percents_and_seconds(seconds),
    )


def _to_stretch(outage: EngineOutage) -> Stretch:
    text = f"{outage.engine} was {outage.state}"
    return Stretch(f"o{outage.engine}-{outage.since:.0f}", "outage", outage.state, outage.since, outage.until, text)


def _draw_stretch(timeline: Timeline, stretch: Stretch, seconds: float) -> DrawnStretch:
    place = round(timeline.to_axis_seconds(stretch.since), 3)
    end = None if stretch.until is None else round(timeline.to_axis_seconds(stretch.until), 3)
    width = min(seconds if end is None else end, seconds) - place
    return DrawnStretch(stretch, place, end, round(100 * place / seconds, 3), round(max(0.0, 100 * width / seconds), 3))


def _list_tick_percents_and_seconds(seconds: float) -> tuple[tuple[float, float], ...]:
    step = next((one for one in TICKS if seconds / one <= MOST_TICKS), TICKS[-1])
    return tuple((round(100 * at / seconds, 2), float(at)) for at in range(step, int(seconds) + 1, step))
