"""A run that has ended, folded once for all of its papers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.errors import BadInput
from app.events.kinds import (
    ApprovalEdited,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    LessonLearnt,
    RebootChecked,
    RunQueued,
    ScanFinished,
    VerdictGiven,
)
from app.events.record import Recorded
from app.events.waiver import Waiver
from app.events.words import Lesson, ParameterUsed, PublishedRule
from app.evidence.benchmark import BenchmarkTitle, benchmark, named
from app.evidence.deeds import Deed, deed
from app.evidence.seats import Seats, SeatUsed
from app.evidence.status import Status, status
from app.loop.attempt import Attempt
from app.loop.own_skill import own_skill
from app.loop.state import Item, RunState, step
from app.loop.waived import waived
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
    named: PublishedRule
    """What the STIG calls it, as far as that is known."""
    opening: VerdictGiven | None
    closing: VerdictGiven | None
    item: Item | None
    tried: tuple[Tried, ...]
    waiver: Waiver | None = None
    """The one in force as the run ended, where the rule was asked for and does not hold."""
    left_out: str = ""
    """By which tailoring it is not applicable, in a sentence."""
    used: tuple[ParameterUsed, ...] = ()
    """The site's values that it went by."""

    @property
    def status(self) -> Status:
        return "not_applicable" if self.left_out else status(self.closing)


@dataclass(frozen=True)
class Case:
    state: RunState
    request: RunQueued
    skill: Skill
    queued_at: float
    scanned: Mapping[str, float]
    """When the opening and the closing scan were done."""
    head: str
    judged: tuple[Judged, ...]
    """Every rule of the pack, in its order."""
    people: tuple[Deed, ...]
    seats: tuple[SeatUsed, ...]
    published: BenchmarkTitle
    rebooted: RebootChecked | None = None
    """What a look after a reboot found; None where the run was none."""

    @property
    def run(self) -> str:
        return self.state.run

    @property
    def simulated(self) -> str:
        """What of the run was played, in words; empty where nothing was."""
        started = self.state.started
        host = started and started.simulated is not False  # logs that do not say are older than hosts over SSH
        played = ["the engines"] if self.request.simulated else []
        played += ["the host, by a tree of real files"] if host else []
        return " and ".join(played)

    @property
    def waived(self) -> list[Judged]:
        return [one for one in self.asked if one.waiver]

    @property
    def left_out(self) -> list[Judged]:
        return [one for one in self.judged if one.left_out]

    @property
    def asked(self) -> list[Judged]:
        """In the order in which the run was asked for them."""
        known = {one.rule.id: one for one in self.judged}
        return [known[rule] for rule in self.request.rules]


def read_case(events: Iterable[Recorded]) -> Case:
    state, queued_at, head = RunState(), 0.0, ""
    scanned: dict[str, float] = {}
    tried: dict[tuple[str, int], Tried] = {}
    people, seats, rebooted = [], Seats(), None
    for recorded in events:
        state = step(state, recorded)
        queued_at, head = queued_at or recorded.at, recorded.hash
        if isinstance(recorded.event, ScanFinished):
            scanned[recorded.event.phase] = recorded.at
        elif isinstance(recorded.event, RebootChecked):
            rebooted = recorded.event
        people += [done] if (done := deed(recorded)) else []
        seats.take(recorded.event)
        _on_attempt(tried, state, recorded)
    if state.request is None or state.ended is None:
        raise Unfinished(f"run {state.run} has not ended: its papers are made when it has.")
    pack = own_skill(state)
    if gone := [rule for rule in state.request.rules if rule not in pack.rules]:
        raise BadInput(f"{pack.title} has no rule {gone[0]} any more: use the version of Temper that made the run.")
    judged = tuple(_judged(pack, state, tried))
    title = benchmark(pack, state.started)
    asked, deeds = state.request, tuple(people)
    return Case(state, asked, pack, queued_at, scanned, head, judged, deeds, seats.taken(), title, rebooted)


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
    started = state.started
    known = {one.rule: one for one in started.published.rules} if started and started.published else {}
    tailored = started.tailored if started else None
    for rule in pack.told:
        left_out = tailored is not None and rule.id in tailored.left_out
        yield Judged(
            rule,
            named(rule, known.get(rule.id)),
            state.opening.get(rule.id),
            _last_word(state, rule.id),
            state.items.get(rule.id),
            tuple(one for (of, _), one in tried.items() if of == rule.id),
            _waiver(state, rule.id),
            tailored.told_of_rule if tailored and left_out else "",
            tuple(one for one in started.parameters if rule.id in one.rules) if started else (),
        )


def _waiver(state: RunState, rule: str) -> Waiver | None:
    asked = state.request is not None and rule in state.request.rules
    last = _last_word(state, rule)
    holds = last is not None and last.word in ("pass", "notapplicable")
    return waived(state, rule, state.at) if asked and not holds else None


def _last_word(state: RunState, rule: str) -> VerdictGiven | None:
    """A run that only looked has looked once."""
    looked = state.request is not None and state.request.mode == "scan"
    return (state.opening if looked else state.closing).get(rule)
