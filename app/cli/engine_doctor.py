"""`temper doctor`: check a line-up file, a log or a running server for known problems."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from app.engines.client import read_api_key
from app.engines.doctor.diagnose import diagnose_lineup
from app.engines.doctor.engine_log_boots import LONGEST, read_boots
from app.engines.doctor.files_and_environment_for_checks import inspect_model_files_and_environment
from app.engines.doctor.log_checks import diagnose_log
from app.engines.doctor.pitfall import Pitfall, Severity, sort_by_engine_and_severity
from app.engines.doctor.server_checks import diagnose_server, inspect_server
from app.engines.doctor.server_kinds import ServerExplanation, explain_server_if_models_listed
from app.engines.fit.fit_verdict import ProgramsOnGpu
from app.engines.launch.process_search import read_mark
from app.engines.proc_files import iterate_listening_sockets_with_inodes
from app.errors import BadInput
from app.lineups.model import Engine, Lineup
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.gpus.gpu_processes import GpuProcesses, list_foreign_programs_on_idle_gpus
from app.machine.gpus.nvml_gpus import NvmlGpus
from app.text.clean import clean_text

FINE, WILL_STOP, BAD_INPUT = 0, 1, 2
_STYLES: dict[Severity, str] = {"stop": "bold red", "warn": "yellow", "note": "dim"}
_HTTP = ("http://", "https://")
_CHECKED = ("vllm", "llamacpp", "unknown")
"""Kinds of servers that the checks of running servers are made for; `unknown` may be vLLM behind a proxy."""


def print_pitfalls_and_get_exit_code(lineup_or_address: str, log: str, key_env: str, *, as_json: bool) -> int:
    """Return 0 if nothing prevents a start, 1 if something does, 2 if the input is invalid."""
    explained: ServerExplanation | None = None
    try:
        if lineup_or_address.startswith(_HTTP):
            key = os.environ.get(key_env, "")
            explained, findings = asyncio.run(_explain_and_diagnose_server(lineup_or_address, log, key))
        else:
            findings = _diagnose_lineup_with_log_or_running_engines(lineup_or_address, log)
    except BadInput as exc:
        print(f"temper: {exc}", file=sys.stderr)  # noqa: T201
        return BAD_INPUT
    if as_json:
        server = {"server": asdict(explained)} if explained else {}
        found = server | {"findings": [asdict(one) for one in findings]}
        print(json.dumps(found, ensure_ascii=False, indent=2))  # noqa: T201
    else:
        console = Console(highlight=False)
        if explained:
            _print_server_capabilities(explained, console)
        _print_findings(findings, console)
    return WILL_STOP if any(one.severity == "stop" for one in findings) else FINE


def _diagnose_lineup_with_log_or_running_engines(lineup_name: str, log_file: str) -> tuple[Pitfall, ...]:
    if not lineup_name and not log_file:
        raise BadInput("Give a line-up (a shipped one's name, or a path), a server's address, or --log FILE.")
    lineup = read_lineup(require_lineup_path(lineup_name)) if lineup_name else None
    found = _diagnose_lineup_here(lineup) if lineup else ()
    if log_file:
        return sort_by_engine_and_severity([*found, *_diagnose_log_file(Path(log_file), lineup)])
    return sort_by_engine_and_severity([*found, *asyncio.run(_diagnose_running(lineup))]) if lineup else found


def _diagnose_lineup_here(lineup: Lineup) -> tuple[Pitfall, ...]:
    here = inspect_model_files_and_environment(lineup)
    return diagnose_lineup(lineup, replace(here, programs=asyncio.run(_read_foreign_programs_on_idle_gpus(lineup))))


async def _read_foreign_programs_on_idle_gpus(lineup: Lineup) -> dict[int, ProgramsOnGpu]:
    listening = {one.port for one in iterate_listening_sockets_with_inodes()}
    launched = (engine for engine in lineup.engines.values() if engine.launch)
    running = [one.name for one in launched if any(httpx.URL(base).port in listening for base in one.addresses)]
    gpus = NvmlGpus(holders=GpuProcesses(_read_marked_engine))
    try:
        return list_foreign_programs_on_idle_gpus(lineup, await gpus.read(), running)
    finally:
        await gpus.close()


def _read_marked_engine(pid: int) -> str:
    """Return the engine that a Temper started as this process, or an empty string: one that loads does not listen."""
    return next(iter(read_mark(pid).split("/")[1:2]), "")


def _diagnose_log_file(path: Path, lineup: Lineup | None) -> tuple[Pitfall, ...]:
    try:
        return diagnose_log(read_boots(_read_lines(path), str(path)), lineup)
    except OSError as exc:
        raise BadInput(f"cannot read {path} ({exc.strerror}): give a log of vLLM.") from exc


def _read_lines(path: Path) -> Iterator[str]:
    """Yield lines of at most LONGEST characters: the file may have no line breaks."""
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        while line := file.readline(LONGEST):
            yield line


async def _explain_and_diagnose_server(
    url: str, log_path_not_allowed_with_url: str, key: str
) -> tuple[ServerExplanation | None, tuple[Pitfall, ...]]:
    """Return what kind of server it is, and its findings: those of vLLM for vLLM and llama.cpp, which share checks."""
    if log_path_not_allowed_with_url:
        raise BadInput("Give a server's address or --log, not both.")
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL as exc:
        raise BadInput(f"{clean_text(url, 200)!r} is not an address: write it like http://127.0.0.1:8101.") from exc
    if not address.host:
        raise BadInput(f"{clean_text(url, 200)!r} has no host: write it like http://127.0.0.1:8101.")
    base = str(address).rstrip("/").removesuffix("/v1") + "/v1"
    async with httpx.AsyncClient() as http:
        explained = await explain_server_if_models_listed(http, base, key)
        if explained and explained.kind not in _CHECKED:
            return explained, ()
        look = await inspect_server(http, base, key)
    return explained, sort_by_engine_and_severity(diagnose_server(look))


async def _diagnose_running(lineup: Lineup) -> list[Pitfall]:
    """Diagnose all engines with an address. An engine that Temper launches and that is down is no finding."""
    async with httpx.AsyncClient() as http:
        looks = await asyncio.gather(
            *(
                _diagnose_replica(http, engine, number, base)
                for engine in lineup.engines.values()
                for number, base in enumerate(engine.addresses)
            )
        )
    return [finding for look in looks for finding in look]


async def _diagnose_replica(http: httpx.AsyncClient, engine: Engine, number: int, base: str) -> list[Pitfall]:
    metrics = engine.metrics_urls[number] if number < len(engine.metrics_urls) else ""
    look = await inspect_server(http, base.rstrip("/"), read_api_key(engine), metrics)
    if look.health is None and engine.launch:
        return []
    return [replace(one, engine=engine.name) for one in diagnose_server(look, engine)]


def _print_server_capabilities(explanation: ServerExplanation, console: Console) -> None:
    """Print the kind of server, what it gives and lacks, and the settings that would bring what it lacks."""
    console.print(Text(f"{explanation.title} {explanation.version}".strip(), style="bold"))
    console.print(Text(f"  Recognised because {explanation.sign}."), soft_wrap=True)
    if explanation.untried:
        console.print(Text(f"  What it can do is not known: {explanation.untried}"), soft_wrap=True)
    if explanation.gives:
        console.print(Text(f"  Gives: {', '.join(explanation.gives)}."), soft_wrap=True)
    for lack in explanation.lacks:
        console.print(Text.assemble(f"  Lacks {lack.name}.\n", (f"  → {lack.setting}", "dim")), soft_wrap=True)
    for note in explanation.notes:
        console.print(Text(f"  {note}"), soft_wrap=True)


def _print_findings(findings: tuple[Pitfall, ...], console: Console) -> None:
    for engine, group in groupby(findings, key=lambda one: one.engine):
        if engine:
            console.print(Text(clean_text(engine, 60), style="bold"))
        columns = Column(no_wrap=True), Column(no_wrap=True), Column(overflow="fold")
        table = Table(*columns, box=None, show_header=False, padding=(0, 2, 0, 0))
        for one in group:
            words = Text.assemble(clean_text(one.says, 1000), ".\n", ("→ " + clean_text(one.fix, 1000), "dim"))
            table.add_row(Text(one.severity, _STYLES[one.severity]), Text(one.check), words)
        console.print(table)
    console.print(_summarize_findings(findings))


def _summarize_findings(findings: tuple[Pitfall, ...]) -> str:
    if not findings:
        return "No problems found."
    stops, warns, notes = (sum(one.severity == kind for one in findings) for kind in ("stop", "warn", "note"))
    return f"Findings: {stops} prevent the start, {warns} may cause failures, {notes} for information."
