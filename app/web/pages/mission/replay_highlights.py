"""Selects the moments of a run that are worth replaying: alarms, vetoes, lessons and escalations."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.events import kinds
from app.events.record import Recorded
from app.web.pages.mission.caption import describe_alarm

MOST = 5
_TABLE = Path(__file__).with_suffix(".toml").read_bytes()
_SORTS = msgspec.toml.decode(_TABLE, type=dict[str, tuple[str, str, str, float]])
"""Glyph, kind, title and weight of each sort of moment."""


@dataclass(frozen=True)
class Moment:
    seq: int
    """Where to start the replay, shortly before the moment."""
    at: float
    glyph: str
    kind: str
    title: str
    rule: str
    text: str
    weight: float


class MomentCollector:
    """Takes events in order and keeps the best moment of each kind."""

    def __init__(self) -> None:
        self._best: dict[str, Moment] = {}
        self._before: tuple[int, float] = (1, 0.0)
        """Seq and time at which the current change was proposed or applied, else at which the item started."""
        self._titles: dict[str, str] = {}
        self._advice = ""
        self._attempts = 0

    def apply_event(self, recorded: Recorded) -> None:
        event = recorded.event
        match event:
            case kinds.ItemStarted():
                self._titles[event.rule], self._advice = event.title, ""
                self._before, self._attempts = (recorded.seq, recorded.at), 0
            case kinds.AttemptStarted():
                self._before, self._attempts = (recorded.seq, recorded.at), event.attempt
            case kinds.ActionApplied() | kinds.ActionProposed():
                self._before = recorded.seq, recorded.at
            case kinds.LessonLearnt():
                self._advice = event.lesson.advice
            case _:
                self._collect_moment(recorded)

    def _collect_moment(self, recorded: Recorded) -> None:
        event = recorded.event
        match event:
            case kinds.SentryAlarm():
                self._keep_best_moment("alarm", event.rule, f"The scanner passed the change. {describe_alarm(event)}")
            case kinds.DriftFound():
                self._before = recorded.seq, recorded.at
                rules = ", ".join(event.rules)
                text = f"{rules} passed after the previous run and now fail, without a change by Temper."
                self._keep_best_moment("drift", event.rules[0], text)
            case kinds.VerdictExplained(veto=True):
                self._keep_best_moment("veto", event.rule, event.reason)
            case kinds.ApprovalGiven():
                self._keep_best_moment("person", "", f"{event.by} approved the {event.about}. {event.reason}")
            case kinds.ApprovalRefused():
                self._keep_best_moment("person", "", f"{event.by} refused the {event.about}. {event.reason}")
            case kinds.RebootAnnounced():
                self._before = recorded.seq, recorded.at
            case kinds.RebootLost():
                self._keep_best_moment("reboot", "", f"{event.host} did not come back. {event.reason}")
            case kinds.RebootCompared() if event.lost:
                self._keep_best_moment("reboot", event.lost[0], f"{', '.join(event.lost)} did not survive the reboot.")
            case kinds.ActionRefused():
                self._keep_best_moment("refused", event.rule, event.reason)
            case kinds.ItemPassed() if event.attempts > 1:
                text = self._advice or f"It took {event.attempts} attempts."
                self._keep_best_moment("learnt", event.rule, text, event.attempts)
            case kinds.ItemPassed() if event.lessons:
                self._keep_best_moment("told", event.rule, "A lesson of an earlier run said what goes wrong here.")
            case kinds.ItemPassed() if event.attempts:
                self._keep_best_moment("fixed", event.rule, "Planned, changed, scanned, watched, and kept.")
            case kinds.ItemEscalated():
                self._keep_best_moment("escalated", event.rule, event.reason, self._attempts)
            case _:
                pass

    def _keep_best_moment(self, moment_sort: str, rule: str, text: str, attempts: int = 0) -> None:
        glyph, kind, title, usual = _SORTS[moment_sort]
        weight, known = usual + attempts / 100, self._best.get(moment_sort)
        if known is None or weight > known.weight:
            name = self._titles.get(rule, rule)
            self._best[moment_sort] = Moment(*self._before, glyph, kind, title, name, text, weight)

    def list_best_moments(self) -> tuple[Moment, ...]:
        """Return the best moments in chronological order."""
        chosen = sorted(self._best.values(), key=lambda one: -one.weight)[:MOST]
        return tuple(sorted(chosen, key=lambda one: one.seq))


def find_moments(events: Iterable[Recorded]) -> tuple[Moment, ...]:
    watching = MomentCollector()
    for recorded in events:
        watching.apply_event(recorded)
    return watching.list_best_moments()
