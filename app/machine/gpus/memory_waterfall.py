"""Split a GPU's memory by owner, with the provenance of each part. The parts always add up to the total."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.events.event_field_types import Provenance

Kind = Literal["weights", "kv", "graphs", "engine", "processes", "other", "reserved", "free"]
"""graphs: an engine's memory besides weights and KV pool. engine: an engine's memory that cannot be split.
processes: other programs. other: used by an unknown owner."""
_SLACK_GIB = 0.05
"""Tolerance: sources round, and read at slightly different times."""


@dataclass(frozen=True)
class Amount:
    gib: float
    provenance: Provenance
    source: str


@dataclass(frozen=True)
class MemoryPart:
    kind: Kind
    gib: float
    provenance: Provenance
    source: str
    engine: str = ""
    claimed_gib: float | None = None
    """What its source claims, if that exceeds the room left: claims overlap, or one is wrong."""


@dataclass(frozen=True)
class Claim:
    """The memory of this GPU that one engine is said to hold; None means unknown."""

    engine: str
    held: Amount | None = None
    """All of its memory."""
    weights: Amount | None = None
    kv: Amount | None = None
    graphs: Amount | None = None


def split_memory(
    total: Amount, used: Amount, reserved: Amount | None, claims: Sequence[Claim], other_programs: Amount | None
) -> tuple[MemoryPart, ...]:
    """Split the total into parts. `other_programs`: memory of other processes than engines. `used` excludes `reserved`.

    Measured amounts take their room before claimed ones."""
    taken = min(used.gib, total.gib)
    apart = [_fit_into_room("processes", other_programs, taken)] if other_programs else []
    left = taken - sum(part.gib for part in apart)
    parts = [*_split_engines(sorted(claims, key=lambda claim: claim.held is None), left)]
    left -= sum(part.gib for part in parts)
    parts += apart
    provenance = _get_derived_or_simulated_provenance(used)
    parts.append(MemoryPart("other", max(left, 0.0), provenance, "used, less all other parts"))
    rest = total.gib - taken
    if reserved:
        parts.append(_fit_into_room("reserved", reserved, rest))
        rest -= parts[-1].gib
    said = "total, less used" + (" and reserved" if reserved else "")
    return (*parts, MemoryPart("free", max(rest, 0.0), provenance, said))


def _split_engines(claims: Sequence[Claim], room_gib: float) -> Iterator[MemoryPart]:
    for claim in claims:
        room = room_gib if claim.held is None else min(claim.held.gib, room_gib)
        for part in _split_engine(claim, room):
            room_gib -= part.gib
            yield part


def _split_engine(claim: Claim, room: float) -> Iterator[MemoryPart]:
    said: tuple[tuple[Kind, Amount | None], ...] = (("weights", claim.weights), ("kv", claim.kv))
    for kind, amount in said:
        if amount:
            yield (part := _fit_into_room(kind, amount, room, claim.engine))
            room -= part.gib
    if claim.held is None:
        if claim.graphs:
            yield _fit_into_room("graphs", claim.graphs, room, claim.engine)
    elif claim.weights and claim.kv:
        provenance = _get_derived_or_simulated_provenance(claim.held)
        yield MemoryPart("graphs", room, provenance, f"{claim.held.source}, less weights and KV pool", claim.engine)
    else:
        yield MemoryPart("engine", room, claim.held.provenance, claim.held.source, claim.engine)


def _fit_into_room(kind: Kind, amount: Amount, room: float, engine: str = "") -> MemoryPart:
    room = max(room, 0.0)
    claimed = amount.gib if amount.gib > room + _SLACK_GIB else None
    return MemoryPart(kind, min(amount.gib, room), amount.provenance, amount.source, engine, claimed)


def _get_derived_or_simulated_provenance(amount: Amount) -> Provenance:
    return "simulated" if amount.provenance == "simulated" else "derived"
