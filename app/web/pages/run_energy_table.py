"""GPU-seconds and joules of a run per role, as a page and as a table for other pages."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from app.events.event_field_types import Spent
from app.machine.sampling.role_energy import compute_joules_per_token, extrapolate_joules_if_enough_sampled
from app.machine.sampling.run_energy import EnergyLedger
from app.people.rights import guests
from app.store.models import RunRow
from app.web.deps import TheRuntime, TheSession
from app.web.pages.engine_meters_and_gpu_cards import RunArchive
from app.web.pages.error_pages import require_run
from app.web.pages.templating import render_page

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class EnergyRow:
    role: str
    """Empty for time in which no role was working."""
    gpu_seconds: float
    kilojoules: float | None
    tokens: int
    per_token: float | None


@dataclass(frozen=True)
class EnergyTable:
    run: str
    rows: tuple[EnergyRow, ...]
    total: EnergyRow | None
    simulated: bool
    pace: float | None
    """Speed factor of simulated engines: seconds and joules are divided by it."""
    final: bool
    reason: str


@router.get("/runs/{run}/energy", name="run_energy")
@guests
def show_energy(runtime: TheRuntime, session: TheSession, run: str) -> Response:
    row = require_run(session, run)
    return render_page("energy.html", here="runs", run=row, table=build_energy_table(runtime, row))


def build_energy_table(archive: RunArchive, row: RunRow) -> EnergyTable:
    ledger = EnergyLedger(archive.store, archive.lineup)
    found, pace = ledger.compute_run_energy(row.id), ledger.find_simulation_pace(row.id)
    if found is None:
        reason = f"The run used line-up {row.lineup}; this server uses {archive.lineup.name}."
        reason = "The run has not started yet." if row.started_at is None else reason
        return EnergyTable(row.id, (), None, row.simulated, pace, False, reason)
    rows = tuple(_build_energy_row(one) for one in found.spent)
    return EnergyTable(row.id, rows, _sum_energy_rows(rows), found.simulated, pace, found.final, "")


def _build_energy_row(spent: Spent) -> EnergyRow:
    drawn = extrapolate_joules_if_enough_sampled(spent)
    kilojoules = None if drawn is None else drawn / 1000
    return EnergyRow(spent.role, spent.gpu_seconds, kilojoules, spent.tokens, compute_joules_per_token(spent))


def _sum_energy_rows(rows: tuple[EnergyRow, ...]) -> EnergyRow:
    known = [row.kilojoules for row in rows if row.kilojoules is not None]
    drawn = sum(known) if len(known) == len(rows) else None
    tokens = sum(row.tokens for row in rows)
    each = 1000 * drawn / tokens if drawn is not None and tokens else None
    return EnergyRow("all", sum(row.gpu_seconds for row in rows), drawn, tokens, each)
