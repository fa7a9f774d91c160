"""Determine an engine's state from an observation and its previous state. Pure."""

from dataclasses import dataclass
from typing import Literal

from app.engines.client import SILENT

State = Literal["absent", "loading", "ready", "degraded", "stalled", "dead"]

STALL_SECONDS = 20.0
"""Seconds with running requests and no token; a long prefill takes less."""


@dataclass(frozen=True)
class ReplicaObservation:
    """One observation of a replica. `health`: status of /health, None if nothing answers."""

    health: int | None
    phase: str = ""
    running: int | None = None
    tokens: int | None = None
    """Prompt plus generated tokens: grows while the engine works."""
    trouble: str = ""
    """Healthy, but not what the line-up describes."""
    remark: str = ""
    """A note about an engine that serves."""


@dataclass(frozen=True)
class Condition:
    state: State = "absent"
    detail: str = ""
    tokens: int | None = None
    moved_at: float = 0.0
    """When its tokens last grew, or it was last idle."""


def update_condition(before: Condition, seen: ReplicaObservation, now: float) -> Condition:
    if seen.health is None:
        return _decide_absent_or_dead_condition(before)
    if seen.health == SILENT:
        return _keep_starting_or_decide_stalled_condition(before)
    if seen.health != 200:
        return _decide_dead_or_loading_condition(before, seen)
    if seen.trouble:
        return Condition("degraded", seen.trouble, seen.tokens, now)
    moved = not seen.running or seen.tokens != before.tokens or before.state in ("absent", "loading", "dead")
    moved_at = now if moved else before.moved_at
    if now - moved_at >= STALL_SECONDS:
        detail = f"{seen.running} running, and no token for {STALL_SECONDS:.0f} s: look at the engine's log"
        return Condition("stalled", detail, seen.tokens, moved_at)
    return Condition("ready", seen.remark, seen.tokens, moved_at)


def _decide_absent_or_dead_condition(before: Condition) -> Condition:
    if before.state == "absent":
        return Condition("absent", "nothing answers at its address: start the engine")
    return Condition("dead", "it answered before and does not now: look at the engine's log, then start it again")


def _keep_starting_or_decide_stalled_condition(before: Condition) -> Condition:
    """Keep "absent" or "loading", else return "stalled": a hung engine and a busy machine look the same."""
    if before.state in ("absent", "loading"):
        return before
    detail = "it does not answer in time: it hangs, or its machine has too much to do"
    return Condition("stalled", detail, before.tokens, before.moved_at)


def _decide_dead_or_loading_condition(before: Condition, seen: ReplicaObservation) -> Condition:
    """Return "dead" or "loading": a real engine returns 503 only after it died, a simulated one also while it loads."""
    if before.state in ("ready", "degraded", "stalled"):
        return Condition("dead", f"/health says {seen.health}: look at the engine's log")
    return Condition("loading", seen.phase)


def choose_best_condition_or_degraded_if_some_serve(replicas: list[Condition]) -> Condition:
    """Return the best replica's condition; "degraded" if only some replicas serve."""
    serving = [one for one in replicas if one.state == "ready"]
    if serving and len(serving) < len(replicas):
        return Condition("degraded", f"{len(serving)} of {len(replicas)} replicas serve")
    if serving:
        return serving[0]
    order: tuple[State, ...] = ("degraded", "loading", "stalled", "dead", "absent")
    return min(replicas, key=lambda one: order.index(one.state))
