"""Approximate tokens of about four characters, accurate enough for budgets and pace."""

import re
from collections.abc import Iterable

_TOKEN = re.compile(r"\s?\w{1,6}|\s?[^\w\s]{1,2}|\s+")
_TEMPLATE_TOKENS = 4
"""Tokens that a chat template adds to each message."""


def split_into_tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def count_prompt_tokens(messages: Iterable[str]) -> int:
    return sum((len(text) + 3) // 4 + _TEMPLATE_TOKENS for text in messages)
