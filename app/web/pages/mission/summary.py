"""The summary of a run: fixes, rollbacks, rules before and after, best moments and lessons."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from app.events.event_field_types import Lesson
from app.events.kinds import RUN_KINDS, ActionRolledBack, ItemPassed, LessonLearnt
from app.events.record import Recorded
from app.evidence.run_record import REBOOT_RESULTS
from app.loop.state import Item, RunState, fold_events
from app.store.events import EventStore
from app.web.pages.mission.progress import measure_progress
from app.web.pages.mission.replay_highlights import Moment, find_moments
from app.web.pages.templating import format_span_with_colons

READ = tuple(kind for kind in RUN_KINDS if not kind.startswith(("turn.", "facts")))
Stand = Literal["pass", "fail", "open"]


class RuleMark(NamedTuple):
    rule: str
    stand: Stand


@dataclass(frozen=True)
class LessonOutcome:
    lesson: Lesson
    helped: bool
    """True if a later attempt used the lesson and passed."""


@dataclass(frozen=True)
class Summary:
    state: RunState
    seconds: float | None
    passed: int
    total: int
    undone: int
    unrestored: int
    """Rollbacks that left a difference."""
    needs: tuple[Item, ...]
    waived: tuple[Item, ...]
    """Waived items: skipped, and still findings."""
    before: tuple[RuleMark, ...]
    after: tuple[RuleMark, ...]
    rescanned: bool
    """True if a closing scan was done; otherwise `after` is derived from the attempts."""
    moments: tuple[Moment, ...]
    learnt: tuple[LessonOutcome, ...]
    reboot: tuple[str, ...] = ()
    """What came of the reboot at the end, one sentence each."""

    @property
    def failing_rules_without_verdict_before(self) -> tuple[str, ...]:
        """Rules that were not judged before and fail in the closing scan, such as those of a package that came."""
        was_open = {mark.rule for mark in self.before if mark.stand == "open"}
        found = (mark.rule for mark in self.after if self.rescanned and mark.stand == "fail")
        return tuple(rule for rule in found if rule in was_open)

    @property
    def needs_by_question(self) -> tuple[tuple[str, tuple[Item, ...]], ...]:
        """What needs a person, by the question that it leaves; most items first."""
        found: dict[str, list[Item]] = {}
        for item in self.needs:
            found.setdefault(item.question or item.status, []).append(item)
        return tuple((name, tuple(items)) for name, items in sorted(found.items(), key=lambda one: -len(one[1])))

    @property
    def headline(self) -> str:
        return " · ".join(self.headline_parts)

    @property
    def headline_parts(self) -> tuple[str, ...]:
        return (*self._outcome_parts, f"{len(self.waived)} waived") if self.waived else self._outcome_parts

    @property
    def _outcome_parts(self) -> tuple[str, ...]:
        asked = self.state.request
        held = sum(mark.stand == "pass" for mark in self.before)
        findings = f"{self.total} finding{'s' if self.total != 1 else ''}"
        if asked and asked.mode == "scan":
            return f"{held} of {len(self.before)} rules pass", findings, "no changes made"
        if asked and asked.mode == "dry-run":
            return f"{findings} rehearsed", "no changes made"
        return (
            self._fixed_text,
            self._rollback_text_even_without_rollback,
            f"{len(self.needs)} need{'s' if len(self.needs) == 1 else ''} you",
        )

    @property
    def _fixed_text(self) -> str:
        fixed = f"{self.passed} of {self.total} fixed in {format_span_with_colons(self.seconds or 0)}"
        return fixed if self.state.ended else f"{fixed} so far"

    @property
    def _rollback_text_even_without_rollback(self) -> str:
        if not self.undone:
            return "no change had to be undone"
        many = self.undone > 1
        how = f"{self.unrestored} NOT restored" if self.unrestored else "all verified" if many else "verified"
        return f"{self.undone} change{'s' if many else ''} undone, {how}"


def read_summary(store: EventStore, run: str) -> Summary:
    return build_summary(list(store.read_events(run, kinds=READ)))


def build_summary(events: Sequence[Recorded]) -> Summary:
    state = fold_events(events)
    said = [recorded.event for recorded in events]
    back = {(one.rule, one.attempt): one for one in said if isinstance(one, ActionRolledBack)}
    helped = {lesson for one in said if isinstance(one, ItemPassed) for lesson in one.lessons}
    far = measure_progress(state)
    return Summary(
        state=state,
        seconds=far.elapsed,
        passed=far.counts["passed"],
        total=far.total,
        undone=len(back),
        unrestored=sum(bool(one.differences) for one in back.values()),
        needs=tuple(item for item in state.items.values() if item.has_ended_needing_human_action),
        waived=tuple(item for item in state.items.values() if item.status == "waived"),
        before=_list_rule_marks_before_or_after_run(state, after_run=False),
        after=_list_rule_marks_before_or_after_run(state, after_run=True),
        rescanned=bool(state.closing),
        moments=find_moments(events),
        learnt=tuple(
            LessonOutcome(one.lesson, one.lesson.id in helped) for one in said if isinstance(one, LessonLearnt)
        ),
        reboot=tuple(one.describe().text for one in said if isinstance(one, REBOOT_RESULTS)),
    )


def _list_rule_marks_before_or_after_run(state: RunState, *, after_run: bool) -> tuple[RuleMark, ...]:
    asked = state.request.rules if state.request else ()
    first = state.scope.order if state.scope else ()
    order = [*first, *(rule for rule in asked if rule not in first)]  # in the run's order, like the cells of the ribbon
    return tuple(RuleMark(rule, _judge_rule(state, rule, after=after_run)) for rule in order)


def _judge_rule(state: RunState, rule: str, *, after: bool) -> Stand:
    item = state.items.get(rule)
    verdict = (state.closing.get(rule) if after else None) or state.opening.get(rule)
    if after and rule not in state.closing and item and item.status == "passed":
        return "pass"
    if verdict is None:
        return "open"
    return "pass" if verdict.word == "pass" else "fail" if verdict.word == "fail" else "open"
