"""`temper probe`: measure a line-up's engines and compare the results with the plan and earlier probes."""

import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack

import httpx
import msgspec
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text
from sqlalchemy import Engine as Database
from sqlmodel import Session

from app.cli.ready_engines_for_probe import open_engines
from app.config import Settings
from app.engines.client import read_api_key
from app.engines.replica_choice import EngineTraffic
from app.errors import TemperError
from app.lineups.model import Lineup
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.measuring.engine_memory_estimate import plan_engine
from app.machine.measuring.engine_replicas_to_probe import choose_engines, create_probe_subjects
from app.machine.measuring.planned_and_measured_figures import ComparedRow, ProbeComparison, compare_probe_results
from app.machine.measuring.probe import ProbeSubject, run_probe
from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_result import find_newest_and_earlier, read_newest_probes, store_probe
from app.store.db import open_and_migrate_database

FINE, COULD_NOT = 0, 1
LEGEND = "m measured · d derived · e estimated · s simulated · ratio: now ÷ before"


async def probe_lineup(settings: Settings, engine: str, *, as_json: bool) -> int:
    lineup = read_lineup(require_lineup_path(settings.lineup))
    engines = choose_engines(lineup, engine)
    database = open_and_migrate_database(settings.database_path_or_url)
    found: list[ProbeComparison] = []
    async with AsyncExitStack() as stack:
        stack.callback(database.dispose)
        http = await stack.enter_async_context(httpx.AsyncClient())
        status = stack.enter_context(Console(stderr=True).status(lineup.title))
        there = await stack.enter_async_context(open_engines(settings, lineup, engines, http, status.update))
        asked = create_probe_subjects(
            lineup, engines, there.bases, http, there.cards, settings.speed, read_api_key, EngineTraffic(), there.loaded
        )
        for subject in asked:
            if one := await _probe_store_and_compare(subject, lineup, database, status):
                found.append(one)
                if not as_json:
                    print_comparison(one, Console())
    if as_json:
        sys.stdout.write(msgspec.json.encode({"lineup": lineup.name, "probes": found}).decode() + "\n")
    return FINE if len(found) == len(asked) and not any(one.now and one.now.problem for one in found) else COULD_NOT


async def _probe_store_and_compare(
    subject: ProbeSubject, lineup: Lineup, database: Database, status: Status
) -> ProbeComparison | None:
    """Probe one replica and store the result. Print the error and return None if it fails."""
    try:
        probed = await run_probe(subject, status.update)
    except TemperError as exc:
        print(f"temper: {subject.title}: {exc}", file=sys.stderr)  # noqa: T201
        return None
    with Session(database) as session, session.begin():
        store_probe(session, probed)
        history = read_newest_probes(session, lineup.name, subject.engine.name)
    now, before = find_newest_and_earlier(history, subject.engine.name, subject.replica)
    return compare_probe_results(subject.engine, subject.replica, plan_engine(lineup, subject.engine), now, before)


def print_comparison(comparison: ProbeComparison, console: Console) -> None:
    """Print a probe as a table, with a letter for each number's provenance and notes below."""
    where = f"GPU {' + '.join(map(str, comparison.gpus))}" if comparison.gpus else "CPU"
    played = " · SIMULATED" if comparison.now and comparison.now.simulated else ""
    console.print(Text(f"\n{comparison.title}, {where}{played}", style="bold"))
    table = Table("", "", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("plan", "reported", "now", "before", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in comparison.rows:
        ratio = "" if row.ratio_to_previous_probe is None else f"{row.ratio_to_previous_probe:.2f}"
        table.add_row(row.label, row.unit, *_format_cells(row), ratio)
    console.print(table)
    for line in (LEGEND, *_iterate_notes(comparison)):
        console.print(Text(line), soft_wrap=True)


def _format_cells(row: ComparedRow) -> Iterator[str]:
    yield _format_cell(row.plan, row.digits, row.plan_bound_sign)
    for figure in (row.reported, row.now, row.before):
        yield _format_cell(figure, row.digits)


def _format_cell(figure: Measured | None, digits: int, bound: str = "") -> str:
    if figure is None or figure.value is None:
        return "—"
    return f"{bound}{figure.value:,.{digits}f} {figure.provenance[0]}"


def _iterate_notes(comparison: ProbeComparison) -> Iterator[str]:
    if comparison.verdict:
        yield f"plan: {comparison.verdict}"
    if comparison.limit and comparison.limit.value is not None:
        limit = comparison.limit
        yield f"speed limit of one stream: {limit.value:.1f} tok/s, {limit.provenance}: {limit.source}"
    if comparison.now:
        yield from comparison.now.notes
        if comparison.now.problem:
            yield comparison.now.problem
    if comparison.before and comparison.changed:
        yield f"changed since the previous probe: {'; '.join(comparison.changed)}"
