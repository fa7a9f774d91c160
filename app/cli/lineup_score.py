"""`temper score`: score a line-up on fresh hosts and compare it with baselines."""

import asyncio
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
from app.cli.database_access import open_or_create_database
from app.cli.evidence_export import create_requester
from app.cli.exit_codes import DONE, NOT_PINNED
from app.cli.output import print_line
from app.cli.public_lineup_score import write_submission
from app.cli.ready_engines_for_probe import wait_until_loaded
from app.cli.runtime_opening import load_lineup, open_runtime
from app.cli.server_to_lineup import inspect_address, print_report, write_lineup
from app.config import Settings
from app.engines.endpoint_lineup import contains_url, parse_endpoints
from app.errors import BadInput
from app.events.bus import Bus
from app.events.event_field_types import Budget
from app.events.kinds import RunFailed, RunStarted
from app.events.log_writer import LogWriter, RunLog
from app.evidence.notary import open_notary
from app.lineups.model import Lineup
from app.runs.order import select_rules
from app.runtime.data_folder import hold_lock
from app.runtime.runtime import Runtime
from app.scores import signed_score_file
from app.scores.generated_hosts import create_builtin_host, generate_host
from app.scores.harbor_tasks import export_harbor_tasks
from app.scores.public_score import read_verified_full_or_public_score
from app.scores.score_figures import build_score_row
from app.scores.score_structures import Kind, Score, ScoreOrder, Trial, has_worse_probe_or_rollback_leftover
from app.scores.scores_markdown import describe_how_score_was_made, render_cells, render_scores_markdown
from app.scores.trial_plan_and_journal import TrialJournal, hash_held_back_seed, plan_trials
from app.scores.trial_runner import run_file_host_trial, run_untouched_trial
from app.store import run_queries
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.text.clean import clean_line, clean_text

NOTHING, CANDIDATES = "nothing", "candidates"
ON_DEBIAN = {"bash": "OpenSCAP's generated bash", "ansible": "Ansible from the same content"}
NO_HARM, HARM_STAYED = 0, 2
_CUT_OFF = "it was interrupted; its trial is repeated on a new host"


@dataclass(frozen=True)
class ScoreOptions:
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
    public: Path | None = None
    """File for a result that can be sent in."""
    skill: str = ""
    """Skill on a virtual machine; empty for the one that comes with it."""
    quantized: str = ""
    """Quantisation that the server named for its model."""


@dataclass(frozen=True)
class ScoreSubject:
    lineup: Lineup | None
    """None for what runs no loop."""
    label: str
    kind: Kind


def build_score_settings(settings: Settings, lineup: str) -> Settings:
    """Return settings with a separate data folder, so that other runs' lessons and hosts have no effect.

    A baseline without a model takes any line-up: no engine of it is asked.
    """
    lineup = Settings.lineup if lineup == CANDIDATES or contains_url(lineup) else lineup
    return replace(settings, data=settings.data / "score", database_url="", lineup=lineup)


def choose_score_subject(settings: Settings, options: ScoreOptions) -> ScoreSubject:
    """Return what is scored, by the name that was asked for."""
    if options.lineup == NOTHING:
        return ScoreSubject(None, "doing nothing", "baseline")
    if options.lineup in ON_DEBIAN:
        return ScoreSubject(None, ON_DEBIAN[options.lineup], "baseline")
    lineup = load_lineup(settings)
    if contains_url(options.lineup):
        model = lineup.engines[lineup.seats["architect"].engine].model  # a public label without an address
        return ScoreSubject(lineup, format_score_label(clean_text(model, 60), options.budget), "line-up")
    if options.lineup == CANDIDATES:
        return ScoreSubject(lineup, format_score_label("candidates without a model", options.budget), "no model")
    return ScoreSubject(lineup, format_score_label(lineup.name, options.budget), "line-up")


def prepare_lineup_for_scored_address(settings: Settings, options: ScoreOptions) -> tuple[Settings, ScoreOptions]:
    """Return settings with a line-up for the server whose address is scored; both stay as they are without one."""
    if not contains_url(options.lineup):
        return settings, options
    [one] = parse_endpoints([options.lineup])
    report = inspect_address(one)
    print_report(one, report, Console(stderr=True, highlight=False))
    path = write_lineup(settings.data, [(one, report)])
    quantized = next((served.quantized for served in report.models if served.id == report.model), "")
    return replace(settings, lineup=str(path)), replace(options, quantized=quantized)


