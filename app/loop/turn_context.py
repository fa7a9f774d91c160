"""Builds the situation of a turn: the deciding files, their content, and what there is to judge."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never

from app.events.architect_questions_about_host import MOST_QUESTIONS
from app.events.event_field_types import Purpose
from app.events.kinds import SentryProbed, VerdictGiven
from app.loop.answer_schemas import TurnSituation
from app.loop.attempt_state import Attempt
from app.loop.rule_terms import RuleTerms, format_script_values
from app.loop.shown_file import show_file
from app.loop.state import Item
from app.resources.kind import ResourceAction
from app.skills.skill import Rule
from app.syntax import host_text
from app.syntax.host_text import fold_case
from app.targets.files_that_roles_may_see import LinkFollowingFiles, has_edit_judge, is_absolute_path_without_dot_parts
from app.targets.policy import SERVICES
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.resources.available_actions import Offer
from app.targets.resources.resource_dry_run import is_resource
from app.targets.rule_scope import RuleScope, find_services
from app.text.clean import clean_text
from app.text.redaction import redact_secrets

FILE_CHARS = 1800
"""Maximum characters of a file's lines, with numbers."""
GUIDED_CHARS = 500
_MOST_FILES = 60
_SHOWN = 3
"""Files shown in full for a plan."""
_SHORT = 3
"""Words up to this length are ignored when lines are ranked."""
_LONGEST, _LONGEST_PATH = 200, 256
_COMPLAINS = re.compile(
    r"\b(?:denied|errors?|fatal|cannot|unable|panic|segfault|not permitted|no such)\b", re.IGNORECASE
)
"""Words of program errors, without failed logins, which every log has."""
_MOST_COMPLAINTS = 6
_UNPLAIN = re.compile(r'["\\\x00-\x1f\x7f]')


@dataclass(frozen=True)
class TurnContext:
    """The context of a turn, from which each prompt takes what its role needs."""

    item: Item
    attempt: Attempt
    rule: Rule
    host: str
    files: LinkFollowingFiles
    facts: dict[str, str]
    opening: VerdictGiven | None = None
    """The scanner's verdict before the run."""
    guided: bool = False
    weighs: bool = True
    offers: tuple[Offer, ...] = ()
    """Possible actions on other resources."""
    candidates: tuple[ResourceAction, ...] = ()
    """Actions on other resources that the rule could want, possible or not."""
    recall: ReadTrackingCache = field(default_factory=ReadTrackingCache)
    """Cached answers about the files."""
    shows_candidates: bool = False
    """The role sees what the content and recipes propose, and a plan may take one."""
    asks: bool = False
    """The Architect may ask about the host before it plans."""

    @property
    def questions_left(self) -> int:
        return max(0, MOST_QUESTIONS - len(self.attempt.inquired)) if self.asks else 0

    @property
    def scope(self) -> RuleScope:
        return build_rule_scope(self.rule, self.opening, self.item)


def build_rule_scope(rule: Rule, opening: VerdictGiven | None, item: Item) -> RuleScope:
    """Return what the rule names. Lessons have no part in it: roles write them."""
    paths = (*rule.paths, *_iterate_paths_named_by_scanner(opening, item))
    return RuleScope(
        rule=rule.id,
        text=f"{rule.title}\n{rule.requirement}\n{rule.fix}",
        more="\n".join([rule.title, rule.whole, *sorted(rule.asks)]),
        code=rule.code,
        script=rule.script,
        paths=tuple(dict.fromkeys(path for path in paths if path)),
        proposed=tuple(action for one in item.candidates if one.is_usable for action in one.actions),
    )


def _iterate_paths_named_by_scanner(opening: VerdictGiven | None, item: Item) -> Iterable[str]:
    """Yield the files in which the scanner found the rule broken."""
    if opening and opening.path:
        yield opening.path
    yield from (one.to for one in item.moved)


def build_situation(purpose: Purpose, context: TurnContext) -> TurnSituation:
    return replace(_build_purpose_situation(purpose, context), scope=context.scope, candidates=context.candidates)


def _build_purpose_situation(purpose: Purpose, context: TurnContext) -> TurnSituation:
    named = _collect_rule_texts_for_terms(context)
    attempt = context.attempt
    match purpose:
        case "plan":
            takeable = context.item.usable_candidates_by_number if context.shows_candidates else {}
            return replace(
                _choose_plan_files_and_build_situation(context, named),
                offers=context.offers,
                joint_files=_find_files_that_decide_together(context),
                takeable={number: one.places for number, one in takeable.items()},
                may_ask=context.questions_left,
            )
        case "act":
            assert attempt.plan
            now = _build_file_situation(context, named, (path for path in attempt.plan.paths if not is_resource(path)))
            ours = tuple(one for one in context.offers if one.place in attempt.plan.paths)
            tried, together = frozenset(context.item.tried), _find_files_that_decide_together(context)
            return replace(
                now, services=_list_reloadable_services(context), offers=ours, tried=tried, joint_files=together
            )
        case "review":
            gamable = attempt.verdict is not None and attempt.verdict.word == "pass"
            return TurnSituation(named, gamable=gamable, guided=context.guided)
        case "triage":
            reasons = (
                _iterate_alarm_reasons(attempt.probed, only_error_log_lines=context.guided) if attempt.probed else ()
            )
            return TurnSituation(named, trouble=tuple(dict.fromkeys(reasons)), guided=context.guided)
        case "reflect":
            return TurnSituation(named, weighs=context.weighs, guided=context.guided)
        case _:
            assert_never(purpose)


