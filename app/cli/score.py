"""`temper score`: score a line-up on fresh hosts and compare it with baselines."""

import asyncio
import getpass
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from sqlalchemy import Engine
from sqlmodel import Session

from app import __version__
from app.cli.opening import chosen_lineup, opened
from app.config import Settings
from app.errors import BadInput
from app.events.bus import Bus
from app.events.kinds import RunFailed, RunStarted
from app.events.log import LogWriter, RunLog
from app.events.words import Budget
from app.evidence.notary import AskedBy, open_notary
from app.lineups.model import Lineup
from app.runs.order import rules_of
from app.runtime.lock import held
from app.scores import file as score_file
from app.scores.figures import row
from app.scores.paper import COLUMNS, cells, paper, provenance
from app.scores.play import on_built_in, untouched
from app.scores.result import Score, ScoreOrder, Trial, harmed
from app.scores.trials import Notes, wanted, withheld
from app.store import queries
from app.store.db import open_database
from app.store.events import EventStore

NOTHING = "nothing"
ON_DEBIAN = {"bash": "OpenSCAP's generated bash", "ansible": "Ansible from the same content"}
NO_HARM, HARM_STAYED = 0, 2
_CUT_OFF = "it was cut off; its trial is made again on a new host"


@dataclass(frozen=True)
class ScoreAsked:
    lineup: str
    seeds: int
    hosts: int
    rules: str
    held_back: str
    out: Path
    pack: Path | None
    note: str
    as_json: bool
    budget: Budget


def apart(settings: Settings, lineup: str) -> Settings:
    """Return settings with a separate data folder, so that other runs' lessons and hosts have no effect."""
    return replace(settings, data=settings.data / "score", database_url="", lineup=lineup)


def label(lineup: Lineup, budget: Budget) -> str:
    """Return the line-up's name, with the budget if it is not the default."""
    whole = Budget()
    limits = (
        f"{budget.attempts} attempt{'s' * (budget.attempts > 1)}" if budget.attempts != whole.attempts else "",
        f"{budget.item_seconds / 60:g} min" if budget.item_seconds != whole.item_seconds else "",
    )
    told = " and ".join(filter(None, limits))
    return f"{lineup.name}, at most {told} a rule" if told else lineup.name


def score(settings: Settings, asked: ScoreAsked) -> int:
    if asked.lineup in ON_DEBIAN:
        raise BadInput(f"{asked.lineup} takes a real host: the built-in one has no shell. Add --host debian.")
    lineup = None if asked.lineup == NOTHING else chosen_lineup(settings)
    order = ScoreOrder(
        label=label(lineup, asked.budget) if lineup else "doing nothing",
        kind="line-up" if lineup else "baseline",
        skill="stig",
        rules=rules_of(asked.rules, "stig"),
        seeds=asked.seeds,
        hosts=asked.hosts,
        held_back=withheld(asked.held_back),
    )
    notes = Notes(asked.out.with_suffix(".part"), order)
    work = _played(settings, lineup, order, notes, asked) if lineup else _nothing(settings, order, notes, asked)
    asyncio.run(work)
    return finish(settings, order, lineup, notes, asked)


async def _nothing(settings: Settings, order: ScoreOrder, notes: Notes, asked: ScoreAsked) -> None:
    for one in wanted(order, asked.held_back):
        if one.place not in notes.done:
            notes.add(await untouched(order, one.seed, one.host, one.rules, settings.data / "twin"))


async def _played(settings: Settings, lineup: Lineup, order: ScoreOrder, notes: Notes, asked: ScoreAsked) -> None:
    await close_cut_off(settings)
    left = [one for one in wanted(order, asked.held_back) if one.place not in notes.done]
    if notes.done:
        say(f"Going on: {len(notes.done)} trials are done, {len(left)} are left.")
    if not left:
        return
    async with opened(settings, lineup) as runtime:
        for number, one in enumerate(left, 1):
            trial = await on_built_in(runtime, order, one.seed, one.host, one.rules, asked.budget)
            notes.add(trial)
            tell(number, len(left), trial)


async def close_cut_off(settings: Settings) -> None:
    """Append run.failed to the runs of interrupted trials; the trials are repeated."""
    if not (settings.data / "temper.sqlite").exists():
        return
    with held(settings.lock):
        database = open_database(settings.database)
        store = EventStore(database)
        writer = LogWriter(store, Bus())
        writer.start()
        for run in _unended(database):
            last = store.last(run)
            assert last
            RunLog(run, writer, last).append(RunFailed(reason=_CUT_OFF))
        await writer.close()
        database.dispose()


