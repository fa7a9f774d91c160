"""The engine and model that each role used, with its turns and tokens, from the log."""

from dataclasses import dataclass

from app.events.event_field_types import Role
from app.events.kinds import Event, TurnFinished, TurnStarted


@dataclass
class SeatUsed:
    role: Role
    engine: str
    model: str
    replicas: tuple[int, ...] = ()
    turns: int = 0
    unanswered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Seats:
    def __init__(self) -> None:
        self._seats: dict[tuple[str, str, str], SeatUsed] = {}
        self._open: dict[str, TurnStarted] = {}

    def apply_event(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self._open[event.turn] = event
            seat = self._get_seat(event)
            seat.turns += 1
            seat.unanswered += 1
            seat.replicas = tuple(sorted({*seat.replicas, event.replica}))
        elif isinstance(event, TurnFinished) and (begun := self._open.pop(event.turn, None)):
            seat = self._get_seat(begun)
            seat.unanswered -= event.outcome == "answered"
            seat.prompt_tokens += event.prompt_tokens
            seat.completion_tokens += event.completion_tokens

    def list_seats(self) -> tuple[SeatUsed, ...]:
        return tuple(self._seats[key] for key in sorted(self._seats))

    def _get_seat(self, turn: TurnStarted) -> SeatUsed:
        key = turn.role, turn.engine, turn.model
        return self._seats.setdefault(key, SeatUsed(*key))
