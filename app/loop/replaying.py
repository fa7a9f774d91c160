"""A fix that held elsewhere: when two hosts are equal for a rule, and what is kept of a change that held."""

import hashlib
from collections.abc import Iterable

from app.events.kinds import PlanMade
from app.events.words import ProvenFix, ResourceAction
from app.loop.attempt import Attempt
from app.skills.skill import Rule
from app.syntax.files import Files
from app.targets.digest import digest

WATCHED = ("review", "triage")
"""Auditor and Sentry: a change on which either stayed silent proves nothing for another host."""


def seen(rule: Rule, files: Files, rulebook: str) -> str:
    """The files that decide the rule, as they stand, under rules as they are; empty where none decides it."""
    paths = sorted({path for pattern in rule.paths for path in files.glob(pattern) or [pattern]})
    if not paths or not rulebook:
        return ""
    told = [rulebook, rule.id, *(f"{path} {digest(files.state(path))}" for path in paths)]
    return hashlib.sha256("\n".join(told).encode("utf-8", "surrogateescape")).hexdigest()


def equal(files: Files, fixes: Iterable[ProvenFix]) -> ProvenFix | None:
    """The first whose change would begin from the very bytes, modes and owners that it began from where it held."""
    for fix in fixes:
        if all(digest(files.state(change.path)) == change.before for change in fix.changes):
            return fix
    return None


def plan_of(fix: ProvenFix, attempt: int) -> PlanMade:
    return PlanMade(
        rule=fix.rule,
        attempt=attempt,
        approach=fix.approach,
        paths=fix.paths,
        steps=fix.steps,
        risk=fix.risk,
        rollback=fix.rollback,
        validation=fix.validation,
    )


def proven(run: str, rule: str, host: str, attempt: Attempt, *, played: bool) -> ProvenFix | None:
    """What the attempt that passed is worth to others; nothing where it only repeats, or not all of them looked."""
    plan, proposed, applied = attempt.plan, attempt.proposed, attempt.applied
    if not (attempt.seen and plan and proposed and applied and applied.changes):
        return None
    if proposed.replayed or not set(WATCHED) <= attempt.answered:
        return None
    if any(isinstance(action, ResourceAction) for action in proposed.actions):
        return None  # what it begins from is more than files
    return ProvenFix(
        id=f"{run}.{rule}.{attempt.number}",
        rule=rule,
        host=host,
        run=run,
        attempt=attempt.number,
        played=played,
        seen=attempt.seen,
        changes=applied.changes,
        actions=proposed.actions,
        note=proposed.note,
        fingerprint=proposed.fingerprint,
        by=proposed.by,
        approach=plan.approach,
        paths=plan.paths,
        steps=plan.steps,
        risk=plan.risk,
        rollback=plan.rollback,
        validation=plan.validation,
    )
