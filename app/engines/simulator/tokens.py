"""Tokens, roughly: about four characters each, which is near enough for budgets and pace."""

import re
from collections.abc import Iterable

_TOKEN = re.compile(r"\s?\w{1,6}|\s?[^\w\s]{1,2}|\s+")
_TEMPLATE_TOKENS = 4
"""What a chat template adds around each message."""


def cut(text: str) -> list[str]:
    return _TOKEN.findall(text)


def count_prompt(messages: Iterable[str]) -> int:
    return sum((len(text) + 3) // 4 + _TEMPLATE_TOKENS for text in messages)
