"""The record of an ended run, folded once for all of its papers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import NAMESPACE_URL, uuid5

from app.errors import BadInput
from app.events import kinds
from app.events.event_field_types import Category, Lesson, ParameterUsed, PublishedRule, Word
from app.events.record import Recorded
from app.events.waiver_in_force import Waiver
from app.evidence.people_actions_in_run import OperatorAction, find_operator_action
from app.evidence.published_benchmark_names import BenchmarkTitle, build_benchmark_title, build_published_rule
from app.evidence.role_engine_usage import Seats, SeatUsed
from app.loop.attempt_state import Attempt
from app.loop.run_skill_loader import load_skill_with_run_parameters
from app.loop.state import Item, RunState, apply_event, find_active_waiver
from app.skills.skill import Rule, Skill

Status = Literal["not_reviewed", "not_applicable", "open", "not_a_finding"]
_STATUS: dict[Word, Status] = {"pass": "not_a_finding", "fail": "open", "notapplicable": "not_applicable"}
DONE: tuple[Status, ...] = ("not_a_finding", "not_applicable")
_SEVERITY: dict[Category, str] = {"I": "high", "II": "medium", "III": "low"}
_Return = kinds.RebootReturned | kinds.RebootLost | kinds.RebootUndone
REBOOT_RESULTS = kinds.RebootSkipped | _Return | kinds.RebootCompared
Answer = kinds.ApprovalGiven | kinds.ApprovalRefused | kinds.ApprovalEdited | kinds.ApprovalExpired


class RunNotEnded(BadInput):
    pass


@dataclass
class AttemptRecord:
    """One attempt and its range of events."""

    attempt: Attempt
    first: int
    last: int
    until: float
    answers: list[Answer]
    lesson: Lesson | None = None


@dataclass(frozen=True)
class RuleRecord:
    """One rule of the skill; only `rule` and `named` are set if the run did not include it."""

    rule: Rule
    named: PublishedRule
    """Its names in the published benchmark, as far as known."""
    opening: kinds.VerdictGiven | None
    closing: kinds.VerdictGiven | None
    item: Item | None
    tried: tuple[AttemptRecord, ...]
    waiver: Waiver | None = None
    """The waiver active when the run ended, if the run included the rule and it does not hold."""
    left_out: str = ""
    """The tailoring that makes it not applicable, as a sentence."""
    used: tuple[ParameterUsed, ...] = ()
    """The site values that were used."""

    @property
    def status(self) -> Status:
        """The status in checklists. An unclear verdict is not reviewed, never a pass, as is a rule without one."""
        if self.left_out:
            return "not_applicable"
        return _STATUS.get(self.closing.word, "not_reviewed") if self.closing else "not_reviewed"

    @property
    def severity(self) -> str:
        return _SEVERITY[self.rule.category]


@dataclass(frozen=True)
class RunRecord:
    state: RunState
    request: kinds.RunQueued
    skill: Skill
    queued_at: float
    scanned: Mapping[str, float]
    """Time at which each scan finished, by phase."""
    head: str
    judged: tuple[RuleRecord, ...]
    """Every rule of the skill, in its order."""
    people: tuple[OperatorAction, ...]
    seats: tuple[SeatUsed, ...]
    published: BenchmarkTitle
    rebooted: kinds.RebootChecked | None = None
    """The result of a check after a reboot; None for any other run."""
    reboot: tuple[str, ...] = ()
    """What came of the reboot at the end of the run, one sentence each; empty without one."""

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
    def phase_of_final_verdicts(self) -> Literal["opening", "closing"]:
        """The phase whose verdicts count: a run in scan mode has no closing scan."""
        return "opening" if self.request.mode == "scan" else "closing"

    @property
    def scanned_at(self) -> float:
        return self.scanned.get(self.phase_of_final_verdicts, self.state.at)

    @property
    def comment(self) -> str:
        """The sentences about the run that checklists carry."""
        played = f"SIMULATED: {self.simulated}. " if self.simulated else ""
        return f"{played}Temper run {self.run}; chain head {self.head}. {self.published.note}"

    def create_uuid(self, name: str) -> str:
        """Return a UUID derived from the run, so that equal runs give equal files."""
        return str(uuid5(NAMESPACE_URL, f"temper:{self.run}:{self.head}:{name}"))

    @property
    def failed_or_unclear_rules_even_if_waived(self) -> list[RuleRecord]:
        """The requested rules that are not known to hold."""
        return [one for one in self.requested_rules if one.status not in DONE]

    @property
    def waived_rules(self) -> list[RuleRecord]:
        return [one for one in self.requested_rules if one.waiver]

    @property
    def tailored_out_rules(self) -> list[RuleRecord]:
        return [one for one in self.judged if one.left_out]

    @property
    def requested_rules(self) -> list[RuleRecord]:
        """The rules of the run's order, in that order."""
        known = {one.rule.id: one for one in self.judged}
        return [known[rule] for rule in self.request.rules]


