"""GPU-seconds and joules of a run, per role."""

from pydantic import Field

from app.events.kinds import EnergySpent
from app.events.vocabulary import Provenance, Role, Spent
from app.machine.sampling.energy_ledger import EnergyLedger
from app.machine.sampling.energy_shares import extrapolate_joules
from app.people.rights import guests
from app.web.api.api_model import ApiModel, Figure, create_figure, format_time
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import document_problems
from app.web.api.runs import read_required_run_row
from app.web.deps import TheRuntime

router = api_router("runs")

HELD = "from turn.started to turn.finished, times the GPUs of its engine; GPUs that turns share are shared evenly"
UNHELD = "the line-up's GPUs while the run was on, in the time in which no turn of any run held them"
DRAWN = "power of those GPUs in that time, held to their energy counters where these were read"
UNSTARTED = "No energy yet: the run has not started."
OTHER = "Unknown: the run used line-up {}, and this server uses {}."


class RoleEnergy(ApiModel):
    role: Role
    gpu_seconds: Figure
    energy: Figure = Field(description="None if less than 90 % of the time was sampled.")
    tokens: int = Field(description="Tokens that the role wrote.")
    energy_per_token: Figure


class Between(ApiModel):
    """The GPUs while no role used them."""

    gpu_seconds: Figure
    energy: Figure


class RunEnergy(ApiModel):
    run: str
    final: bool = Field(description="The run has ended; the values no longer change.")
    simulated: bool
    pace: float | None = Field(description="Pace of simulated engines. Seconds and joules are smaller by this factor.")
    until: str | None
    roles: list[RoleEnergy]
    between: Between | None
    reason: str = Field(description="Why there are no values; empty otherwise.")


@router.get("/runs/{run}/energy", responses=document_problems("not-found"))
@guests
def show_energy(run: str, runtime: TheRuntime) -> RunEnergy:
    """GPU-seconds and joules of a run, per role. Power samples are kept for hours, a run's totals for good."""
    row = read_required_run_row(runtime, run)
    ledger = EnergyLedger(runtime.store, runtime.lineup)
    found, pace = ledger.compute_spent(run), ledger.read_pace(run)
    if found is None:
        reason = UNSTARTED if row.started_at is None else OTHER.format(row.lineup, runtime.lineup.name)
        return RunEnergy(
            run=run, final=False, simulated=row.simulated, pace=pace, until=None, roles=[], between=None, reason=reason
        )
    between = [one for one in found.spent if not one.role]
    return RunEnergy(
        run=run,
        final=found.final,
        simulated=found.simulated,
        pace=pace,
        until=format_time(found.until),
        roles=[_to_role_energy(found, one) for one in found.spent if one.role],
        between=Between(gpu_seconds=_to_seconds_figure(found, between[0]), energy=_to_joules_figure(found, between[0]))
        if between
        else None,
        reason="",
    )


def _to_role_energy(found: EnergySpent, one: Spent) -> RoleEnergy:
    assert one.role
    drawn = extrapolate_joules(one)
    each = drawn / one.tokens if drawn is not None and one.tokens else None
    return RoleEnergy(
        role=one.role,
        gpu_seconds=_to_seconds_figure(found, one),
        energy=_to_joules_figure(found, one),
        tokens=one.tokens,
        energy_per_token=_to_derived_figure(found, each, "J/token", f"{DRAWN}, over the tokens that it wrote"),
    )


def _to_seconds_figure(found: EnergySpent, one: Spent) -> Figure:
    return _to_derived_figure(found, one.gpu_seconds, "s", HELD if one.role else UNHELD)


def _to_joules_figure(found: EnergySpent, one: Spent) -> Figure:
    return _to_derived_figure(found, extrapolate_joules(one), "J", DRAWN)


def _to_derived_figure(found: EnergySpent, value: float | None, unit: str, source: str) -> Figure:
    known: Provenance = "simulated" if found.simulated else "derived"
    shown = None if value is None else round(value, 3)
    return create_figure(shown, unit, "unsupported" if value is None else known, source, found.until)
