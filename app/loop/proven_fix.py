"""Proven fixes: when hosts are equal for a rule, and which changes are worth keeping."""

import hashlib
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from app.events.event_field_types import ProvenFix
from app.events.kinds import PlanMade
from app.loop.attempt_state import Attempt
from app.loop.harm_seen_by_probes import find_touched_probes_not_asked
from app.resources.kind import ResourceAction
from app.skills.skill import Rule
from app.syntax.host_files_protocol import Files
from app.targets.file_and_account_baseline import compute_file_state_digest

WATCHED = ("review", "triage")
"""Both Auditor and Sentry must have answered for a change to count as proven."""


def compute_deciding_files_digest(rule: Rule, files: Files, rulebook_digest: str) -> str:
    """Return the digest of the rulebook and the files that decide the rule; empty if none decides it."""
    paths = sorted({path for pattern in rule.paths for path in files.glob(pattern) or [pattern]})
    if not paths or not rulebook_digest:
        return ""
    basis = [rulebook_digest, rule.id, *(f"{path} {compute_file_state_digest(files.state(path))}" for path in paths)]
    return hashlib.sha256("\n".join(basis).encode("utf-8", "surrogateescape")).hexdigest()


def find_fix_for_identical_files(files: Files, fixes: Iterable[ProvenFix]) -> ProvenFix | None:
    """Return the first fix whose files all have the content, mode and owner they had on the original host."""
    for fix in fixes:
        if all(compute_file_state_digest(files.state(change.path)) == change.before for change in fix.changes):
            return fix
    return None


def build_plan_event(fix: ProvenFix, attempt: int) -> PlanMade:
    return PlanMade(**{**_get_shared_fields(fix, PlanMade), "attempt": attempt})


def build_real_or_simulated_fix_if_proven(
    run: str, rule: str, host: str, attempt: Attempt, *, is_host_simulated: bool
) -> ProvenFix | None:
    """Return the proven fix of a passed attempt, or None if it does not count as proven.

    It counts if it is no replay, both roles reviewed it, and every probe that it could touch was really asked.
    """
    plan, proposed, applied = attempt.plan, attempt.proposed, attempt.applied
    if not (attempt.seen and plan and proposed and applied and applied.changes):
        return None
    if proposed.replayed or not set(WATCHED) <= attempt.answered:
        return None
    if any(isinstance(action, ResourceAction) for action in proposed.actions):
        return None  # its starting point is more than files
    changed_paths = [one.path for one in applied.changes]
    if attempt.probed is None or find_touched_probes_not_asked(attempt.probed.probes, changed_paths):
        return None
    change = _get_shared_fields(plan, ProvenFix) | _get_shared_fields(proposed, ProvenFix)
    of = {"id": f"{run}.{rule}.{attempt.number}", "rule": rule, "host": host, "run": run, "attempt": attempt.number}
    return ProvenFix(**change | of, played=is_host_simulated, seen=attempt.seen, changes=applied.changes)


def _get_shared_fields(source: Struct, kind: type[Struct]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in source.__struct_fields__ if name in kind.__struct_fields__}