def format_score_label(name: str, budget: Budget) -> str:
    """Return the name, with the budget if it is not the default."""
    whole = Budget()
    limits = (
        f"{budget.attempts} attempt{'s' * (budget.attempts > 1)}" if budget.attempts != whole.attempts else "",
        f"{budget.item_seconds / 60:g} min" if budget.item_seconds != whole.item_seconds else "",
    )
    shown = " and ".join(filter(None, limits))
    return f"{name}, at most {shown} per rule" if shown else name


def run_score(settings: Settings, options: ScoreOptions) -> int:
    if options.lineup in ON_DEBIAN:
        why = "requires a real host, since the built-in host has no shell"
        raise BadInput(f"{options.lineup} {why}. Add --host debian.")
    if options.public and (options.held_back or options.lineup in (NOTHING, CANDIDATES)):
        raise BadInput(
            "--public publishes the hosts and the model's turns: give a line-up or an address, without --held-back."
        )
    settings, options = prepare_lineup_for_scored_address(settings, options)
    subject = choose_score_subject(settings, options)
    lineup = subject.lineup
    order = ScoreOrder(
        label=subject.label,
        kind=subject.kind,
        skill="stig",
        rules=select_rules(options.rules, "stig"),
        seeds=options.seeds,
        hosts=options.hosts,
        held_back=hash_held_back_seed(options.held_back),
    )
    notes = TrialJournal(options.out.with_suffix(".part"), order)
    asyncio.run(_play_remaining_trials(settings, lineup, order, notes, options))
    return finish_and_print_score(settings, order, lineup, notes, options)


async def _play_remaining_trials(
    settings: Settings, lineup: Lineup | None, order: ScoreOrder, journal: TrialJournal, options: ScoreOptions
) -> None:
    left = [one for one in plan_trials(order, options.held_back) if one.trial_key not in journal.done]
    if lineup is None:
        for one in left:
            journal.add(await run_untouched_trial(order, one.seed, one.host, one.rules, settings.data / "twin"))
        return
    await fail_interrupted_score_runs(settings)
    if journal.done:
        print_line(f"Resuming: trials done: {len(journal.done)}, trials left: {len(left)}.", to_stderr=True)
    if not left:
        return
    async with open_runtime(settings, lineup) as runtime:
        await wait_until_engines_loaded(runtime)
        for number, one in enumerate(left, 1):
            trial = await run_file_host_trial(runtime, order, one.seed, one.host, one.rules, options.budget)
            journal.add(trial)
            print_trial(number, len(left), trial)


async def wait_until_engines_loaded(runtime: Runtime) -> None:
    """Wait until the engines that Temper starts are ready. A run would wait for an engine that ended at its start."""
    for one in (one for replicas in runtime.launched.values() for one in replicas):
        await wait_until_loaded(one, lambda _: None)


async def fail_interrupted_score_runs(score_settings: Settings) -> None:
    """Append run.failed to the runs of interrupted trials; the trials are repeated."""
    if not (score_settings.data / "temper.sqlite").exists():
        return
    with hold_lock(score_settings.lock_path), open_or_create_database(score_settings) as database:
        store = EventStore(database)
        writer = LogWriter(store, Bus())
        writer.start()
        with Session(database) as session:
            interrupted = [run.id for run in run_queries.list_unended_runs(session)]
        for run in interrupted:
            last = store.read_last_link(run)
            assert last
            RunLog(run, writer, last).append(RunFailed(reason=_CUT_OFF))
        await writer.close()


def print_trial(number: int, total: int, trial: Trial) -> None:
    outcomes = (
        f"{fate.rule} {fate.ended or fate.closing}{'' if fate.met is not False else ', not in effect'}"
        for fate in trial.fates
    )
    harm = f"; HARM STAYED: {trial.worse or trial.left}" if has_worse_probe_or_rollback_leftover(trial) else ""
    print_line(f"{number}/{total} seed {trial.seed}, {trial.host}: {'; '.join(outcomes)}{harm}", to_stderr=True)