def read_run_record(events: Iterable[Recorded]) -> RunRecord:
    state, queued_at, head = RunState(), 0.0, ""
    scanned: dict[str, float] = {}
    tried: dict[tuple[str, int], AttemptRecord] = {}
    people, seats, rebooted, reboot = [], Seats(), None, list[str]()
    for recorded in events:
        state = apply_event(state, recorded)
        queued_at, head = queued_at or recorded.at, recorded.hash
        if isinstance(recorded.event, kinds.ScanFinished):
            scanned[recorded.event.phase] = recorded.at
        elif isinstance(recorded.event, kinds.RebootChecked):
            rebooted = recorded.event
        elif isinstance(recorded.event, REBOOT_RESULTS):
            reboot.append(recorded.event.describe().text)
        people += [done] if (done := find_operator_action(recorded)) else []
        seats.apply_event(recorded.event)
        _record_attempt(tried, state, recorded)
    if state.request is None or state.ended is None:
        raise RunNotEnded(f"run {state.run} has not ended: its papers are made when it has.")
    pack = load_skill_with_run_parameters(state)
    if gone := [rule for rule in state.request.rules if rule not in pack.rules]:
        raise BadInput(f"{pack.title} has no rule {gone[0]} any more: use the version of Temper that made the run.")
    judged = tuple(_build_rule_records(pack, state, state.request, tried))
    title = build_benchmark_title(pack, state.started)
    asked, deeds = state.request, tuple(people)
    sitting = seats.list_seats()
    return RunRecord(
        state, asked, pack, queued_at, scanned, head, judged, deeds, sitting, title, rebooted, tuple(reboot)
    )


def _record_attempt(attempt_records: dict[tuple[str, int], AttemptRecord], state: RunState, recorded: Recorded) -> None:
    item = state.item
    if item is None or item.attempt is None:
        return
    place = item.rule, item.attempt.number
    one = attempt_records.setdefault(place, AttemptRecord(item.attempt, recorded.seq, recorded.seq, recorded.at, []))
    one.attempt, one.last, one.until = item.attempt, recorded.seq, recorded.at
    if isinstance(recorded.event, kinds.LessonLearnt):
        one.lesson = recorded.event.lesson
    elif isinstance(recorded.event, Answer):
        one.answers.append(recorded.event)


def _build_rule_records(
    skill: Skill, state: RunState, request: kinds.RunQueued, attempt_records: dict[tuple[str, int], AttemptRecord]
) -> Iterator[RuleRecord]:
    started = state.started
    known = {one.rule: one for one in started.published.rules} if started and started.published else {}
    tailored = started.tailored if started else None
    last = state.opening if request.mode == "scan" else state.closing
    for rule in skill.rules_including_left_out:
        closing = last.get(rule.id)
        holds = closing is not None and closing.word in ("pass", "notapplicable")
        yield RuleRecord(
            rule,
            build_published_rule(rule, known.get(rule.id)),
            state.opening.get(rule.id),
            closing,
            state.items.get(rule.id),
            tuple(one for (of, _), one in attempt_records.items() if of == rule.id),
            find_active_waiver(state, rule.id, state.at) if rule.id in request.rules and not holds else None,
            tailored.same_text_for_every_excluded_rule if tailored and rule.id in tailored.left_out else "",
            tuple(one for one in started.parameters if rule.id in one.rules) if started else (),
        )
