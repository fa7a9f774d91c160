"""Renders events as messages for the page: tokens as named events, everything else as changed pieces."""

import threading
from collections.abc import Sequence
from itertools import groupby

import msgspec

from app.events.kinds import TurnDelta
from app.events.record import Recorded
from app.text.clean import clean_text
from app.web.pages.live_parts import wrap_partials
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.mission_loader import MissionLoader
from app.web.pages.mission.mission_parts import (
    Scene,
    render_clock_part,
    render_engine_label_parts,
    render_mission_parts,
)
from app.web.stream.renderer_types import is_small_batch
from app.web.stream.sse_messages import encode_message


class PageRenderer:
    """Renders one run for all of its viewers."""

    def __init__(self, run: str, missions: MissionLoader, scene: Scene) -> None:
        self._run, self._missions, self._scene = run, missions, scene
        self._lock = threading.Lock()
        self._mission: Mission | None = None
        self._drawn: dict[str, str] = {}
        self._sent_elsewhere = {f"meter-{name}" for name in scene.lineup.engines}

    def __call__(self, batch: Sequence[Recorded]) -> bytes:
        with self._lock:
            return self._render_batch(batch)

    def render_inline_if_cheap(self, batch: Sequence[Recorded]) -> bytes | None:
        """Encode a batch that only continues text, without blocking; return None if the batch needs a full render."""
        if not is_small_batch(batch) or not self._lock.acquire(blocking=False):
            return None
        try:
            if self._mission is None or not _changes_only_text(self._mission, batch):
                return None
            for recorded in batch:
                self._mission.apply_event(recorded)
            return b"".join(_encode_tokens(batch))
        finally:
            self._lock.release()

    def _render_batch(self, batch: Sequence[Recorded]) -> bytes:
        mission = self._restore_mission(batch[0].seq - 1)
        reading, second = mission.holds.reading, int(mission.state.at)
        for recorded in batch:
            mission.apply_event(recorded)
        if any(not isinstance(recorded.event, TurnDelta) for recorded in batch):
            # A re-rendered lane contains its text, so the tokens are not sent as well.
            changed = self._missions.timelines.encode_changes(self._run, batch) if self._scene.sends_timeline else b""
            parts = render_mission_parts(mission, self._scene) | dict(self._scene.engines())
            return changed + encode_message(self._render_changes(parts), seq=batch[-1].seq)
        tokens = _encode_tokens(batch)
        if mission.holds.reading != reading or int(mission.state.at) != second:
            # The clock advances between tokens.
            moved = render_clock_part(mission, self._scene) | render_engine_label_parts(mission, self._scene)
            if mission.holds.reading != reading:  # the figures change with the label
                moved |= self._scene.engines()
            tokens.append(encode_message(self._render_changes(moved), seq=batch[-1].seq))
        return b"".join(tokens)

    def _render_changes(self, parts: dict[str, str]) -> bytes:
        # Meters also come once a second with the samples, so what was sent here last is not what the page shows.
        sent = {name: html for name, html in self._drawn.items() if name not in self._sent_elsewhere}
        self._drawn = self._drawn | parts
        return wrap_partials({name: html for name, html in parts.items() if sent.get(name) != html}).encode()

    def _restore_mission(self, seq: int) -> Mission:
        if self._mission is None or not self._has_no_events_between(self._mission.state.seq, seq):
            self._mission = self._missions.load_mission(self._run, seq) if seq else Mission()
            self._mission.state = msgspec.structs.replace(self._mission.state, seq=seq)
            self._drawn = render_mission_parts(self._mission, self._scene) if seq else {}
        return self._mission

    def _has_no_events_between(self, from_seq: int, upto_seq: int) -> bool:
        """Return True if no event lies between `from_seq` and `upto_seq`. The log of a shrunk run has gaps."""
        return from_seq == upto_seq or (from_seq < upto_seq and self._missions.is_empty(self._run, from_seq, upto_seq))


def _changes_only_text(mission: Mission, batch: Sequence[Recorded]) -> bool:
    """Return True if the batch changes neither the clock nor an engine's label."""
    return (
        batch[0].seq == mission.state.seq + 1
        and int(batch[-1].at) == int(mission.state.at)
        and not mission.holds.reading
        and all(isinstance(one.event, TurnDelta) for one in batch)
    )


def _encode_tokens(batch: Sequence[Recorded]) -> list[bytes]:
    """Encode consecutive deltas of one turn and channel as one message."""
    return [_encode_token(list(deltas)) for _, deltas in groupby(batch, _get_turn_and_channel)]


def _get_turn_and_channel(recorded: Recorded) -> tuple[str, str]:
    event = recorded.event
    assert isinstance(event, TurnDelta)
    return event.turn, event.channel


def _encode_token(deltas: Sequence[Recorded]) -> bytes:
    first = deltas[0].event
    assert isinstance(first, TurnDelta)
    text = "".join(one.event.text for one in deltas if isinstance(one.event, TurnDelta))
    token = {"turn": first.turn, "role": first.role, "channel": first.channel, "text": clean_text(text, 100_000)}
    return encode_message(msgspec.json.encode(token), name="token", seq=deltas[-1].seq)