def finish_and_print_score(
    settings: Settings, order: ScoreOrder, lineup: Lineup | None, journal: TrialJournal, options: ScoreOptions
) -> int:
    """Sign and write the result of all trials, delete the notes and return the exit code."""
    database = open_and_migrate_database(settings.database_path_or_url)
    trials = tuple(journal.done.values())
    found = (_find_run_started(database, trial.run) for trial in trials if trial.run)
    started = next((one for one in found if one), None)  # merged trials: some were played elsewhere
    seats = started.seats if started else ()
    models = tuple(dict.fromkeys(f"{seat.model} {seat.precision}".removesuffix("unstated").strip() for seat in seats))
    made = Score(
        order=order,
        simulated=bool(lineup and lineup.simulated and order.engine == "lineup"),
        simulated_host=not order.host,
        note=options.note,
        temper=__version__,
        made_at=datetime.now(UTC).strftime("%Y-%m-%d"),
        machine=_describe_cpu(),
        models=models,
        scanner=started.scanner if started else "",
        trials=trials,
    )
    content = sign_and_write_result_file_and_evidence_pack(settings, database, made, options)
    if options.public and lineup:
        write_submission(settings, database, made, lineup, options.public, options.quantized)
    database.dispose()
    journal.discard()
    if options.as_json:
        sys.stdout.write(content.decode())
    else:
        _print_score(made, options.out)
    return HARM_STAYED if any(map(has_worse_probe_or_rollback_leftover, trials)) else NO_HARM


def sign_and_write_result_file_and_evidence_pack(
    settings: Settings, database: Engine, score: Score, options: ScoreOptions
) -> bytes:
    notary = open_notary(settings.data, database)
    content = signed_score_file.sign_score(score, notary.key)
    try:
        options.out.write_bytes(content)
        if options.pack:
            by = create_requester()
            runs = (trial.run for trial in score.trials if trial.run)
            signed_score_file.write_score_pack(options.pack, content, runs, lambda run: notary.issue_evidence(run, by))
    except OSError as exc:
        raise BadInput(f"cannot write {exc.filename}: {exc.strerror}. Choose another path.") from exc
    return content


def _find_run_started(database: Engine, run: str) -> RunStarted | None:
    first = next(EventStore(database).read_events(run, kinds=("run.started",)), None)
    return first.event if first and isinstance(first.event, RunStarted) else None


def _describe_cpu() -> str:
    """Return the CPU's number of cores and model; it identifies no person or host."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} cores of {names[0]}" if names else platform.machine()


def _print_score(score: Score, out: Path) -> None:
    found = build_score_row(score)
    for name, cell in render_cells(found).items():
        print_line(f"{name:20} {cell}")
    print_line(f"{describe_how_score_was_made(found)} \n{out}")


def write_score_table(files: Sequence[Path], into: Path | None) -> None:
    found = [read_verified_full_or_public_score(file) for file in sorted(files, key=lambda file: file.name)]
    text = render_scores_markdown([build_score_row(one) for one in found])
    if not into:
        sys.stdout.write(text)
        return
    try:
        into.write_text(text)
    except OSError as exc:
        raise BadInput(f"cannot write {into}: {exc.strerror}. Choose another path.") from exc


def verify_score(path: Path, key: str) -> int:
    """Return 0 if the score is valid, 2 if it is not, 3 if it is and no key was given."""
    try:
        found, looked = signed_score_file.read_verified_score_and_verified_run_count(path, key)
    except signed_score_file.BrokenScore as exc:
        print_line(clean_line(f"does not hold: {path}: {exc}", 4000), to_stderr=True)
        return 2
    packed = f"the evidence of all {looked} runs holds and says the same"
    vouched = "the key that you gave" if key else "a key that nobody vouched for here: give --key"
    print_line(clean_line(f"holds: {path}: {len(found.score.trials)} trials of {found.score.order.label}", 4000))
    print_line(packed if looked else "it does not contain the evidence of its runs: ask for the pack")
    print_line(clean_line(f"signed by {found.key}, {vouched}", 400))
    return DONE if key else NOT_PINNED


def export_tasks(folder: Path, rules: str, host_count: int, seed_of_held_back_hosts: str) -> None:
    chosen = [
        create_builtin_host()
        if number == 0 and not seed_of_held_back_hosts
        else generate_host(f"{seed_of_held_back_hosts}/1", number)
        for number in range(host_count)
    ]
    made = export_harbor_tasks(folder, select_rules(rules, "stig"), chosen)
    print_line(f"{len(made)} tasks in {folder}")
