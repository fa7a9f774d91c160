"""Selects the moments of a run that are worth replaying: alarms, vetoes, lessons and escalations."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.events import kinds
from app.events.record import Recorded
from app.web.pages.mission.caption import describe_alarm

MOST = 5


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
                self._score_event(recorded)

    def _score_event(self, recorded: Recorded) -> None:
        event = recorded.event
        match event:
            case kinds.SentryAlarm():
                text = f"The scanner passed the change. {describe_alarm(event)}"
                self._keep_best("alarm", "!", "alarm", "Compliant, and harmful", event.rule, text, 100)
            case kinds.DriftFound():
                self._before = recorded.seq, recorded.at
                text = (
                    f"{', '.join(event.rules)} passed after the previous run and now fail, without a change by Temper."
                )
                self._keep_best("drift", "!", "alarm", "Drift", event.rules[0], text, 95)
            case kinds.VerdictExplained(veto=True):
                self._keep_best("veto", "✗", "refused", "The scanner was fooled", event.rule, event.reason, 90)
            case kinds.ApprovalGiven() | kinds.ApprovalRefused():
                word = "approved" if isinstance(event, kinds.ApprovalGiven) else "refused"
                text = f"{event.by} {word} the change. {event.reason}"
                self._keep_best("person", "?", "plain", "A person decided", "", text, 85)
            case kinds.ActionRefused():
                self._keep_best("refused", "✗", "refused", "Refused before it ran", event.rule, event.reason, 80)
            case kinds.ItemPassed():
                self._score_passed_item(event)
            case kinds.ItemEscalated():
                weight = 60 + self._attempts / 100
                self._keep_best("escalated", "▲", "escalated", "Escalated", event.rule, event.reason, weight)
            case _:
                pass

    def _score_passed_item(self, event: kinds.ItemPassed) -> None:
        if event.attempts > 1:
            text = self._advice or f"It took {event.attempts} attempts."
            self._keep_best(
                "learnt", "✓", "passed", "Failed, learned, fixed", event.rule, text, 70 + event.attempts / 100
            )
        elif event.lessons:
            text = "A lesson of an earlier run said what goes wrong here."
            self._keep_best("told", "✓", "passed", "Fixed at the first attempt, with a lesson", event.rule, text, 75)
        else:
            text = "Planned, changed, scanned, watched, and kept."
            self._keep_best("fixed", "✓", "passed", "The first fix", event.rule, text, 10)

    def _keep_best(self, sort: str, glyph: str, kind: str, title: str, rule: str, text: str, weight: float) -> None:
        seq, at = self._before
        known = self._best.get(sort)
        if known is None or weight > known.weight:
            named = self._titles.get(rule, rule)
            self._best[sort] = Moment(seq, at, glyph, kind, title, named, text, weight)

    def list_best_moments(self) -> tuple[Moment, ...]:
        """Return the best moments in chronological order."""
        chosen = sorted(self._best.values(), key=lambda one: -one.weight)[:MOST]
        return tuple(sorted(chosen, key=lambda one: one.seq))


def find_moments(events: Iterable[Recorded]) -> tuple[Moment, ...]:
    watching = MomentCollector()
    for recorded in events:
        watching.apply_event(recorded)
    return watching.list_best_moments()