def _find_files_that_decide_together(context: TurnContext) -> tuple[str, ...]:
    """Return the files that decide together: after the first was changed, the scanner pointed at another one."""
    first = context.opening.path if context.opening else None
    then = [one.to for one in context.item.moved if first in one.changed and one.to not in one.changed]
    nameable = (path for path in (first, *then) if path and has_edit_judge(path) and _is_plain_short_path(path))
    both = tuple(dict.fromkeys(nameable))
    return both if len(both) > 1 else ()


def _collect_rule_texts_for_terms(context: TurnContext) -> RuleTerms:
    lessons = (text for one in context.attempt.lessons for text in (one.mechanism, one.environment, one.advice))
    rule = context.rule
    fix = format_script_values(rule.fix) if rule.script else rule.fix
    return RuleTerms((rule.title, rule.requirement, fix, *lessons))


def _choose_plan_files_and_build_situation(context: TurnContext, terms: RuleTerms) -> TurnSituation:
    """Build the situation of a plan: the files that decide the rule, the one that the scanner names first.

    Then files from lessons and, for an unguided role, every other file that the rule names.
    """
    files = context.files
    first = [context.opening.path] if context.opening and context.opening.path else []
    first += [path for pattern in context.rule.paths for path in files.glob(pattern) or [pattern] if "*" not in path]
    first += [path for path in terms.paths if files.state(path) is not None]
    names = context.scope.covers_path
    paths = dict.fromkeys(path for path in first if has_edit_judge(path) and _is_plain_short_path(path) and names(path))
    now = _build_file_situation(context, terms, list(paths)[: _MOST_FILES if context.guided else _SHOWN])
    if context.guided:
        return now
    found = (path for pattern in context.scope.changeable_patterns for path in files.glob(pattern) or [pattern])
    others = (path for path in found if "*" not in path and _is_plain_short_path(path))
    may_be_made = tuple(pattern for pattern in context.scope.changeable_patterns if "*" in pattern)
    return replace(now, paths=tuple(dict.fromkeys([*paths, *others]))[:_MOST_FILES], folders=may_be_made)


def _is_plain_short_path(path: str) -> bool:
    """Return whether a plan can name the path; file names may hold any character."""
    return is_absolute_path_without_dot_parts(path) and len(path) <= _LONGEST_PATH and not _UNPLAIN.search(path)


def _build_file_situation(context: TurnContext, terms: RuleTerms, paths: Iterable[str]) -> TurnSituation:
    limit = GUIDED_CHARS if context.guided else FILE_CHARS
    words = {fold_case(word) for word in terms.words if len(word) > _SHORT}
    files = tuple(show_file(path, context.files, context.rule.paths, words, limit) for path in dict.fromkeys(paths))
    texts = {file.path: host_text.read_text(context.files, file.path) or "" for file in files if not file.why_not}
    return TurnSituation(terms, files, texts, tuple(file.path for file in files), guided=context.guided)


def _list_reloadable_services(context: TurnContext) -> tuple[str, ...]:
    """Return the services that may be reloaded; for a guided role those alone that read the plan's files."""
    named = tuple(name for name in sorted(SERVICES) if context.scope.covers_service(name))
    assert context.attempt.plan
    reading = find_services(context.attempt.plan.paths)
    return tuple(name for name in named if name in reading) if context.guided else named


def find_complaints(log_lines: Iterable[str]) -> list[str]:
    """Return the newest log lines that report an error."""
    return [line for line in log_lines if _COMPLAINS.search(line)][-_MOST_COMPLAINTS:]


def _iterate_alarm_reasons(probed: SentryProbed, *, only_error_log_lines: bool) -> Iterable[str]:
    """Yield what an alarm may refer to: newly failing probes, drift, log lines."""
    failing = (f"{one.name}: {one.detail}" for one in probed.probes if not one.ok and one.name not in probed.ailing)
    for text in (*failing, *probed.drift, *(find_complaints(probed.log) if only_error_log_lines else probed.log)):
        yield _UNPLAIN.sub(" ", clean_text(redact_secrets(text), _LONGEST))
