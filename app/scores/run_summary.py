"""Summarize a run's log for a score, rule by rule. Pure: a pack's events give the same result."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from app.events import kinds
from app.events.record import Recorded
from app.scores.score_structures import Stage, TrialOutcome
from app.skills.skill import Skill

NEEDS_A_PERSON = frozenset({"V-258106"})
"""On these hosts the fix would remove the hardening agent's own sudo right."""
_STAGES: dict[str, Stage] = {
    "refused": "policy",
    "disapproved": "policy",
    "broken": "act",
    "change failed": "act",
    "scanner": "scanner",
    "vetoed": "auditor",
    "alarm": "harm",
    "over budget": "time",
    "interrupted": "time",
    "engine": "engine",
}
_COUNTED = ("harmed", "undone", "vetoed", "refused", "turns", "usable", "prompt_tokens", "tokens")


@dataclass
class _RuleTally:
    count: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))
    opening: str = ""
    closing: str = ""
    ended: str = ""
    began: float = 0.0
    seconds: float = 0.0
    failed_at: Stage = ""
    asked: kinds.TurnStarted | None = None
    last_ended_well: bool = True
    roles_stopped: bool = False


@dataclass(frozen=True)
class RunSummary:
    fates: tuple[TrialOutcome, ...]
    left: tuple[str, ...]
    broken: str
    events: int
    head: str
    scanner: str


def summarize_run(events: Iterable[Recorded], skill: Skill) -> RunSummary:
    tallies: dict[str, _RuleTally] = {}
    left: list[str] = []
    broken, scanner, at, head, seq = "", "", "", "", 0
    for one in events:
        event, seq, head = one.event, one.seq, one.hash
        if isinstance(event, kinds.RunQueued):
            tallies = {rule: _RuleTally() for rule in event.rules}
        elif isinstance(event, kinds.RunStarted):
            scanner = event.scanner
        elif isinstance(event, kinds.RunFailed):
            broken = event.reason
        elif isinstance(event, kinds.ActionRolledBack):
            left += event.differences
        at = getattr(event, "rule", at)
        if at in tallies:
            _apply_rule_event(tallies[at], one)
    fates = tuple(_build_trial_outcome(rule, tally, skill) for rule, tally in tallies.items())
    return RunSummary(fates, tuple(left), broken, seq, head, scanner)


def _apply_rule_event(tally: _RuleTally, recorded: Recorded) -> None:
    event, count = recorded.event, tally.count
    match event:
        case kinds.VerdictGiven(phase="opening"):
            tally.opening = event.word
        case kinds.VerdictGiven(phase="closing"):
            tally.closing = event.word
        case kinds.ItemStarted():
            tally.began = recorded.at
        case kinds.AttemptStarted():
            tally.roles_stopped = bool(event.why_roles_stopped)
        case kinds.TurnStarted():
            tally.asked = event
            count["turns"] += 1
        case kinds.TurnFinished():
            tally.last_ended_well = event.outcome in ("answered", "broken")
            count["usable"] += event.outcome == "answered"
            count["prompt_tokens"] += event.prompt_tokens
            count["tokens"] += event.completion_tokens
        case kinds.TurnInterrupted():
            tally.last_ended_well = False
        case kinds.ActionRefused():
            count["refused"] += 1
        case kinds.ActionRolledBack():
            count["undone"] += 1
        case kinds.AttemptFailed():
            count["harmed"] += event.cause == "alarm"
            count["vetoed"] += event.cause == "vetoed"
            tally.failed_at = _get_failed_stage(event, tally)
        case kinds.ItemPassed() | kinds.ItemEscalated() | kinds.ItemDeferred() | kinds.ItemSkipped():
            tally.ended = event.outcome
            tally.seconds = round(recorded.at - tally.began, 3) if tally.began else 0.0
        case _:
            pass


def _get_failed_stage(event: kinds.AttemptFailed, tally: _RuleTally) -> Stage:
    """Return the failed stage: plan or act if the engine answered unusably, engine if it did not answer."""
    if event.cause in ("engine", "over budget") and tally.asked and tally.last_ended_well:
        return {"plan": "plan", "act": "act"}.get(tally.asked.purpose, _STAGES[event.cause])  # type: ignore[return-value]
    return _STAGES.get(event.cause, "engine")


def _build_trial_outcome(rule: str, tally: _RuleTally, skill: Skill) -> TrialOutcome:
    person = rule in NEEDS_A_PERSON or (rule in skill.rules and skill.rules[rule].irreversible)
    fate = TrialOutcome(
        rule=rule,
        opening=tally.opening,
        closing=tally.closing or tally.opening,
        ended=tally.ended,
        without_role=tally.ended == "passed" and tally.roles_stopped,
        failed_at="" if tally.ended == "passed" else tally.failed_at,
        person=person,
        seconds=tally.seconds,
    )
    return msgspec.structs.replace(fate, **tally.count)
