"""Gathers what the content itself proposes for a rule, before any model is asked."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from app.candidates.ansible_tasks import translate_tasks
from app.candidates.prose_lines import find_set_sentence, find_stated_actions
from app.candidates.scratch_files import Undecidable
from app.events.vocabulary import AnyAction, Candidate
from app.skills.skill import Rule, Skill
from app.syntax.files import Files
from app.targets.change_plan import Asks
from app.targets.rule_scope import RuleScope
from app.targets.target import Target
from app.text.clean import clean_text
from app.text.redaction import redact_secrets

PROSE = "the fix text"
MOST_REFUSAL, MOST_DIFF = 600, 8000
"""Characters that are kept of what the policy says and of a diff."""


def gather_candidates(skill: Skill, rule: Rule, files: Files, broken_at: str = "") -> list[Candidate]:
    """Return the proposals for this host, each set of actions once: the first source that has it is named.

    `broken_at` is the file in which the scanner found the rule broken.
    """
    found = [
        _make_candidate(one.source, partial(translate_tasks, one.text, files)) for one in skill.list_tasks(rule.id)
    ]
    if not rule.script:
        found.append(_make_candidate(PROSE, lambda: _read_prose(rule, files, broken_at)))
    return _drop_repeated(found)


def _read_prose(rule: Rule, files: Files, broken_at: str) -> tuple[AnyAction, ...]:
    try:
        return find_stated_actions(rule.fix, files)
    except Undecidable:
        return find_set_sentence(rule.fix, broken_at or next(iter(rule.paths), ""))


def judge_candidate(one: Candidate, target: Target, asks: Asks, scope: RuleScope | None = None) -> Candidate:
    """Return the candidate with what it would change on the host and what the policy says to it."""
    if not one.actions:
        return one
    if scope:
        scope = dataclasses.replace(scope, proposed=one.actions)
    assessed = target.assess_actions(one.actions, frozenset(one.places), asks, scope)
    refusals = [f"{refusal.clause}: {refusal.reason}" for refusal in assessed.refusals]
    refusal = clean_text(redact_secrets(" ".join(refusals) or assessed.plan.obstacle or ""), MOST_REFUSAL)
    return replace(one, refusal=refusal, diff=redact_secrets(assessed.shown_text)[:MOST_DIFF])


def _make_candidate(source: str, make: Callable[[], tuple[AnyAction, ...]]) -> Candidate:
    try:
        actions = make()
    except Undecidable as exc:
        return Candidate(source=source, gap=str(exc))
    return Candidate(source=source, actions=actions, gap="" if actions else "It would change nothing on this host.")


def _drop_repeated(found: Sequence[Candidate]) -> list[Candidate]:
    seen: set[tuple[AnyAction, ...]] = set()
    kept = []
    for one in found:
        if not one.actions or one.actions not in seen:
            kept.append(one)
        seen.add(one.actions)
    return kept
