"""GPU-seconds and joules of a run, per role."""

from functools import partial

from pydantic import Field

from app.events.event_field_types import Role, Spent
from app.events.kinds import EnergySpent
from app.machine.sampling.role_energy import compute_joules_per_token, extrapolate_joules_if_enough_sampled
from app.machine.sampling.run_energy import EnergyLedger
from app.people.rights import guests
from app.web.api.api_model import ApiModel, Figure, Time, derive_figure
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import build_problem_responses
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


class IdleEnergy(ApiModel):
    """The GPUs while no role used them."""

    gpu_seconds: Figure
    energy: Figure


class RunEnergy(ApiModel):
    run: str
    final: bool = Field(description="The run has ended; the values no longer change.")
    simulated: bool
    pace: float | None = Field(description="Pace of simulated engines. Seconds and joules are smaller by this factor.")
    until: Time | None
    roles: list[RoleEnergy]
    between: IdleEnergy | None
    reason: str = Field(description="Why there are no values; empty otherwise.")


@router.get("/runs/{run}/energy", responses=build_problem_responses("not-found"))
@guests
def show_energy(run: str, runtime: TheRuntime) -> RunEnergy:
    """GPU-seconds and joules of a run, per role. Power samples are kept for hours, a run's totals for good."""
    row = read_required_run_row(runtime, run)
    ledger = EnergyLedger(runtime.store, runtime.lineup)
    found, pace = ledger.compute_run_energy(run), ledger.find_simulation_pace(run)
    if found is None:
        reason = UNSTARTED if row.started_at is None else OTHER.format(row.lineup, runtime.lineup.name)
        return RunEnergy(
            run=run, final=False, simulated=row.simulated, pace=pace, until=None, roles=[], between=None, reason=reason
        )
    return RunEnergy.from_source(
        found,
        run=run,
        pace=pace,
        roles=[_to_role_energy(found, one) for one in found.spent if one.role],
        between=next(
            (IdleEnergy(**_create_gpu_seconds_and_energy_figures(found, one)) for one in found.spent if not one.role),
            None,
        ),
        reason="",
    )


def _to_role_energy(energy: EnergySpent, spent: Spent) -> RoleEnergy:
    each, source = compute_joules_per_token(spent), f"{DRAWN}, over the tokens that it wrote"
    per_token = derive_figure(each, "J/token", source, energy.until, simulated=energy.simulated)
    return RoleEnergy.from_source(
        spent, **_create_gpu_seconds_and_energy_figures(energy, spent), energy_per_token=per_token
    )


def _create_gpu_seconds_and_energy_figures(energy: EnergySpent, spent: Spent) -> dict[str, Figure]:
    derive = partial(derive_figure, at=energy.until, simulated=energy.simulated)
    return {
        "gpu_seconds": derive(spent.gpu_seconds, "s", HELD if spent.role else UNHELD),
        "energy": derive(extrapolate_joules_if_enough_sampled(spent), "J", DRAWN),
    }
