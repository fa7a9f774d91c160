"""A GPU's memory taken apart: what holds it, how much, and how that is known. The parts always add up to the total."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.events.words import Provenance

Kind = Literal["weights", "kv", "graphs", "engine", "processes", "other", "reserved", "free"]
"""graphs: what an engine holds beside weights and KV pool. engine: its memory as far as it is not told apart.
processes: other programs. other: used, and nobody says by what."""
_SLACK_GIB = 0.05
"""Sources round, and look at slightly different times."""


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
    """What its source says, where that is more than there is room for: the two overlap or one of them is wrong."""


@dataclass(frozen=True)
class Claim:
    """What one engine is said to hold of this GPU; None is what nobody says."""

    engine: str
    held: Amount | None = None
    """All of it."""
    weights: Amount | None = None
    kv: Amount | None = None
    graphs: Amount | None = None


def waterfall(
    total: Amount, used: Amount, reserved: Amount | None, claims: Sequence[Claim], others: Amount | None
) -> tuple[MemoryPart, ...]:
    """`others`: what processes hold that are no engine's. Used is without reserved.

    What is measured has its room before what is only said.
    """
    taken = min(used.gib, total.gib)
    apart = [_within("processes", others, taken)] if others else []
    left = taken - sum(part.gib for part in apart)
    parts = [*_of_engines(sorted(claims, key=lambda claim: claim.held is None), left)]
    left -= sum(part.gib for part in parts)
    parts += apart
    parts.append(MemoryPart("other", max(left, 0.0), _weaker(used, "derived"), "used, less all that is told apart"))
    rest = total.gib - taken
    if reserved:
        parts.append(_within("reserved", reserved, rest))
        rest -= parts[-1].gib
    said = "total, less used" + (" and reserved" if reserved else "")
    return (*parts, MemoryPart("free", max(rest, 0.0), _weaker(used, "derived"), said))


def _of_engines(claims: Sequence[Claim], left: float) -> Iterator[MemoryPart]:
    for claim in claims:
        room = left if claim.held is None else min(claim.held.gib, left)
        for part in _of_engine(claim, room):
            left -= part.gib
            yield part


def _of_engine(claim: Claim, room: float) -> Iterator[MemoryPart]:
    said: tuple[tuple[Kind, Amount | None], ...] = (("weights", claim.weights), ("kv", claim.kv))
    for kind, amount in said:
        if amount:
            yield (part := _within(kind, amount, room, claim.engine))
            room -= part.gib
    if claim.held is None:
        if claim.graphs:
            yield _within("graphs", claim.graphs, room, claim.engine)
    elif claim.weights and claim.kv:
        provenance = _weaker(claim.held, "derived")
        yield MemoryPart("graphs", room, provenance, f"{claim.held.source}, less weights and KV pool", claim.engine)
    else:
        yield MemoryPart("engine", room, claim.held.provenance, claim.held.source, claim.engine)


def _within(kind: Kind, amount: Amount, room: float, engine: str = "") -> MemoryPart:
    room = max(room, 0.0)
    claimed = amount.gib if amount.gib > room + _SLACK_GIB else None
    return MemoryPart(kind, min(amount.gib, room), amount.provenance, amount.source, engine, claimed)


def _weaker(amount: Amount, provenance: Provenance) -> Provenance:
    return "simulated" if amount.provenance == "simulated" else provenance
