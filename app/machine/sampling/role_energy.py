"""GPU-seconds and joules per role: each turn's share of its GPUs while it used them. Pure."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from app.events.event_field_types import Role, Spent
from app.machine.sampling.gpu_energy import NOTHING, PowerCurve

Key = tuple[str, int]
_ROLES = (*get_args(Role), "")
_ENOUGH = 0.9
"""Share of the time that must be sampled, or joules are unknown."""


@dataclass(frozen=True)
class TurnSpan:
    run: str
    role: Role
    gpus: tuple[Key, ...]
    start: float
    end: float
    tokens: int = 0


def share_energy_among_roles(
    run: str,
    turns: Sequence[TurnSpan],
    power_curves: Mapping[Key, PowerCurve],
    gpus: Sequence[Key],
    since: float,
    until: float,
) -> tuple[Spent, ...]:
    """Compute a run's energy per role. `turns` are of all runs: concurrent turns share a GPU evenly.

    A turn's tokens count at its end."""
    sums: dict[Role | str, list[float]] = {}
    for key in gpus:
        for low, high, holders in _split_time([turn for turn in turns if key in turn.gpus], since, until):
            drawn = (
                power_curves[key].compute_joules_drawn_and_seconds_covered(low, high)
                if key in power_curves
                else NOTHING
            )
            for role in [turn.role for turn in holders if turn.run == run] if holders else [""]:
                total = sums.setdefault(role, [0.0, 0.0, 0.0])
                for place, value in enumerate((high - low, drawn.seconds, drawn.joules)):
                    total[place] += value / max(len(holders), 1)
    done = [turn for turn in turns if turn.run == run and since < turn.end <= until]
    written = {role: sum(turn.tokens for turn in done if turn.role == role) for role in get_args(Role)}
    return tuple(_create_role_energy(role, sums[role], written.get(role, 0)) for role in _ROLES if role in sums)


def merge_role_energy(before: Sequence[Spent], after: Sequence[Spent]) -> tuple[Spent, ...]:
    merged = []
    for role in _ROLES:
        if ones := [one for one in (*before, *after) if one.role == role]:
            sums = [sum(getattr(one, name) for one in ones) for name in ("gpu_seconds", "sampled_seconds", "joules")]
            merged.append(_create_role_energy(role, sums, sum(one.tokens for one in ones)))
    return tuple(merged)


def _create_role_energy(role: Role | Literal[""], sums: Sequence[float], tokens: int) -> Spent:
    gpu_seconds, sampled_seconds, joules = (round(one, 3) for one in sums)
    return Spent(role=role, gpu_seconds=gpu_seconds, sampled_seconds=sampled_seconds, joules=joules, tokens=tokens)


def extrapolate_joules_if_enough_sampled(role_energy: Spent) -> float | None:
    """Return joules, extrapolated over short unsampled time, or None if too little was sampled."""
    if not role_energy.gpu_seconds or role_energy.sampled_seconds < _ENOUGH * role_energy.gpu_seconds:
        return None
    return role_energy.joules * role_energy.gpu_seconds / role_energy.sampled_seconds


def compute_joules_per_token(role_energy: Spent) -> float | None:
    drawn = extrapolate_joules_if_enough_sampled(role_energy)
    return drawn / role_energy.tokens if drawn is not None and role_energy.tokens else None


def _split_time(turns: Sequence[TurnSpan], since: float, until: float) -> Iterator[tuple[float, float, list[TurnSpan]]]:
    """Split the time wherever a turn starts or ends, with the turns in each interval."""
    edges = {edge for turn in turns for edge in (turn.start, turn.end) if since < edge < until}
    waiting = deque(sorted(turns, key=lambda turn: turn.start))
    holders: list[TurnSpan] = []
    for low, high in pairwise(sorted({since, until, *edges})):
        while waiting and waiting[0].start <= low:
            holders.append(waiting.popleft())
        holders = [turn for turn in holders if turn.end > low]
        yield low, high, holders
