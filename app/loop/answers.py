"""The shapes that the roles answer in. The schema binds the engine; reading checks what came all the same."""

import json
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from app.events.words import AnyAction, Decision, HostPath, Purpose

Text = Annotated[str, Meta(max_length=600, pattern="^[^\\x00-\\x08\\x0b-\\x1f]*$")]


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    approach: Text
    paths: Annotated[tuple[HostPath, ...], Meta(min_length=1, max_length=8)]
    steps: Annotated[tuple[Text, ...], Meta(max_length=8)]
    risk: Text
    rollback: Text
    validation: Text


class Work(Struct, frozen=True, forbid_unknown_fields=True):
    actions: Annotated[tuple[AnyAction, ...], Meta(min_length=1, max_length=12)]
    note: Text


class Review(Struct, frozen=True, forbid_unknown_fields=True):
    explanation: Text
    veto: bool
    reason: Text


class Triage(Struct, frozen=True, forbid_unknown_fields=True):
    assessment: Text
    alarm: bool
    reason: Text


class Reflection(Struct, frozen=True, forbid_unknown_fields=True):
    mechanism: Text
    environment: Text
    advice: Text
    decision: Decision
    reason: Text


Answer = Plan | Work | Review | Triage | Reflection

SHAPES: dict[Purpose, type[Answer]] = {
    "plan": Plan,
    "act": Work,
    "review": Review,
    "triage": Triage,
    "reflect": Reflection,
}


class BrokenAnswer(Exception):
    pass


def schema(purpose: Purpose) -> dict[str, Any]:
    return msgspec.json.schema(SHAPES[purpose])


def read(purpose: Purpose, text: str) -> Answer:
    """Lenient about what stands around the object, strict about what is in it."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise BrokenAnswer("no JSON object in the answer")
    try:
        # Grammars let raw control characters into strings: a newline is welcome there, the shape refuses the others.
        answer = msgspec.convert(json.loads(text[start : end + 1], strict=False), SHAPES[purpose])
    except (ValueError, RecursionError) as exc:
        raise BrokenAnswer(f"the answer does not fit its shape: {exc}") from exc
    _check_ends(answer)
    return answer


def read_actions(text: str) -> tuple[AnyAction, ...]:
    """A person's actions, held to the same shape as the Worker's."""
    work = read("act", text)
    assert isinstance(work, Work)
    return work.actions


def _check_ends(answer: Answer) -> None:
    """`$` in a pattern also matches before a last newline, and JSON Schema has no stricter mark."""
    named = [*answer.paths] if isinstance(answer, Plan) else []
    if isinstance(answer, Work):
        fields = [msgspec.structs.asdict(action) for action in answer.actions]
        named = [text for one in fields for name, text in one.items() if name != "content"]
    if any(text.endswith("\n") for text in named):
        raise BrokenAnswer("a path or a line in the answer ends in a newline")
