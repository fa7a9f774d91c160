"""Gathers what recipes and the content itself propose for a rule, before any model is asked."""

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from msgspec import to_builtins
from msgspec.structs import replace

from app.candidates.actions_from_script_on_copy import try_script_on_copy_and_translate
from app.candidates.ansible_tasks_to_actions import translate_tasks
from app.candidates.fix_text_parser import (
    redirect_stated_lines_to_changed_path,
    require_option_action_from_sentence,
    require_stated_actions,
)
from app.candidates.permission_fixes import require_permission_actions
from app.candidates.recipe_file_reader import Recipe
from app.candidates.rule_questions_left_to_people import find_person_decision
from app.candidates.scratch_files_to_actions import Undecidable
from app.candidates.settings_that_proposals_ask_for import list_settings_of_candidates_except_recipes
from app.events.event_field_types import SCRIPT_TRIAL, AnyAction, Candidate, Reload, fingerprint_actions
from app.resources.kind import ResourceAction
from app.resources.registry import get_kind
from app.skills.skill import Rule, Skill
from app.syntax.host_files_protocol import Files
from app.targets.planned_effects_of_actions import IMPOSSIBLE, Asks
from app.targets.rule_scope import RuleScope, find_services
from app.targets.target import Target
from app.text.clean import clean_text
from app.text.redaction import redact_secrets

PROSE, EVIDENCE, PERSON = "the fix text", "what the scanner shows", "a person"
PROSE_IN_NAMED_FILE = "the fix text, in the file that the scanner names"
"""A check may read one file where the text of its rule names another of the same program."""
_OPEN = re.compile(r"\bchange_?me\b[^\s\"']*|\bset_this\b|@@?logcollector\b", re.IGNORECASE)
_LOADED_BY = ("systemd-sysctl", "auditd", "grub")
"""Services that load their files at a reload; the other programs read theirs anew each time."""
MOST_CANDIDATES = 8
MOST_REFUSAL, MOST_DIFF = 600, 8000
"""Characters that are kept of what the policy says and of a diff."""


def gather_candidates(
    skill: Skill, rule: Rule, files: Files, broken_file: str = "", recipes: Iterable[Recipe] = (), evidence: str = ""
) -> list[Candidate]:
    """Return the proposals for this host: recipes first, the content's tasks and fix text, then what the scanner shows.

    `broken_file` is the file in which the scanner found the rule broken, `evidence` what it says of it.
    """
    found = [Candidate(source=one.source, actions=one.actions) for one in recipes if one.rule == rule.id]
    found += [
        _make_candidate(one.source, partial(translate_tasks, one.text, files)) for one in skill.list_tasks(rule.id)
    ]
    if not rule.script:
        found.append(_make_candidate(PROSE, lambda: _derive_actions_from_fix_prose(rule, files, broken_file)))
        if actions := redirect_stated_lines_to_changed_path(rule.fix, files, broken_file):
            found.append(Candidate(source=PROSE_IN_NAMED_FILE, actions=actions))
    if " has mode " in evidence:
        found.append(_make_candidate(EVIDENCE, lambda: require_permission_actions(rule.title, evidence)))
    texts = f"{rule.title}\n{rule.requirement}"
    decision = find_person_decision(rule.id, texts)
    if decision and (decision.although_proposed or not any(one.actions for one in found)):
        found.append(Candidate(source=PERSON, gap=decision.reason, question=decision.question))
    return _merge_repeated(found, lambda one: fingerprint_actions(one.actions))[:MOST_CANDIDATES]


def judge_candidates(
    candidates: Iterable[Candidate], target: Target, permitted_weakenings: Asks, scope: RuleScope | None = None
) -> tuple[Candidate, ...]:
    """Return the candidates with what each would change and what the policy says; equal changes are merged."""
    judged = [
        part for one in candidates for part in _judge_with_parts(_add_reloads(one), target, permitted_weakenings, scope)
    ]
    return tuple(_merge_repeated(judged, lambda one: one.diff if one.is_usable else ""))


def has_usable_or_impossible(judged: Iterable[Candidate]) -> bool:
    """Return True if one can be taken, or if it is known that none can work on this host."""
    return any(one.is_usable or one.refusal.startswith(IMPOSSIBLE) for one in judged)


