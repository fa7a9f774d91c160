"""One example answer per purpose, about a rule that no skill has, so that copied answers are obvious."""

import json
from pathlib import Path
from typing import Any

import msgspec

from app.events.vocabulary import Purpose


class _Examples(msgspec.Struct):
    asked: dict[Purpose, str]
    answered: dict[Purpose, dict[str, Any]]
    guided: dict[Purpose, dict[str, Any]]


_EXAMPLES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Examples)


def format_example(purpose: Purpose, *, guided: bool) -> str:
    answer = (_EXAMPLES.guided if guided else _EXAMPLES.answered)[purpose]
    return f"Example, of another rule:\n{_EXAMPLES.asked[purpose]}\nAnswer: {json.dumps(answer)}"
