"""What each person's runs took, by day or month, and by the API token that they were ordered with."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from math import inf
from typing import Literal, get_args

from sqlmodel import Session

from app.errors import NotTaken
from app.events.kinds import EnergySpent
from app.events.record import Recorded
from app.evidence.poam import cell
from app.machine.sampling.energy import joules
from app.store.events import EventStore
from app.store.usage import OrderedRun, labels, ordered

Per = Literal["day", "month"]
PERS: tuple[Per, ...] = get_args(Per)
_LENGTH: dict[Per, int] = {"day": 10, "month": 7}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class UsageLine:
    period: str
    """The day or the month, UTC, in which the runs were asked for."""
    person: str
    token: str
    """The API token's id; empty where none was used."""
    label: str
    """Its name."""
    simulated: bool
    """The engines were played: tokens are counted, and nothing was spent."""
    runs: int
    tokens_in: int
    tokens_out: int
    gpu_seconds: float | None
    joules: float | None
    runs_with_energy: int
    """Of runs, those whose energy is known: gpu_seconds and joules are theirs."""
    gpus_simulated: bool
    """Of those: power was played, too."""


@dataclass(frozen=True)
class UsageAsked:
    since: float
    until: float
    per: Per
    whose: str | None = None
    """None: everybody's."""


def usage_asked(since: str, until: str, per: str, whose: str | None, now: float) -> UsageAsked:
    """Days as 2026-11-01, both counted; left out, from the first of this month until now."""
    found = next((one for one in PERS if one == per), None)
    if found is None:
        raise NotTaken("per", f"there is no {per[:40]!a}: choose one of {', '.join(PERS)}.")
    first = datetime.fromtimestamp(now, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp()
    begin = _day("since", since) if since else first
    end = _day("until", until) + 24 * 3600 if until else inf
    if end <= begin:
        raise NotTaken("until", "until is before since: turn them round.")
    return UsageAsked(begin, end, found, whose)


def _day(field: str, said: str) -> float:
    try:
        if _DAY.fullmatch(said):
            return datetime.fromisoformat(said).replace(tzinfo=UTC).timestamp()
    except ValueError:
        pass
    raise NotTaken(field, f"{said[:40]!a} is no day: write it as 2026-11-01.")


def usage(session: Session, store: EventStore, asked: UsageAsked) -> list[UsageLine]:
    runs = ordered(session, asked.since, asked.until, asked.whose)
    return summed(runs, energy_of(store.samples(asked.since, inf, ("energy.sample",))), labels(session), asked.per)


def energy_of(samples: Iterable[Recorded]) -> dict[str, EnergySpent]:
    """The newest of each run: each sums up those before it."""
    return {one.event.of: one.event for one in samples if isinstance(one.event, EnergySpent)}


def summed(
    runs: Iterable[OrderedRun], energy: Mapping[str, EnergySpent], named: Mapping[str, str], per: Per
) -> list[UsageLine]:
    groups: dict[tuple[str, str, str, bool], list[OrderedRun]] = {}
    for run in runs:
        period = datetime.fromtimestamp(run.at, UTC).isoformat()[: _LENGTH[per]]
        groups.setdefault((period, run.whose, run.token, run.simulated), []).append(run)
    return [_line(key, groups[key], energy, named) for key in sorted(groups)]


def _line(
    key: tuple[str, str, str, bool],
    runs: Sequence[OrderedRun],
    energy: Mapping[str, EnergySpent],
    named: Mapping[str, str],
) -> UsageLine:
    period, person, token, simulated = key
    taken = [energy[run.run] for run in runs if run.run in energy]
    drawn = {one.of: [joules(part) for part in one.spent if part.role] for one in taken}
    known = [one for one in taken if None not in drawn[one.of]]
    return UsageLine(
        period=period,
        person=person,
        token=token,
        label=named.get(token, ""),
        simulated=simulated,
        runs=len(runs),
        tokens_in=sum(run.tokens_in for run in runs),
        tokens_out=sum(run.tokens_out for run in runs),
        gpu_seconds=round(sum(part.gpu_seconds for one in known for part in one.spent if part.role), 3)
        if known
        else None,
        joules=round(sum(part or 0.0 for one in known for part in drawn[one.of]), 3) if known else None,
        runs_with_energy=len(known),
        gpus_simulated=any(one.simulated for one in known),
    )


def as_csv(lines: Sequence[UsageLine]) -> str:
    """For a spreadsheet: no cell of it is a formula."""
    names = [field.name for field in fields(UsageLine)]
    into = io.StringIO(newline="")
    writer = csv.writer(into, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows([_cell(getattr(line, name)) for name in names] for line in lines)
    return into.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return cell(value) if isinstance(value, str) else "" if value is None else value
