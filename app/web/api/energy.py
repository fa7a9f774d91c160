"""GPU-seconds and joules of a run, per role."""

from pydantic import Field

from app.events.kinds import EnergySpent
from app.events.words import Provenance, Role, Spent
from app.machine.sampling.energy import joules
from app.machine.sampling.ledger import EnergyLedger
from app.people.rights import guests
from app.web.api.problem import documented
from app.web.api.route import router as api_router
from app.web.api.runs import known_run
from app.web.api.wire import Figure, Wire, figure, when
from app.web.deps import TheRuntime

router = api_router("runs")

HELD = "from turn.started to turn.finished, times the GPUs of its engine; GPUs that turns share are shared evenly"
UNHELD = "the line-up's GPUs while the run was on, in the time in which no turn of any run held them"
DRAWN = "power of those GPUs in that time, held to their energy counters where these were read"
UNSTARTED = "Nothing yet: the run has not started."
OTHER = "Not known: the run was made with line-up {}, and this server works with {}."


class RoleEnergy(Wire):
    role: Role
    gpu_seconds: Figure
    energy: Figure = Field(description="None where less than nine tenths of the time was sampled.")
    tokens: int = Field(description="That it wrote.")
    energy_per_token: Figure


class Between(Wire):
    """The GPUs while no role used them."""

    gpu_seconds: Figure
    energy: Figure


class RunEnergy(Wire):
    run: str
    final: bool = Field(description="The run has ended, and this stays as it is.")
    simulated: bool
    pace: float | None = Field(description="Of simulated engines: seconds and joules are less by as much.")
    until: str | None
    roles: list[RoleEnergy]
    between: Between | None
    reason: str = Field(description="Why there is nothing; empty otherwise.")


@router.get("/runs/{run}/energy", responses=documented("not-found"))
@guests
def show_energy(run: str, runtime: TheRuntime) -> RunEnergy:
    """GPU-seconds and joules of a run, per role. Power samples are kept for hours, a run's totals for good."""
    row = known_run(runtime, run)
    ledger = EnergyLedger(runtime.store, runtime.lineup)
    found, pace = ledger.spent(run), ledger.pace(run)
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
        until=when(found.until),
        roles=[_role(found, one) for one in found.spent if one.role],
        between=Between(gpu_seconds=_seconds(found, between[0]), energy=_energy(found, between[0]))
        if between
        else None,
        reason="",
    )


def _role(found: EnergySpent, one: Spent) -> RoleEnergy:
    assert one.role
    drawn = joules(one)
    each = drawn / one.tokens if drawn is not None and one.tokens else None
    return RoleEnergy(
        role=one.role,
        gpu_seconds=_seconds(found, one),
        energy=_energy(found, one),
        tokens=one.tokens,
        energy_per_token=_derived(found, each, "J/token", f"{DRAWN}, over the tokens that it wrote"),
    )


def _seconds(found: EnergySpent, one: Spent) -> Figure:
    return _derived(found, one.gpu_seconds, "s", HELD if one.role else UNHELD)


def _energy(found: EnergySpent, one: Spent) -> Figure:
    return _derived(found, joules(one), "J", DRAWN)


def _derived(found: EnergySpent, value: float | None, unit: str, source: str) -> Figure:
    known: Provenance = "simulated" if found.simulated else "derived"
    shown = None if value is None else round(value, 3)
    return figure(shown, unit, "unsupported" if value is None else known, source, found.until)
