"""A costly sensor, read at intervals and cached in between."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class CachedSensor(Generic[T]):
    def __init__(self, every: float, question: Callable[[], T]) -> None:
        self._every, self._question = every, question
        self._at: float | None = None
        self._value: T

    def read(self, now: float) -> T:
        if self._at is None or now - self._at >= self._every:
            self._at, self._value = now, self._question()
        return self._value

    def get_age(self, now: float) -> float:
        return 0.0 if self._at is None else round(now - self._at, 1)
