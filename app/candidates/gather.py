"""Gathers what the content itself proposes for a rule, before any model is asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.candidates.ansible_tasks import translate_tasks
from app.candidates.prose_lines import find_stated_actions
from app.candidates.scratch_files import Undecidable
from app.events.vocabulary import AnyAction
from app.skills.skill import Rule, Skill
from app.syntax.files import Files

TASKS, PROSE = "the content's Ansible tasks", "the fix text"


@dataclass(frozen=True)
class Candidate:
    """A proposal as typed actions, or the reason why its source has none."""

    source: str
    actions: tuple[AnyAction, ...] = ()
    gap: str = ""

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(path for action in self.actions if (path := getattr(action, "path", "")))


def gather_candidates(skill: Skill, rule: Rule, files: Files) -> list[Candidate]:
    """Return the proposals for this host, each set of actions once: the first source that has it is named."""
    tasks = skill.read_tasks(rule.id)
    found = [_make_candidate(TASKS, lambda: translate_tasks(tasks, files))] if tasks else []
    if not rule.script:
        found.append(_make_candidate(PROSE, lambda: find_stated_actions(rule.fix, files)))
    return _drop_repeated(found)


def _make_candidate(source: str, make: Callable[[], tuple[AnyAction, ...]]) -> Candidate:
    try:
        actions = make()
    except Undecidable as exc:
        return Candidate(source, gap=str(exc))
    return Candidate(source, actions, "" if actions else "It would change nothing on this host.")


def _drop_repeated(found: Sequence[Candidate]) -> list[Candidate]:
    seen: set[tuple[AnyAction, ...]] = set()
    kept = []
    for one in found:
        if not one.actions or one.actions not in seen:
            kept.append(one)
        seen.add(one.actions)
    return kept
