"""Convert a plan to JSON data, each number with its provenance."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from app.engines.fit.estimate import Estimate, Fit
from app.engines.fit.seed_conflicts import Conflict, find_seed_conflicts
from app.engines.fit.seed_table import SeedRow, build_seed_table


def dump_fit(fit: Fit) -> dict[str, Any]:
    reckoned = {field.name: value for field in fields(fit) if isinstance(value := getattr(fit, field.name), Estimate)}
    return {
        "name": fit.name,
        "fits": fit.fits,
        "says": fit.says,
        **{name: None if one.value is None else round(one.value, 3) for name, one in reckoned.items()},
        "provenance": {name: {"provenance": one.provenance, "source": one.source} for name, one in reckoned.items()},
    }


def dump_plan(fits: Iterable[Fit], *, seeds: bool) -> dict[str, Any]:
    rows = build_seed_table() if seeds else ()
    return {
        "engines": [dump_fit(fit) for fit in fits],
        "seeds": [_dump_seed_row(row) for row in rows],
        "contradictions": [_dump_conflict(one) for one in find_seed_conflicts(rows)] if seeds else [],
    }


def _dump_seed_row(row: SeedRow) -> dict[str, Any]:
    return {
        **dump_fit(row.fit),
        "configuration": row.configuration,
        "claimed_vram_per_gpu": row.claimed,
        "found": row.found,
        "verdict": row.verdict,
        "agrees": row.agrees,
    }


def _dump_conflict(one: Conflict) -> dict[str, Any]:
    return {"about": one.about, "figures": list(one.figures), "supported": one.supported}
