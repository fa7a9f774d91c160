"""A run that has ended, folded once for all of its papers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.errors import BadInput
from app.events.kinds import (
    ApprovalEdited,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    LessonLearnt,
    RunQueued,
    ScanFinished,
    VerdictGiven,
)
from app.events.record import Recorded
from app.events.words import Lesson
from app.evidence.people import Deed, deed
from app.evidence.seats import Seat, Seats
from app.loop.attempt import Attempt
from app.loop.state import Item, RunState, step
from app.skills.catalog import skill
from app.skills.skill import Rule, Skill

Answer = ApprovalGiven | ApprovalRefused | ApprovalEdited | ApprovalExpired


class Unfinished(BadInput):
    pass


@dataclass
class Tried:
    """One attempt, and the events that it takes up."""

    attempt: Attempt
    first: int
    last: int
    until: float
    answers: list[Answer]
    lesson: Lesson | None = None


@dataclass(frozen=True)
class Judged:
    """One rule of the pack; all but the rule is empty where the run was not asked for it."""

    rule: Rule
    opening: VerdictGiven | None
    closing: VerdictGiven | None
    item: Item | None
    tried: tuple[Tried, ...]


@dataclass(frozen=True)
class Case:
    state: RunState
    request: RunQueued
    skill: Skill
    queued_at: float
    scanned_at: float | None
    """When the closing scan was done."""
    head: str
    judged: tuple[Judged, ...]
    """Every rule of the pack, in its order."""
    people: tuple[Deed, ...]
    seats: tuple[Seat, ...]

    @property
    def run(self) -> str:
        return self.state.run

    @property
    def asked(self) -> list[Judged]:
        """In the order in which the run was asked for them."""
        known = {one.rule.id: one for one in self.judged}
        return [known[rule] for rule in self.request.rules]


def read_case(events: Iterable[Recorded]) -> Case:
    state, queued_at, scanned_at, head = RunState(), 0.0, None, ""
    tried: dict[tuple[str, int], Tried] = {}
    people, seats = [], Seats()
    for recorded in events:
        state = step(state, recorded)
        queued_at, head = queued_at or recorded.at, recorded.hash
        if isinstance(recorded.event, ScanFinished) and recorded.event.phase == "closing":
            scanned_at = recorded.at
        people += [done] if (done := deed(recorded)) else []
        seats.take(recorded.event)
        _on_attempt(tried, state, recorded)
    if state.request is None or state.ended is None:
        raise Unfinished(f"run {state.run} has not ended: its papers are made when it has.")
    pack = skill(state.request.skill)
    judged = tuple(_judged(pack, state, tried))
    return Case(state, state.request, pack, queued_at, scanned_at, head, judged, tuple(people), seats.taken())


def _on_attempt(tried: dict[tuple[str, int], Tried], state: RunState, recorded: Recorded) -> None:
    item = state.item
    if item is None or item.attempt is None:
        return
    place = item.rule, item.attempt.number
    one = tried.setdefault(place, Tried(item.attempt, recorded.seq, recorded.seq, recorded.at, []))
    one.attempt, one.last, one.until = item.attempt, recorded.seq, recorded.at
    if isinstance(recorded.event, LessonLearnt):
        one.lesson = recorded.event.lesson
    elif isinstance(recorded.event, Answer):
        one.answers.append(recorded.event)


def _judged(pack: Skill, state: RunState, tried: dict[tuple[str, int], Tried]) -> Iterator[Judged]:
    for rule in pack.rules.values():
        yield Judged(
            rule,
            state.opening.get(rule.id),
            state.closing.get(rule.id),
            state.items.get(rule.id),
            tuple(one for (of, _), one in tried.items() if of == rule.id),
        )
