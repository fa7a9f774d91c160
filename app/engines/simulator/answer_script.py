"""Scripted answers of the simulated models: one story per rule, with tries, read from a folder of TOML files."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from app.errors import BadInput

ANSWERS = Path(__file__).parent / "answers"


class ScriptedTry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One attempt at a rule, with the texts of all four roles. Empty fields have no scripted text."""

    needs_lesson: str | tuple[str, ...] = ()
    question_thought: str = ""
    why: str = ""
    questions: tuple[dict[str, Any], ...] = ()
    """Asked about the host before the plan, if the prompt says that questions are left."""
    thought: str = ""
    approach: str = ""
    paths: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    risk: str = ""
    rollback: str = ""
    validation: str = ""
    worker_thought: str = ""
    note: str = ""
    actions: tuple[dict[str, Any], ...] = ()
    auditor_thought: str = ""
    explanation: str = ""
    veto: str = ""
    sentry_thought: str = ""
    reflect_thought: str = ""
    mechanism: str = ""
    environment: str = ""
    advice: str = ""
    decision: str = ""
    reason: str = ""

    def is_written_for_lesson_in(self, lessons: str) -> bool:
        needs = (self.needs_lesson,) if isinstance(self.needs_lesson, str) else self.needs_lesson
        return any(need.casefold() in lessons.casefold() for need in needs)


class Story(Struct, frozen=True, forbid_unknown_fields=True):
    tries: tuple[ScriptedTry, ...] = field(name="try", default=())
    like: str = ""
    """Rule whose tries this story reuses."""
    words: dict[str, str] = {}
    """Values for {name} in the tries, so that rules that differ by a setting share a story."""

    def fill_words_into_template_tries(self, template_tries: tuple[ScriptedTry, ...]) -> "Story":
        text = msgspec.json.encode(template_tries).decode()
        for name, word in self.words.items():
            text = text.replace(f"{{{name}}}", msgspec.json.encode(word).decode()[1:-1])
        return Story(tries=msgspec.json.decode(text, type=tuple[ScriptedTry, ...]))


class AnswerScript:
    def __init__(self, stories: Mapping[str, Story]) -> None:
        self._stories = stories

    def pick_try(self, rule: str, attempt: int, lessons: str) -> ScriptedTry | None:
        """Return the last try whose lesson is known, else the try of this attempt; the last try repeats."""
        if (story := self._stories.get(rule)) is None:
            return None
        learnt = [one for one in story.tries if one.is_written_for_lesson_in(lessons)]
        if learnt:
            return learnt[-1]
        plain = [one for one in story.tries if not one.needs_lesson]
        return plain[min(max(attempt, 1), len(plain)) - 1] if plain else None


def read_script(folder: Path) -> AnswerScript:
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the one that holds the scripted answers.")
    stories: dict[str, Story] = {}
    for path in sorted(folder.glob("*.toml")):
        for rule, story in _read_stories(path).items():
            if rule in stories:
                raise BadInput(f"{path}: {rule} is scripted in another file of {folder} too: keep one of the two.")
            stories[rule] = story
    return AnswerScript(
        {
            rule: story.fill_words_into_template_tries(_require_own_or_shared_tries(folder, rule, stories))
            for rule, story in stories.items()
        }
    )


def _require_own_or_shared_tries(folder: Path, rule: str, stories: Mapping[str, Story]) -> tuple[ScriptedTry, ...]:
    story = stories[rule]
    source = stories.get(story.like) if story.like else story
    if source is None or not source.tries:
        raise BadInput(f"{folder}: {rule} uses the answers of {story.like}, which has none of its own there.")
    return source.tries


def _read_stories(path: Path) -> dict[str, Story]:
    try:
        stories = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), dict[str, Story])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as exc:
        raise BadInput(f"{path} is not a file of scripted answers: {exc}.") from exc
    for rule, story in stories.items():
        if bool(story.tries) == bool(story.like):
            raise BadInput(
                f"{path}: {rule} needs a [[try]] of its own, or in `like` the rule whose text it shares; not both."
            )
    return stories
