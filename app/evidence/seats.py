"""The engine and model that each role used, with its turns and tokens, from the log."""

from dataclasses import dataclass, replace

from app.events.kinds import Event, TurnFinished, TurnStarted
from app.events.vocabulary import Role


@dataclass(frozen=True)
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
            seat = self._find_seat(event)
            replicas = tuple(sorted({*seat.replicas, event.replica}))
            self._store_seat(replace(seat, turns=seat.turns + 1, unanswered=seat.unanswered + 1, replicas=replicas))
        elif isinstance(event, TurnFinished) and (begun := self._open.pop(event.turn, None)):
            seat = self._find_seat(begun)
            self._store_seat(
                replace(
                    seat,
                    unanswered=seat.unanswered - (event.outcome == "answered"),
                    prompt_tokens=seat.prompt_tokens + event.prompt_tokens,
                    completion_tokens=seat.completion_tokens + event.completion_tokens,
                )
            )

    def list_seats(self) -> tuple[SeatUsed, ...]:
        return tuple(self._seats[key] for key in sorted(self._seats))

    def _find_seat(self, turn: TurnStarted) -> SeatUsed:
        return self._seats.get((turn.role, turn.engine, turn.model)) or SeatUsed(turn.role, turn.engine, turn.model)

    def _store_seat(self, seat: SeatUsed) -> None:
        self._seats[seat.role, seat.engine, seat.model] = seat
