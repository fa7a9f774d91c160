"""Sum up tokens, GPU time and energy of runs by day or month, person and API token."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from math import inf
from typing import Literal, get_args

from sqlmodel import Session

from app.errors import Rejected
from app.events.kinds import EnergySpent
from app.events.record import Recorded, select_events
from app.evidence.poam import format_csv
from app.machine.sampling.role_energy import extrapolate_joules_if_enough_sampled
from app.store.events import EventStore
from app.store.issued_credentials import list_token_labels
from app.store.models import RunRow
from app.store.run_queries import list_runs_queued_between

Per = Literal["day", "month"]
PERS: tuple[Per, ...] = get_args(Per)
_LENGTH: dict[Per, int] = {"day": 10, "month": 7}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class UsageLine:
    period: str
    """Day or month (UTC) in which the runs were ordered."""
    person: str
    token: str
    """Id of the API token; empty if none was used."""
    label: str
    """Label of the token."""
    simulated: bool
    """Whether the engines were simulated: tokens are counted, but nothing was spent."""
    runs: int
    tokens_in: int
    tokens_out: int
    gpu_seconds: float | None
    joules: float | None
    runs_with_energy: int
    """Number of runs with known energy; gpu_seconds and joules cover only these."""
    gpus_simulated: bool
    """Whether the power of any of these was simulated."""


@dataclass(frozen=True)
class UsageQuery:
    since: float
    until: float
    per: Per
    whose: str | None = None
    """Person to report on; None means everybody."""


def parse_usage_query(since: str, until: str, per: str, whose: str | None, now: float) -> UsageQuery:
    """Parse inclusive days like 2026-11-01; default to this month so far. Raise Rejected if invalid."""
    found = next((one for one in PERS if one == per), None)
    if found is None:
        raise Rejected("per", f"{per[:40]!a} is not a period: choose one of {', '.join(PERS)}.")
    first = datetime.fromtimestamp(now, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp()
    begin = _parse_day("since", since) if since else first
    end = _parse_day("until", until) + 24 * 3600 if until else inf
    if end <= begin:
        raise Rejected("until", "until is before since: swap them.")
    return UsageQuery(begin, end, found, whose)


def _parse_day(field: str, day: str) -> float:
    try:
        if _DAY.fullmatch(day):
            return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    except ValueError:
        pass
    raise Rejected(field, f"{day[:40]!a} is not a date: write it as 2026-11-01.")


def compute_usage(session: Session, store: EventStore, query: UsageQuery) -> list[UsageLine]:
    runs = list_runs_queued_between(session, query.since, query.until, query.whose)
    energy = map_runs_to_newest_energy_sample(store.read_samples(query.since, inf, ("energy.sample",)))
    return sum_usage_per_period_and_person(runs, energy, list_token_labels(session), query.per)


def map_runs_to_newest_energy_sample(cumulative_samples_oldest_first: Iterable[Recorded]) -> dict[str, EnergySpent]:
    """Return the newest energy sample of each run. Samples are cumulative."""
    return {one.of: one for one in select_events(cumulative_samples_oldest_first, EnergySpent)}


def sum_usage_per_period_and_person(
    runs: Iterable[RunRow], energy: Mapping[str, EnergySpent], token_labels: Mapping[str, str], period_length: Per
) -> list[UsageLine]:
    groups: dict[tuple[str, str, str, bool], list[RunRow]] = {}
    for run in runs:
        period = datetime.fromtimestamp(run.queued_at, UTC).isoformat()[: _LENGTH[period_length]]
        groups.setdefault((period, run.whose, run.token, run.simulated), []).append(run)
    return [_build_usage_line(key, groups[key], energy, token_labels.get(key[2], "")) for key in sorted(groups)]


def _build_usage_line(
    key: tuple[str, str, str, bool], runs: Sequence[RunRow], energy: Mapping[str, EnergySpent], label: str
) -> UsageLine:
    period, person, token, simulated = key
    samples = [energy[run.id] for run in runs if run.id in energy]
    drawn = {one.of: [extrapolate_joules_if_enough_sampled(part) for part in one.spent if part.role] for one in samples}
    known = [one for one in samples if None not in drawn[one.of]]
    seconds = sum(part.gpu_seconds for one in known for part in one.spent if part.role)
    return UsageLine(
        period=period,
        person=person,
        token=token,
        label=label,
        simulated=simulated,
        runs=len(runs),
        tokens_in=sum(run.tokens_in for run in runs),
        tokens_out=sum(run.tokens for run in runs),
        gpu_seconds=round(seconds, 3) if known else None,
        joules=round(sum(part or 0.0 for one in known for part in drawn[one.of]), 3) if known else None,
        runs_with_energy=len(known),
        gpus_simulated=any(one.simulated for one in known),
    )


def format_usage_csv(lines: Sequence[UsageLine]) -> str:
    names = [field.name for field in fields(UsageLine)]
    return format_csv(
        names, ([_format_value_without_formula_escaping(getattr(line, name)) for name in names] for line in lines)
    )


def _format_value_without_formula_escaping(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
