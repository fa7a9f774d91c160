"""Renders events as messages for the page: tokens as named events, everything else as changed pieces."""

import threading
from collections.abc import Sequence

import msgspec

from app.events.kinds import TurnDelta
from app.events.record import Recorded
from app.text.clean import clean
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.missions import Missions
from app.web.pages.mission.pieces import Scene, clock_piece, engine_pieces, pieces
from app.web.stream.message import message
from app.web.stream.rendering import short


class Screen:
    """Renders one run for all of its viewers."""

    def __init__(self, run: str, missions: Missions, scene: Scene) -> None:
        self._run, self._missions, self._scene = run, missions, scene
        self._lock = threading.Lock()
        self._mission: Mission | None = None
        self._drawn: dict[str, str] = {}

    def __call__(self, batch: Sequence[Recorded]) -> bytes:
        with self._lock:
            return self._render(batch)

    def at_hand(self, batch: Sequence[Recorded]) -> bytes | None:
        """Encode a batch that only continues text, without blocking; return None if the batch needs a full render."""
        if not short(batch) or not self._lock.acquire(blocking=False):
            return None
        try:
            if self._mission is None or not _only_text(self._mission, batch):
                return None
            for recorded in batch:
                self._mission.take(recorded)
            return b"".join(_tokens(batch))
        finally:
            self._lock.release()

    def _render(self, batch: Sequence[Recorded]) -> bytes:
        mission = self._before(batch[0].seq - 1)
        reading, second = mission.holds.reading, int(mission.state.at)
        for recorded in batch:
            mission.take(recorded)
        if any(not isinstance(recorded.event, TurnDelta) for recorded in batch):
            # A re-rendered lane contains its text, so the tokens are not sent as well.
            return message(self._changed(pieces(mission, self._scene) | dict(self._scene.shares())), seq=batch[-1].seq)
        tokens = _tokens(batch)
        if mission.holds.reading != reading or int(mission.state.at) != second:
            moved = clock_piece(mission, self._scene) | engine_pieces(
                mission, self._scene
            )  # the clock advances between tokens
            tokens.append(message(self._changed(moved), seq=batch[-1].seq))
        return b"".join(tokens)

    def _changed(self, now: dict[str, str]) -> bytes:
        changed = {name: html for name, html in now.items() if self._drawn.get(name) != html}
        self._drawn = self._drawn | now
        return "".join(part(name, html) for name, html in changed.items()).encode()

    def _before(self, seq: int) -> Mission:
        if self._mission is None or not self._reaches(self._mission.state.seq, seq):
            self._mission = self._missions.at(self._run, seq) if seq else Mission()
            self._mission.state = msgspec.structs.replace(self._mission.state, seq=seq)
            self._drawn = pieces(self._mission, self._scene) if seq else {}
        return self._mission

    def _reaches(self, at: int, seq: int) -> bool:
        """Return True if no event lies between `at` and `seq`. The log of a shrunk run has gaps."""
        return at == seq or (at < seq and self._missions.empty(self._run, at, seq))


def _only_text(mission: Mission, batch: Sequence[Recorded]) -> bool:
    """Return True if the batch changes neither the clock nor an engine's label."""
    return (
        batch[0].seq == mission.state.seq + 1
        and int(batch[-1].at) == int(mission.state.at)
        and not mission.holds.reading
        and all(isinstance(one.event, TurnDelta) for one in batch)
    )


def _tokens(batch: Sequence[Recorded]) -> list[bytes]:
    """Encode consecutive deltas of one turn and channel as one message."""
    out: list[bytes] = []
    held: list[Recorded] = []
    for recorded in batch:
        if held and _key(held[-1]) != _key(recorded):
            out.append(_token(held))
            held = []
        held.append(recorded)
    out.append(_token(held))
    return out


def _key(recorded: Recorded) -> tuple[str, str]:
    event = recorded.event
    assert isinstance(event, TurnDelta)
    return event.turn, event.channel


def _token(held: Sequence[Recorded]) -> bytes:
    first = held[0].event
    assert isinstance(first, TurnDelta)
    text = "".join(one.event.text for one in held if isinstance(one.event, TurnDelta))
    token = {"turn": first.turn, "role": first.role, "channel": first.channel, "text": clean(text, 100_000)}
    return message(msgspec.json.encode(token), name="token", seq=held[-1].seq)


def part(name: str, html: str) -> str:
    return f'<hx-partial hx-target="#{name}" hx-swap="innerHTML">{html}</hx-partial>'
