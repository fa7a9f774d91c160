"""In what state an engine is, from what was seen of it and what it was before. Pure."""

from dataclasses import dataclass
from typing import Literal

State = Literal["absent", "loading", "ready", "degraded", "stalled", "dead"]

SILENT = 0
"""In the place of a status: somebody is at its address and has not answered in time."""
STALL_SECONDS = 20.0
"""Requests running and no token in this time: a long prefill takes less."""


@dataclass(frozen=True)
class Seen:
    """One look at one replica. `health` is /health's status, None when nothing answers there."""

    health: int | None
    phase: str = ""
    running: int | None = None
    tokens: int | None = None
    """Prompt and generated: what grows while it works."""
    trouble: str = ""
    """Healthy, and still not what the line-up means."""
    remark: str = ""
    """Worth telling of an engine that serves."""


@dataclass(frozen=True)
class Condition:
    state: State = "absent"
    detail: str = ""
    tokens: int | None = None
    moved_at: float = 0.0
    """When its tokens last grew, or it last had nothing to do."""


def condition(before: Condition, seen: Seen, now: float) -> Condition:
    if seen.health is None:
        return _unreachable(before)
    if seen.health == SILENT:
        return _silent(before)
    if seen.health != 200:
        return _unwell(before, seen)
    if seen.trouble:
        return Condition("degraded", seen.trouble, seen.tokens, now)
    moved = not seen.running or seen.tokens != before.tokens or before.state in ("absent", "loading", "dead")
    moved_at = now if moved else before.moved_at
    if now - moved_at >= STALL_SECONDS:
        detail = f"{seen.running} running, and no token for {STALL_SECONDS:.0f} s: look at the engine's log"
        return Condition("stalled", detail, seen.tokens, moved_at)
    return Condition("ready", seen.remark, seen.tokens, moved_at)


def _unreachable(before: Condition) -> Condition:
    if before.state == "absent":
        return Condition("absent", "nothing answers at its address: start the engine")
    return Condition("dead", "it answered before and does not now: look at the engine's log, then start it again")


def _silent(before: Condition) -> Condition:
    """What hangs, and what a busy machine lets wait, look the same: neither has died."""
    if before.state in ("absent", "loading"):
        return before
    detail = "it does not answer in time: it hangs, or its machine has too much to do"
    return Condition("stalled", detail, before.tokens, before.moved_at)


def _unwell(before: Condition, seen: Seen) -> Condition:
    """A real engine says 503 once, when it has died; a simulated one also while it loads."""
    if before.state in ("ready", "stalled"):
        return Condition("dead", f"/health says {seen.health}: look at the engine's log")
    return Condition("loading", seen.phase)


def overall(replicas: list[Condition]) -> Condition:
    """The best of the replicas; `degraded` where some of them do not serve."""
    serving = [one for one in replicas if one.state == "ready"]
    if serving and len(serving) < len(replicas):
        return Condition("degraded", f"{len(serving)} of {len(replicas)} replicas serve")
    if serving:
        return serving[0]
    order: tuple[State, ...] = ("degraded", "loading", "stalled", "dead", "absent")
    return min(replicas, key=lambda one: order.index(one.state))
