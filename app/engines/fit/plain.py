"""Convert a plan to JSON data, each number with its provenance."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from app.engines.fit.reckoned import Fit, Reckoned
from app.engines.fit.seed_conflicts import Conflict, seed_conflicts
from app.engines.fit.seed_table import SeedRow, seed_table


def plain_fit(fit: Fit) -> dict[str, Any]:
    reckoned = {field.name: value for field in fields(fit) if isinstance(value := getattr(fit, field.name), Reckoned)}
    return {
        "name": fit.name,
        "fits": fit.fits,
        "says": fit.says,
        **{name: None if one.value is None else round(one.value, 3) for name, one in reckoned.items()},
        "provenance": {name: {"provenance": one.provenance, "source": one.source} for name, one in reckoned.items()},
    }


def plain_plan(fits: Iterable[Fit], *, seeds: bool) -> dict[str, Any]:
    rows = seed_table() if seeds else ()
    return {
        "engines": [plain_fit(fit) for fit in fits],
        "seeds": [_row(row) for row in rows],
        "contradictions": [_conflict(one) for one in seed_conflicts(rows)] if seeds else [],
    }


def _row(row: SeedRow) -> dict[str, Any]:
    return {
        **plain_fit(row.fit),
        "configuration": row.configuration,
        "claimed_vram_per_gpu": row.claimed,
        "found": row.found,
        "verdict": row.verdict,
        "agrees": row.agrees,
    }


def _conflict(one: Conflict) -> dict[str, Any]:
    return {"about": one.about, "figures": list(one.figures), "supported": one.supported}