def try_scripts_and_append_judged_candidates(
    skill: Skill,
    rule: Rule,
    target: Target,
    permitted_weakenings: Asks,
    scope: RuleScope | None,
    judged_candidates: Collection[Candidate],
) -> tuple[Candidate, ...]:
    """Return `judged_candidates`, and judged what the content's scripts do to a copy of the host's files.

    It takes seconds.
    """
    found = [
        _make_candidate(
            f"{one.source}{SCRIPT_TRIAL}", partial(try_script_on_copy_and_translate, rule.id, one.text, target)
        )
        for one in skill.list_scripts(rule.id)
    ]
    judged = judge_candidates(found, target, permitted_weakenings, scope)
    return tuple(_merge_repeated([*judged_candidates, *judged], lambda one: one.diff if one.is_usable else ""))


def _add_reloads(candidate: Candidate) -> Candidate:
    """Return the candidate with the reload that puts its files in force, at its end."""
    services = [service for service in find_services(candidate.places) if service in _LOADED_BY]
    missing = tuple(Reload(service=service) for service in services if Reload(service=service) not in candidate.actions)
    return replace(candidate, actions=(*candidate.actions, *missing)) if missing else candidate


def _derive_actions_from_fix_prose(rule: Rule, files: Files, file_that_breaks_rule: str) -> tuple[AnyAction, ...]:
    try:
        return require_stated_actions(rule.fix, files)
    except Undecidable as exc:
        try:
            return require_option_action_from_sentence(rule.fix, file_that_breaks_rule or next(iter(rule.paths), ""))
        except Undecidable:
            raise exc from None


def _judge_with_parts(
    candidate: Candidate, target: Target, permitted_weakenings: Asks, scope: RuleScope | None
) -> Iterator[Candidate]:
    """Yield the judged candidate. If it is refused as a whole, its packages, units and files follow apart.

    A package brings units and files along, which nobody can foresee: what it brings may already be all that is wanted.
    """
    whole = _judge_candidate(candidate, target, permitted_weakenings, scope)
    yield whole
    groups: dict[str, list[AnyAction]] = {}
    for action in candidate.actions if whole.refusal else ():
        kind = get_kind(action).name if isinstance(action, ResourceAction) else "file"
        groups.setdefault(kind, []).append(action)
    if len(groups) < 2:
        return
    for kind, actions in groups.items():
        part = Candidate(source=f"{candidate.source}, its {kind} part", actions=tuple(actions))
        judged = _judge_candidate(_add_reloads(part), target, permitted_weakenings, scope)
        if judged.is_usable:
            yield judged


def _judge_candidate(
    candidate: Candidate, target: Target, permitted_weakenings: Asks, scope: RuleScope | None
) -> Candidate:
    if not candidate.actions:
        return candidate
    if scope:
        scope = dataclasses.replace(scope, proposed=candidate.actions)
    permitted_weakenings |= list_settings_of_candidates_except_recipes([candidate])
    assessed = target.assess_actions(candidate.actions, frozenset(candidate.places), permitted_weakenings, scope)
    refusals = [f"{refusal.clause}: {refusal.reason}" for refusal in assessed.refusals]
    refusal = clean_text(redact_secrets(" ".join(refusals) or assessed.plan.obstacle or ""), MOST_REFUSAL)
    return replace(candidate, refusal=refusal, diff=redact_secrets(assessed.diff_or_obstacle)[:MOST_DIFF])


def _make_candidate(source: str, make: Callable[[], tuple[AnyAction, ...]]) -> Candidate:
    try:
        actions = make()
    except Undecidable as exc:
        return Candidate(source=source, gap=str(exc))
    if open_value := next(filter(None, map(_find_placeholder_for_site_value, actions)), ""):
        return Candidate(source=source, gap=f"It leaves a value open, which a person decides: {open_value!r}.")
    return Candidate(source=source, actions=actions, gap="" if actions else "It would change nothing on this host.")


def _find_placeholder_for_site_value(action: AnyAction) -> str:
    """Return the placeholder that an action would write, as contents have them for what only a site knows."""
    texts = (str(value) for value in to_builtins(action).values())
    return next((found[0] for text in texts if (found := _OPEN.search(text))), "")


def _merge_repeated(candidates: Sequence[Candidate], get_merge_key: Callable[[Candidate], str]) -> list[Candidate]:
    """Merge candidates that `get_merge_key` finds equal; the first stays and names the sources of the others."""
    kept: dict[str, Candidate] = {}
    for number, one in enumerate(candidates):
        key = (get_merge_key(one) if one.actions else "") or f"number {number}"
        first = kept.get(key)
        kept[key] = replace(first, also=(*first.also, *one.also, one.source)) if first else one
    return list(kept.values())
