"""How far a run has come: how much of each outcome, how long it has taken, and how long it may still take."""

from dataclasses import dataclass

from app.loop.state import Item, RunState

MADE = ("scanner", "vetoed", "alarm")
"""Why an attempt failed whose change stood on the host."""
KNOWN_AFTER = 3
"""Items that are done before an end is foretold."""
OVER = ("passed", "escalated", "deferred", "skipped", "waived")


@dataclass(frozen=True)
class Headway:
    counts: dict[str, int]
    """Items by status, in the order in which they are shown."""
    undone: int
    """Attempts that were made on the host and taken back."""
    done: int
    total: int
    elapsed: float | None
    left: float | None
    """Seconds that it may still take, from what it took so far; None until that is known."""

    @property
    def left_in_words(self) -> str:
        if self.left is None:
            return "—"
        if self.left < 60:
            return "less than a minute"
        minutes = round(self.left / 60)
        if minutes < 120:
            return f"about {minutes} minute{'s' if minutes > 1 else ''}"
        return f"about {round(minutes / 60)} hours"


def headway(state: RunState) -> Headway:
    counts = dict.fromkeys((*OVER, "working", "waiting"), 0)
    for item in state.items.values():
        counts[item.status] += 1
    done = sum(counts[status] for status in OVER)
    elapsed = state.at - state.started_at if state.started_at else None
    undone = sum(map(rolled_back, state.items.values()))
    return Headway(counts, undone, done, len(state.items), elapsed, _left(state, done, elapsed))


def rolled_back(item: Item) -> int:
    """Its attempts that were made on the host and taken back."""
    return sum(failure.cause in MADE for failure in item.failures)


def _left(state: RunState, done: int, elapsed: float | None) -> float | None:
    if state.ended or elapsed is None or done < KNOWN_AFTER:
        return None
    return elapsed / done * (len(state.items) - done)
