"""Tokens per second of one run by role, computed from its log alone."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from app.events.event_field_types import Role
from app.events.kinds import TurnDelta, TurnFinished, TurnInterrupted
from app.machine.sampling.series_on_time_grid import Grid, SeriesKey, Values
from app.store.events import EventStore

BRIEFEST = 0.001


@dataclass(frozen=True)
class WrittenTurn:
    role: Role
    tokens: int
    since: float
    """Time of the first token."""
    until: float


def compute_run_token_rates(
    store: EventStore, run: str, time_grid: Grid, *, simulated: bool
) -> dict[SeriesKey, Values]:
    """Return each role's rate in the steps of the grid. A turn's tokens are spread over the time that wrote them."""
    written: dict[Role, list[float]] = defaultdict(lambda: [0.0] * time_grid.steps)
    for turn in _iterate_written_turns(store, run, time_grid.since):
        until = max(turn.until, turn.since + BRIEFEST)
        first = max(0, int((turn.since - time_grid.since) // time_grid.step))
        for place in range(first, min(time_grid.steps, int((until - time_grid.since) // time_grid.step) + 1)):
            begin = time_grid.since + place * time_grid.step
            shared = max(0.0, min(until, begin + time_grid.step) - max(turn.since, begin))
            written[turn.role][place] += turn.tokens * shared / (until - turn.since) / time_grid.step
    keys = {role: SeriesKey("run", role, "", "tok_s", simulated) for role in get_args(Role)}
    return {key: [round(value, 3) for value in written[role]] for role, key in keys.items()}


def _iterate_written_turns(store: EventStore, run: str, since: float) -> Iterator[WrittenTurn]:
    """Yield the turns that ended since a time, and the one in progress."""
    for one in store.read_events(run, kinds=("turn.finished", "turn.interrupted"), since=since):
        match one.event:
            case TurnFinished(completion_tokens=tokens) as event if tokens:
                began = one.at - max(0.0, event.seconds - (event.ttft or 0.0))
                yield WrittenTurn(event.role, tokens, began, one.at)
            case TurnFinished(turn=turn) | TurnInterrupted(turn=turn):
                yield from _iterate_newest_written_turn_if_given_or_open(store, run, one.seq, turn)
    yield from _iterate_newest_written_turn_if_given_or_open(store, run, None)


def _iterate_newest_written_turn_if_given_or_open(
    store: EventStore, run: str, upto_seq: int | None, turn_id: str = ""
) -> Iterator[WrittenTurn]:
    """Yield the turn that wrote last, by its newest count of tokens, if it is the given one or has not ended."""
    ends = ("turn.delta", "turn.finished", "turn.interrupted")
    for last in store.read_events_of_kinds_newest_first(run, upto_seq, ("turn.delta",) if turn_id else ends, 1):
        if isinstance(event := last.event, TurnDelta) and event.turn == (turn_id or event.turn):
            (started,) = store.read_events_of_kinds_newest_first(run, last.seq, ("turn.started",), 1)
            yield WrittenTurn(event.role, event.tokens, started.at, last.at)
