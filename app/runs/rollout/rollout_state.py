"""Rollout state, folded from its events."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Literal

from app.events import kinds
from app.events.record import Recorded

RolloutStatus = Literal["running", "paused", "stopping", "finished", "stopped"]


@dataclass(frozen=True)
class HostPart:
    host: str
    wave: int
    run: str = ""
    ended: kinds.RolloutHostEnded | None = None
    left: str = ""
    """Why the run was not begun; empty otherwise."""

    @property
    def is_over(self) -> bool:
        return self.ended is not None or bool(self.left)

    @property
    def status_word(self) -> str:
        if self.ended:
            return self.ended.state
        return "left" if self.left else "at work" if self.run else "waiting"

    @property
    def outcome_text(self) -> str:
        if self.left:
            return f"left: {self.left}"
        ended = self.ended
        if ended is None:
            return "at work" if self.run else f"waits for wave {self.wave}"
        if ended.harm:
            return f"harmed: {ended.harm}" if ended.state == "finished" else f"{ended.state}: {ended.harm}"
        return f"{ended.state}: {ended.passed} of {ended.findings} passed"


@dataclass(frozen=True)
class RolloutState:
    rollout: str = ""
    seq: int = 0
    at: float = 0.0
    asked: kinds.RolloutOrdered | None = None
    asked_at: float = 0.0
    status: RolloutStatus = "running"
    by: str = ""
    """Person or rule that paused or stopped the rollout."""
    reason: str = ""
    since: float = 0.0
    """Time at which the status began."""
    parts: dict[str, HostPart] = field(default_factory=dict)
    counted: int = 0
    """Number of ended hosts at the last resume; the pause rule ignores these."""
    waves_ended: int = 0
    ends: tuple[str, ...] = ()
    """Hosts in the order of their end."""

    @property
    def parts_at_work(self) -> tuple[HostPart, ...]:
        return tuple(part for part in self.parts.values() if part.run and not part.is_over)

    @property
    def is_paused_by_rule(self) -> bool:
        """Return True if the pause rule stopped it and a person must decide."""
        return self.status == "paused" and self.by == "rule"

    def iterate_ends_counted_by_pause_rule(self) -> Iterator[kinds.RolloutHostEnded]:
        """Yield the ended hosts that the pause rule counts."""
        yield from (ended for host in self.ends[self.counted :] if (ended := self.parts[host].ended))


def fold_rollout(events: Iterable[Recorded], state: RolloutState | None = None) -> RolloutState:
    state = state or RolloutState()
    for recorded in events:
        state = replace(_apply_event(state, recorded), rollout=recorded.run, seq=recorded.seq, at=recorded.at)
    return state


def _apply_event(state: RolloutState, recorded: Recorded) -> RolloutState:
    match recorded.event:
        case kinds.RolloutOrdered() as asked:
            parts = dict(_iterate_hosts_and_parts(asked))
            return replace(state, asked=asked, asked_at=recorded.at, since=recorded.at, parts=parts)
        case kinds.RolloutHostBegun(host=host, of=run):
            return _replace_part(state, replace(state.parts[host], run=run))
        case kinds.RolloutHostEnded(host=host) as ended:
            return replace(_replace_part(state, replace(state.parts[host], ended=ended)), ends=(*state.ends, host))
        case kinds.RolloutHostLeft(host=host, reason=reason):
            return _replace_part(state, replace(state.parts[host], left=reason))
        case kinds.RolloutWaveEnded(wave=wave):
            return replace(state, waves_ended=wave)
        case kinds.RolloutPaused(by=by, reason=reason):
            return replace(state, status="paused", by=by, reason=reason, since=recorded.at)
        case kinds.RolloutResumed(by=by, reason=reason):
            counted = len(state.ends)
            return replace(state, status="running", by=by, reason=reason, since=recorded.at, counted=counted)
        case kinds.RolloutStopRequested(by=by, reason=reason):
            return replace(state, status="stopping", by=by, reason=reason, since=recorded.at)
        case kinds.RolloutEnded(state="stopped"):
            return replace(state, status="stopped", since=recorded.at)
        case kinds.RolloutEnded():
            return replace(state, status="finished", since=recorded.at)
        case _:
            return state


def _iterate_hosts_and_parts(rollout_request: kinds.RolloutOrdered) -> Iterator[tuple[str, HostPart]]:
    ends = list(accumulate(rollout_request.waves))
    for place, host in enumerate(rollout_request.hosts):
        wave = next((number for number, end in enumerate(ends, 1) if place < end), len(ends) or 1)
        yield host, HostPart(host, wave)


def _replace_part(state: RolloutState, part: HostPart) -> RolloutState:
    return replace(state, parts={**state.parts, part.host: part})
