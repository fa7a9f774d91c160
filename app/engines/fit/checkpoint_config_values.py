"""Validated access to an untrusted config.json. Raise BadInput for missing or invalid values."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from app.errors import BadInput

LARGEST = 1 << 40


class ConfigValues:
    def __init__(self, config: Mapping[str, Any], where: str) -> None:
        self._config = config
        self._where = where

    def __contains__(self, key: str) -> bool:
        return self._config.get(key) is not None

    def read_count(self, key: str, default: int | None = None) -> int:
        value: int = self._read(key, "a whole number", _is_non_negative_integer, default, required=default is None)
        if value == 0 and default is None:
            raise self.create_error(f"its {key} should be more than 0")
        return value

    def read_share(self, key: str, default: float) -> float:
        return float(self._read(key, "a number from 0 to 1", _is_share, default))

    def read_flag(self, key: str, default: bool) -> bool:
        return bool(self._read(key, "true or false", lambda one: isinstance(one, bool), default))

    def read_word(self, key: str, default: str | None = None) -> str:
        return str(self._read(key, "a text", lambda one: isinstance(one, str), default, required=default is None))

    def read_words(self, key: str) -> list[str] | None:
        words: list[str] | None = self._read(key, "a list of texts", _is_list_of_texts, None)
        return words

    def _read(
        self, key: str, expected: str, is_valid: Callable[[Any], bool], default: Any, *, required: bool = False
    ) -> Any:
        if (value := self._config.get(key)) is None:
            if required:
                raise self.create_error(f"it has no {key}")
            return default
        if not is_valid(value):
            raise self.create_error(f"its {key} should be {expected}")
        return value

    def read_table(self, key: str) -> "ConfigValues | None":
        value = self._config.get(key)
        return ConfigValues(value, self._where) if isinstance(value, dict) else None

    def iterate_direct_child_tables(self) -> "Iterator[ConfigValues]":
        for key in self._config:
            if (table := self.read_table(key)) is not None:
                yield table

    def create_error(self, problem: str) -> BadInput:
        return BadInput(
            f"{self._where} cannot be used for an estimate: {problem}. Give the checkpoint's own config.json."
        )


def _is_non_negative_integer(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= 1


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)
