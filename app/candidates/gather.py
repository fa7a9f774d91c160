"""Gathers what recipes and the content itself propose for a rule, before any model is asked."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from msgspec.structs import replace

from app.candidates.ansible_tasks import translate_tasks
from app.candidates.prose_lines import find_set_sentence, find_stated_actions
from app.candidates.recipes import Recipe
from app.candidates.scratch_files import Undecidable
from app.events.vocabulary import AnyAction, Candidate, fingerprint_actions
from app.skills.skill import Rule, Skill
from app.syntax.files import Files
from app.targets.change_plan import Asks
from app.targets.rule_scope import RuleScope
from app.targets.target import Target
from app.text.clean import clean_text
from app.text.redaction import redact_secrets

PROSE = "the fix text"
MOST_CANDIDATES = 8
MOST_REFUSAL, MOST_DIFF = 600, 8000
"""Characters that are kept of what the policy says and of a diff."""


def gather_candidates(
    skill: Skill, rule: Rule, files: Files, broken_at: str = "", recipes: Iterable[Recipe] = ()
) -> list[Candidate]:
    """Return the proposals for this host: people's recipes first, then the content's tasks and its fix text.

    `broken_at` is the file in which the scanner found the rule broken.
    """
    found = [Candidate(source=one.source, actions=one.actions) for one in recipes if one.rule == rule.id]
    found += [
        _make_candidate(one.source, partial(translate_tasks, one.text, files)) for one in skill.list_tasks(rule.id)
    ]
    if not rule.script:
        found.append(_make_candidate(PROSE, lambda: _read_prose(rule, files, broken_at)))
    return _merge_repeated(found, lambda one: fingerprint_actions(one.actions))[:MOST_CANDIDATES]


def judge_candidates(
    found: Iterable[Candidate], target: Target, asks: Asks, scope: RuleScope | None = None
) -> tuple[Candidate, ...]:
    """Return the candidates with what each would change and what the policy says; equal changes are merged."""
    judged = [_judge_candidate(one, target, asks, scope) for one in found]
    return tuple(_merge_repeated(judged, lambda one: one.diff if one.is_usable else ""))


def _read_prose(rule: Rule, files: Files, broken_at: str) -> tuple[AnyAction, ...]:
    try:
        return find_stated_actions(rule.fix, files)
    except Undecidable:
        return find_set_sentence(rule.fix, broken_at or next(iter(rule.paths), ""))


def _judge_candidate(one: Candidate, target: Target, asks: Asks, scope: RuleScope | None) -> Candidate:
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


def _merge_repeated(found: Sequence[Candidate], describe: Callable[[Candidate], str]) -> list[Candidate]:
    """Merge candidates that `describe` finds equal; the first stays and names the sources of the others."""
    kept: dict[str, Candidate] = {}
    for number, one in enumerate(found):
        key = (describe(one) if one.actions else "") or f"number {number}"
        first = kept.get(key)
        kept[key] = replace(first, also=(*first.also, *one.also, one.source)) if first else one
    return list(kept.values())
