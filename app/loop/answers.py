"""The roles' answers. The engine is bound to a JSON Schema (answer_schemas.py); parsing checks the answer again."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from app.events.architect_questions_about_host import MOST_QUESTIONS, Question
from app.events.event_field_types import AnyAction, Decision, Place, Purpose
from app.loop import file_edit_choices_for_roles
from app.resources.vendor_script import RunVendorScript
from app.text.clean import clean_text

Text = Annotated[str, Meta(max_length=600, pattern="^[^\\x00-\\x08\\x0b-\\x1f]*$")]


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    approach: Text
    paths: Annotated[tuple[Place, ...], Meta(max_length=8)] = ()
    """Empty only if it takes a candidate."""
    steps: Annotated[tuple[Text, ...], Meta(max_length=8)] = ()
    risk: Text = ""
    rollback: Text = ""
    validation: Text = ""
    candidate: Annotated[int, Meta(ge=0)] = 0
    """Number of the proposal that it takes; 0 for a change of its own."""


class Inquiry(Struct, frozen=True, forbid_unknown_fields=True):
    """Questions about the host, instead of a plan."""

    questions: Annotated[tuple[Question, ...], Meta(min_length=1, max_length=MOST_QUESTIONS)]
    why: Text = ""


class Work(Struct, frozen=True, forbid_unknown_fields=True):
    actions: Annotated[tuple[AnyAction, ...], Meta(min_length=1, max_length=12)]
    note: Text = ""


class Review(Struct, frozen=True, forbid_unknown_fields=True):
    explanation: Text
    veto: bool
    reason: Text = ""


class Triage(Struct, frozen=True, forbid_unknown_fields=True):
    assessment: Text
    alarm: bool
    reason: Text = ""


class Reflection(Struct, frozen=True, forbid_unknown_fields=True):
    mechanism: Text
    advice: Text
    decision: Decision
    environment: Text = ""
    reason: Text = ""


Answer = Plan | Inquiry | Work | Review | Triage | Reflection

_LINES = frozenset({"new", "line", "old", "value"})
_LONGEST = 512
_MOST_OBJECTS = 64
_WARNINGS = frozenset({"veto", "alarm"})
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")

ANSWER_TYPES: dict[Purpose, type[Answer]] = {
    "plan": Plan,
    "act": Work,
    "review": Review,
    "triage": Triage,
    "reflect": Reflection,
}


class BrokenAnswer(Exception):
    """The answer is not one that the role may give; the message says why."""


Numbered = Mapping[str, Mapping[int, str]]
"""Lines of files by path and number, as shown to a role."""


def parse_answer(
    purpose: Purpose, text: str, lines_by_path: Numbered | None = None, *, rejects_unknown_fields: bool = False
) -> Answer:
    """Parse a role's answer, ignoring text around the JSON object and names in it that no answer has.

    Raises BrokenAnswer. With `rejects_unknown_fields` it is raised for such names, too.
    """
    try:
        said = _find_likeliest_object(purpose, text)
        asks = purpose == "plan" and isinstance(said, dict) and "questions" in said
        kind: type[Answer] = Inquiry if asks else ANSWER_TYPES[purpose]
        fields = (
            _resolve_actions(said, lines_by_path)
            if purpose == "act"
            else _remove_control_characters_and_repeated_paths(said)
        )
        answer = msgspec.convert(
            fields if rejects_unknown_fields or asks else _drop_unknown_top_level_fields(fields, kind), kind
        )
    except (ValueError, RecursionError) as exc:
        raise BrokenAnswer(f"the answer does not fit its shape: {exc}") from exc
    if isinstance(answer, Work) and any(isinstance(one, RunVendorScript) for one in answer.actions):
        # Checked first: even previewing a script means running it on a copy.
        raise BrokenAnswer("a vendor's script is taken from the content, and nobody's to write: use the other actions")
    if isinstance(answer, Plan) and not (answer.paths or answer.candidate):
        raise BrokenAnswer("the answer does not fit its shape: a plan names at least one path")
    _reject_paths_or_lines_ending_in_newline(answer)
    return _drop_duplicates(answer)


def _find_likeliest_object(purpose: Purpose, text: str) -> Any:
    """Return the JSON object of an answer: all between the first and the last brace, or else the last whole object.

    Raises BrokenAnswer, or ValueError with the fault of the first reading.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0:
        raise BrokenAnswer("no JSON object in the answer")
    if end < start:
        raise BrokenAnswer("the JSON object in the answer does not end")
    try:
        # Grammars allow raw control characters in strings: newlines stay, others are removed.
        return json.loads(text[start : end + 1], strict=False, object_pairs_hook=_build_object_of_first_values)
    except ValueError:
        # Without a grammar models write around the object, and commas before a closing bracket.
        whole = list(_find_whole_objects(_TRAILING_COMMA.sub(r"\1", text[start : end + 1])))
        if not whole:
            raise
        # An object inside a broken one is whole, too.
        return next((one for one in reversed(whole) if _has_required_names(purpose, one)), whole[-1])


