"""Hides prompts and answers of a host, which describe it, from people below the right `operator`."""

import hashlib
from typing import Any

import msgspec

WITHHELD = {"turn.started": "prompt", "questions": "answers"}
"""The field that is hidden, by kind of event."""
_MARKS = tuple(f'"kind":"{kind}"'.encode() for kind in WITHHELD)
_READ = msgspec.json.Decoder(dict[str, msgspec.Raw])


def redact_prompt_and_answers(line: bytes) -> bytes:
    """Return the event line with its prompt or answers redacted; lines without them are unchanged."""
    if not any(mark in line for mark in _MARKS):
        return line
    fields = _READ.decode(line)
    name = WITHHELD.get(msgspec.json.decode(fields["kind"], type=str), "")
    if name not in fields:
        return line
    hidden = _summarize_texts(msgspec.json.decode(fields[name]))
    return msgspec.json.encode(fields | {name: msgspec.Raw(msgspec.json.encode(hidden))})


def _summarize_texts(prompt_or_answers: Any) -> Any:
    """Return a prompt's texts or the answers to questions as summaries; the questions stay."""
    if isinstance(prompt_or_answers, dict):
        return prompt_or_answers | {"answer": summarize_prompt(prompt_or_answers.get("answer", ""))}
    return [summarize_prompt(one) if isinstance(one, str) else _summarize_texts(one) for one in prompt_or_answers]


def summarize_prompt(prompt: str) -> str:
    """Return length and digest of a prompt, enough to compare it with the evidence."""
    digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
    return f"(for operators: {len(prompt)} characters, sha256 {digest})"