def _unended(database: Engine) -> list[str]:
    with Session(database) as session:
        return [run.id for run in queries.unended(session)]


def tell(number: int, of: int, trial: Trial) -> None:
    became = [
        f"{fate.rule} {fate.ended or fate.closing}{'' if fate.met is not False else ', not in effect'}"
        for fate in trial.fates
    ]
    harm = f"; HARM STAYED: {trial.worse or trial.left}" if harmed(trial) else ""
    say(f"{number}/{of} seed {trial.seed}, {trial.host}: {'; '.join(became)}{harm}")


def say(text: str) -> None:
    Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)


def finish(settings: Settings, order: ScoreOrder, lineup: Lineup | None, notes: Notes, asked: ScoreAsked) -> int:
    """Sign and write the result of all trials, delete the notes and return the exit code."""
    database = open_database(settings.database)
    trials = tuple(notes.done.values())
    found = (_started(database, trial.run) for trial in trials if trial.run)
    started = next((one for one in found if one), None)  # merged trials: some were played elsewhere
    made = Score(
        order=order,
        simulated=bool(lineup and lineup.simulated),
        simulated_host=not order.host,
        note=asked.note,
        temper=__version__,
        made_at=datetime.now(UTC).strftime("%Y-%m-%d"),
        machine=_machine(),
        models=tuple(dict.fromkeys(f"{seat.model} {seat.precision}".strip() for seat in started.seats))
        if started
        else (),
        scanner=started.scanner if started else "",
        trials=trials,
    )
    content = write(settings, database, made, asked)
    database.dispose()
    notes.discard()
    if asked.as_json:
        sys.stdout.write(content.decode())
    else:
        _show(made, asked.out)
    return HARM_STAYED if any(map(harmed, trials)) else NO_HARM


def write(settings: Settings, database: Engine, made: Score, asked: ScoreAsked) -> bytes:
    notary = open_notary(settings.data, database)
    content = score_file.signed(made, notary.key)
    try:
        asked.out.write_bytes(content)
        if asked.pack:
            by = AskedBy(getpass.getuser(), "admin", "terminal")
            runs = (trial.run for trial in made.trials if trial.run)
            score_file.pack(asked.pack, content, runs, lambda run: notary.evidence(run, by))
    except OSError as exc:
        raise BadInput(f"{exc.filename} cannot be written: {exc.strerror}. Choose another place.") from exc
    return content


def _started(database: Engine, run: str) -> RunStarted | None:
    first = next(EventStore(database).events(run, kinds=("run.started",)), None)
    return first.event if first and isinstance(first.event, RunStarted) else None


def _machine() -> str:
    """Return the CPU's number of cores and model; it identifies no person or host."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} cores of {names[0]}" if names else platform.machine()


def _show(made: Score, out: Path) -> None:
    found = row(made)
    for name, cell in zip(COLUMNS, cells(found), strict=True):
        Console().print(f"{name.strip('*'):20} {cell}", markup=False, highlight=False, soft_wrap=True)
    Console().print(provenance(found), f"\n{out}", markup=False, highlight=False, soft_wrap=True)


def table(files: Sequence[Path], into: Path | None) -> None:
    """Write a page of all results, ordered by file name, to `into` or stdout."""
    found = [score_file.read_file(file).score for file in sorted(files, key=lambda file: file.name)]
    text = paper([row(one) for one in found])
    if into:
        into.write_text(text)
    else:
        sys.stdout.write(text)


def verify_score(path: Path, key: str) -> int:
    """Return 0 if the score is valid, 2 if it is not."""
    try:
        found, looked = score_file.check(path, key)
    except score_file.BrokenScore as exc:
        say(f"does not hold: {path}: {exc}")
        return 2
    runs = (
        f"the evidence of all {looked} runs holds and says the same"
        if looked
        else "the evidence of its runs is not in it: ask for the pack"
    )
    vouched = "the key that you gave" if key else "a key that nobody vouched for here: compare it, or give --key"
    for line in (
        f"holds: {path}: {len(found.score.trials)} trials of {found.score.order.label}",
        runs,
        f"signed by {found.key}, {vouched}",
    ):
        Console().print(line, markup=False, highlight=False, soft_wrap=True)
    return 0
