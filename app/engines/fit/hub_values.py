"""Validated access to an untrusted config.json. Raise BadInput for missing or invalid values."""

from collections.abc import Iterator, Mapping
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
        value = self._config.get(key)
        if value is None:
            if default is None:
                raise self.create_error(f"it has no {key}")
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
            raise self.create_error(f"its {key} should be a whole number")
        if value == 0 and default is None:
            raise self.create_error(f"its {key} should be more than 0")
        return value

    def read_share(self, key: str, default: float) -> float:
        value = self._config.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise self.create_error(f"its {key} should be a number from 0 to 1")
        return float(value)

    def read_flag(self, key: str, default: bool) -> bool:
        value = self._config.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.create_error(f"its {key} should be true or false")
        return value

    def read_word(self, key: str, default: str | None = None) -> str:
        value = self._config.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.create_error(f"it has no {key}" if value is None else f"its {key} should be a text")
        return value

    def read_words(self, key: str) -> list[str] | None:
        value = self._config.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self.create_error(f"its {key} should be a list of texts")
        return value

    def read_table(self, key: str) -> "ConfigValues | None":
        value = self._config.get(key)
        return ConfigValues(value, self._where) if isinstance(value, dict) else None

    def iterate_tables(self) -> "Iterator[ConfigValues]":
        for key in self._config:
            if (table := self.read_table(key)) is not None:
                yield table

    def create_error(self, what: str) -> BadInput:
        return BadInput(f"{self._where} cannot be used for an estimate: {what}. Give the checkpoint's own config.json.")