def _find_whole_objects(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_build_object_of_first_values)
    at, tries = text.find("{"), 0
    while at >= 0 and tries < _MOST_OBJECTS:
        tries += 1
        try:
            found, at = decoder.raw_decode(text, at)
            yield found
        except ValueError:
            at += 1
        at = text.find("{", at)


def _build_object_of_first_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of the pairs. The first value of a name counts: small models go on after a whole answer.

    A veto or an alarm counts wherever it is said.
    """
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name not in found or (name in _WARNINGS and value is True):
            found[name] = value
    return found


def _has_required_names(purpose: Purpose, answer_fields: dict[str, Any]) -> bool:
    kinds = (Plan, Inquiry) if purpose == "plan" else (ANSWER_TYPES[purpose],)
    return any(all(one.name in answer_fields for one in msgspec.structs.fields(kind) if one.required) for kind in kinds)


def _drop_unknown_top_level_fields(answer_fields: Any, answer_type: type[Answer]) -> Any:
    """Return what an answer of this kind has. Within an action nothing is dropped: a name could narrow it."""
    if not isinstance(answer_fields, dict):
        return answer_fields
    return {name: answer_fields[name] for name in answer_type.__struct_fields__ if name in answer_fields}


def parse_actions_of_person(text: str) -> tuple[AnyAction, ...]:
    """Parse a person's actions in the Worker's format. Raises BrokenAnswer."""
    work = parse_answer("act", text, rejects_unknown_fields=True)
    assert isinstance(work, Work)
    return work.actions


def _remove_control_characters_and_repeated_paths(answer_fields: Any) -> Any:
    if not isinstance(answer_fields, dict):
        return answer_fields
    return {
        name: _drop_repeated(one) if name == "paths" else _remove_control_characters(one)
        for name, one in answer_fields.items()
    }


def _drop_repeated(paths: Any) -> Any:
    """Return the paths without repeated ones, before they are counted."""
    if not isinstance(paths, list) or not all(isinstance(one, str) for one in paths):
        return paths
    return list(dict.fromkeys(paths))


def _remove_control_characters(text_or_list: Any) -> Any:
    if isinstance(text_or_list, list):
        return [_remove_control_characters(part) for part in text_or_list]
    return clean_text(text_or_list, len(text_or_list)) if isinstance(text_or_list, str) else text_or_list


def _resolve_actions(answer_fields: Any, lines_by_path: Numbered | None) -> Any:
    """Replace line numbers by the lines' text, the form in which actions are recorded and people write them."""
    actions = answer_fields.get("actions") if isinstance(answer_fields, dict) else None
    if lines_by_path is None or not isinstance(actions, list):
        return answer_fields
    told = [_resolve_line_number(one, lines_by_path) if isinstance(one, dict) else one for one in actions]
    rest = {name: _remove_control_characters(value) for name, value in answer_fields.items() if name != "reload"}
    if answer_fields.get("reload", "none") != "none":
        told.append({"do": "reload", "service": answer_fields["reload"]})
    return {**rest, "actions": told}


def _resolve_line_number(action: dict[str, Any], lines_by_path: Numbered) -> dict[str, Any]:
    for name in _LINES.intersection(action):  # grammars without patterns allow any character
        if isinstance(action[name], str):
            action = {**action, name: clean_text(action[name], _LONGEST).split("\n")[0]}
    if isinstance(action.get("content"), str):
        action = {**action, "content": clean_text(action["content"], len(action["content"]))}
    if "number" not in action:
        return action
    path, number = action.get("path"), action["number"]
    line = lines_by_path.get(path, {}).get(number) if isinstance(path, str) and isinstance(number, int) else None
    if line is None:
        raise BrokenAnswer(f"{path!a} was shown no line {number!a}")
    rest = {name: value for name, value in action.items() if name not in ("number", "word")}
    match action.get("do"):
        case "drop_word":
            new = file_edit_choices_for_roles.remove_word(line, str(action.get("word")))
            return {**rest, "do": "replace_line", "old": line, "new": new}
        case "remove_line":
            return {**rest, "line": line}
        case _:
            return {**rest, "old": line}


def _drop_duplicates(answer: Answer) -> Answer:
    """Remove repeated actions and questions."""
    if isinstance(answer, Work):
        return msgspec.structs.replace(answer, actions=tuple(dict.fromkeys(answer.actions)))
    if isinstance(answer, Inquiry):
        return msgspec.structs.replace(answer, questions=tuple(dict.fromkeys(answer.questions)))
    return answer


def _reject_paths_or_lines_ending_in_newline(answer: Answer) -> None:
    """Raise BrokenAnswer for trailing newlines: `$` in a JSON Schema pattern also matches before one."""
    named = [*answer.paths] if isinstance(answer, Plan) else []
    parts = answer.actions if isinstance(answer, Work) else answer.questions if isinstance(answer, Inquiry) else ()
    if parts:
        fields = [msgspec.structs.asdict(one) for one in parts]
        named = [text for one in fields for name, text in one.items() if name != "content" and isinstance(text, str)]
    if any(text.endswith("\n") for text in named):
        raise BrokenAnswer("a path or a line in the answer ends in a newline")
