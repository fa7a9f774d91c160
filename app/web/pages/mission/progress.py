"""The progress of a run: counts by outcome, elapsed time and estimated time remaining."""

from dataclasses import dataclass

from app.loop.state import Item, RunState

APPLIED_CAUSES = ("scanner", "vetoed", "alarm")
"""Failure causes of attempts whose change was applied to the host."""
KNOWN_AFTER = 3
"""Finished items needed for an estimate."""
ENDED_STATUSES = ("passed", "escalated", "deferred", "skipped", "waived")


@dataclass(frozen=True)
class Progress:
    counts: dict[str, int]
    """Number of items by status, in display order."""
    undone: int
    """Attempts that were applied and rolled back."""
    done: int
    total: int
    elapsed: float | None
    left: float | None
    """Estimated seconds remaining, from the average so far; None if there is no estimate."""

    @property
    def remaining_text(self) -> str:
        if self.left is None:
            return "no estimate yet"
        if self.left < 60:
            return "less than a minute left"
        minutes = round(self.left / 60)
        if minutes < 120:
            return f"about {minutes} minute{'s' if minutes > 1 else ''} left"
        return f"about {round(minutes / 60)} hours left"


def measure_progress(state: RunState) -> Progress:
    counts = dict.fromkeys((*ENDED_STATUSES, "working", "waiting"), 0)
    for item in state.items.values():
        counts[item.status] += 1
    done = sum(counts[status] for status in ENDED_STATUSES)
    elapsed = state.at - state.started_at if state.started_at else None
    undone = sum(map(count_rollbacks, state.items.values()))
    return Progress(counts, undone, done, len(state.items), elapsed, _estimate_remaining(state, done, elapsed))


def count_rollbacks(item: Item) -> int:
    """Count the item's attempts that were applied and rolled back."""
    return sum(failure.cause in APPLIED_CAUSES for failure in item.failures)


def _estimate_remaining(state: RunState, done: int, elapsed: float | None) -> float | None:
    if state.ended or elapsed is None or done < KNOWN_AFTER:
        return None
    return elapsed / done * (len(state.items) - done)
