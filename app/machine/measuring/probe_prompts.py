"""Prompts in plain English.

On random tokens speculation succeeds only by chance, so its acceptance would mean nothing."""

import tomllib
from functools import cache
from pathlib import Path

from app.engines.chat_exchange import Message, Question
from app.machine.measuring.probe_steps import ProbeStep


def create_question(model: str, step: ProbeStep, stream: int, mark: str) -> Question:
    """Build a question. `mark` comes first and is always new, so no prefix cache shortens the first token."""
    passages, tasks = _load_texts()
    first, second = passages[stream % len(passages)], passages[(stream + 1) % len(passages)]
    text = f"Case {mark}.\n\n{first}\n\n{second}\n\n{tasks[stream % len(tasks)]} Take all the room you need."
    return Question(
        model=model,
        messages=(Message("user", text),),
        schema_name="",
        schema=None,
        request_id=f"probe.{mark}",
        max_tokens=step.tokens,
        temperature=0.0,
        extra={"ignore_eos": True},
    )


@cache
def _load_texts() -> tuple[list[str], list[str]]:
    texts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return texts["passages"], texts["tasks"]
