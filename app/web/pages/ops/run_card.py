"""The card of a run on the operator's console."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.loop.state import RunState
from app.web.pages.ops.needs import awaits_answer

OUTCOMES = ("passed", "escalated", "skipped", "deferred", "waived", "working")


@dataclass(frozen=True)
class RunCard:
    state: RunState

    @property
    def waits(self) -> bool:
        return awaits_answer(self.state)

    @property
    def done(self) -> int:
        return sum(item.status not in ("working", "waiting") for item in self.state.items.values())

    @property
    def parts(self) -> Iterator[tuple[str, float, float]]:
        """Each outcome with start and width of its part of the bar, in percent."""
        statuses, left = [item.status for item in self.state.items.values()], 0.0
        for name in OUTCOMES:
            if name in statuses:
                width = 100 * statuses.count(name) / len(statuses)
                yield name, round(left, 2), round(width, 2)
                left += width
