"""What was asked about a host's files before: nothing is worked out again while all that it was read from is the same.

Whether it is the same is read anew each time, in the order in which it was read then; so who is asked again reads what
he would have read anyway, and stops where something is different. A question must be pure: its answer comes from the
files alone, and when a file was written says nothing.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from app.errors import TemperError
from app.syntax.files import Files, FileState

T = TypeVar("T")
_KEPT = 4
"""Of a question: before a change and after it, and as much again."""


class Recall:
    """Of one host, for as long as its target is held: what it remembers are that host's files."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, tuple[_Answer, ...]] = {}

    def ask(
        self, question: Hashable, files: Files, work: Callable[[Files], T], *, lasts: Callable[[T], bool] | None = None
    ) -> T:
        """`work` answers over the files that it is given. `lasts`: whether its answer is one to go by again."""
        question = question, hasattr(files, "link")  # files that know links are answered for otherwise
        known = self._answers.get(question, ())
        for one in known:
            if one.stands(files):
                return one.answer  # type: ignore[no-any-return]  # a question has answers of one type
        noting = _Noting(files)
        answer = work(noting)
        if lasts is None or lasts(answer):
            self._answers[question] = (_Answer(noting.seen, answer), *known[: _KEPT - 1])
        return answer


@dataclass(frozen=True)
class _Answer:
    seen: dict[tuple[str, str], object]
    answer: Any

    def stands(self, files: Files) -> bool:
        try:
            return all(getattr(files, how)(path) == found for (how, path), found in self.seen.items())
        except (TemperError, OSError, ValueError):
            return False  # what could be read then cannot now: whoever works it out anew meets that


class _Noting:
    link: Callable[[str], str | None]
    """Only where the files know links."""

    def __init__(self, files: Files) -> None:
        self.seen: dict[tuple[str, str], object] = {}
        self.read: Callable[[str], bytes | None] = partial(self._noted, "read", files.read)
        self.state: Callable[[str], FileState | None] = partial(self._noted, "state", files.state)
        self.glob: Callable[[str], list[str]] = partial(self._noted, "glob", files.glob)
        if hasattr(files, "link"):
            self.link = partial(self._noted, "link", files.link)

    def _noted(self, how: str, look: Callable[[str], T], path: str) -> T:
        found = look(path)
        self.seen[how, path] = found
        return found
