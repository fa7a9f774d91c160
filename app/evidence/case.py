"""The record of an ended run, folded once for all of its papers."""

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
    """One attempt and its range of events."""

    attempt: Attempt
    first: int
    last: int
    until: float
    answers: list[Answer]
    lesson: Lesson | None = None


@dataclass(frozen=True)
class Judged:
    """One rule of the skill; only `rule` and `named` are set if the run did not include it."""

    rule: Rule
    named: PublishedRule
    """Its names in the published benchmark, as far as known."""
    opening: VerdictGiven | None
    closing: VerdictGiven | None
    item: Item | None
    tried: tuple[Tried, ...]
    waiver: Waiver | None = None
    """The waiver active when the run ended, if the run included the rule and it does not hold."""
    left_out: str = ""
    """The tailoring that makes it not applicable, as a sentence."""
    used: tuple[ParameterUsed, ...] = ()
    """The site values that were used."""

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
    """Time at which each scan finished, by phase."""
    head: str
    judged: tuple[Judged, ...]
    """Every rule of the skill, in its order."""
    people: tuple[Deed, ...]
    seats: tuple[SeatUsed, ...]
    published: BenchmarkTitle
    rebooted: RebootChecked | None = None
    """The result of a check after a reboot; None for any other run."""

    @property
    def run(self) -> str:
        return self.state.run

    @property
    def simulated(self) -> str:
        """The simulated parts of the run as text; empty if there were none."""
        started = self.state.started
        host = started and started.simulated is not False  # logs without this field predate hosts over SSH
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
        """The rules of the run's order, in that order."""
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
    """Return the verdict of the last scan; a run in scan mode has only the opening one."""
    looked = state.request is not None and state.request.mode == "scan"
    return (state.opening if looked else state.closing).get(rule)
