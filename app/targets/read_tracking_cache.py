"""A cache of answers about a host's files, valid while every file that the answer was read from is unchanged.

The reads are repeated in their original order to check that, and stop at the first difference. A computation must be
pure: its answer depends on the files alone, and not on their modification times.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from app.errors import TemperError
from app.syntax.host_files_protocol import Files
from app.targets.files_read_once_and_recorded import CachedFiles, Read

T = TypeVar("T")
_KEPT = 4
"""Answers kept per question: before a change, after it, and as many again."""


class ReadTrackingCache:
    """A cache of answers about one host's files, kept as long as its target."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, tuple[_CachedAnswer, ...]] = {}

    def forget(self) -> None:
        self._answers.clear()

    def get_or_compute(
        self,
        key: Hashable,
        files: Files,
        compute: Callable[[Files], T],
        *,
        is_cacheable: Callable[[T], bool] | None = None,
    ) -> T:
        """Return a cached answer that is still current, or `compute(files)`.

        `is_cacheable` decides whether it is cached.
        """
        key = key, hasattr(files, "link")  # files that know links get answers of their own
        known = self._answers.get(key, ())
        for one in known:
            if one.is_current(files):
                return one.answer  # type: ignore[no-any-return]  # a question has answers of one type
        noting = CachedFiles(files)
        answer = compute(noting)
        if is_cacheable is None or is_cacheable(answer):
            self._answers[key] = (_CachedAnswer(noting.seen, answer), *known[: _KEPT - 1])
        return answer


@dataclass(frozen=True)
class _CachedAnswer:
    seen: dict[Read, object]
    answer: Any

    def is_current(self, files: Files) -> bool:
        try:
            return all(getattr(files, how)(path) == found for (how, path), found in self.seen.items())
        except (TemperError, OSError, ValueError):
            return False  # a file is no longer readable: the new computation reports it
