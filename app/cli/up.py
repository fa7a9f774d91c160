"""`temper up`: start a line-up's engines and the web application, and show each cold start step by step."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from app.cli.output import print_line
from app.cli.runtime_opening import load_lineup
from app.cli.serve import serve_until_signal
from app.cli.server_to_lineup import select_endpoints_as_lineup
from app.config import Settings
from app.engines.cold_start_progress import ColdStartStep
from app.engines.doctor.diagnose import diagnose_lineup
from app.engines.doctor.files_and_environment_for_checks import inspect_model_files_and_environment
from app.engines.endpoint_lineup import parse_endpoints
from app.engines.launch.launched_replica import LaunchedReplica, LaunchStatus
from app.engines.launch.unit_files import render_compose_file, render_systemd_units
from app.errors import BadInput
from app.lineups.model import Lineup
from app.runtime.runtime import Runtime
from app.text.clean import clean_text

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
_COLOURS = {"ready": "green", "dead": "bold red", "loading": "yellow", "absent": "dim"}


def start_lineup_and_serve(settings: Settings, *, anyway: bool) -> None:
    """Start the engines and serve. Raise BadInput first if the doctor finds that they cannot start."""
    if not anyway and (blockers := describe_engine_start_blockers(settings)):
        raise BadInput(f"{blockers} (details: `temper doctor {settings.lineup}`; start anyway: --anyway)")
    asyncio.run(serve_until_signal(settings, side_task=follow_cold_starts))


def describe_engine_start_blockers(settings: Settings) -> str:
    """Return what prevents the line-up's engines from starting and the fix, or an empty string."""
    lineup = load_lineup(settings)
    stops = [
        one for one in diagnose_lineup(lineup, inspect_model_files_and_environment(lineup)) if one.severity == "stop"
    ]
    return "; ".join(f"{one.engine or lineup.name}: {one.says}: {one.fix}" for one in stops)


def select_lineup_or_endpoints(settings: Settings, addresses: Sequence[str]) -> Settings:
    """Return the settings for the line-up, or for the servers at `addresses`. Raise BadInput for both or neither."""
    _require_either_lineup_or_addresses(settings, addresses)
    return select_endpoints_as_lineup(replace(settings, lineup=Settings.lineup), addresses) if addresses else settings


def _require_either_lineup_or_addresses(settings: Settings, addresses: Sequence[str]) -> None:
    if settings.lineup and addresses:
        raise BadInput("Give a line-up or --engine, not both.")
    if not settings.lineup and not addresses:
        raise BadInput("Give a line-up (`temper lineups` lists them), or the address of a server with --engine.")


def print_unit_files(
    settings: Settings, file_format: str, into: Path | None, running_engine_addresses: Sequence[str] = ()
) -> None:
    """Write systemd units or a compose file into a folder, or print them. No server is asked."""
    _require_either_lineup_or_addresses(settings, running_engine_addresses)
    lineup = (
        _create_empty_lineup_titled_by_addresses(running_engine_addresses)
        if running_engine_addresses
        else load_lineup(settings)
    )
    if not running_engine_addresses and not any(engine.launch for engine in lineup.engines.values()):
        problem = f"{lineup.name} starts no engine, so there is no configuration to print"
        raise BadInput(f"{problem}: give a line-up with [launch].")
    match file_format:
        case "systemd":
            files = render_systemd_units(lineup, settings.lineup, running_engine_addresses)
        case "compose":
            files = {"compose.yaml": render_compose_file(lineup, settings.lineup, running_engine_addresses)}
        case _:
            raise BadInput(f"{file_format!a} is not a known format: choose systemd or compose.")
    for name, text in files.items():
        if into:
            into.mkdir(parents=True, exist_ok=True)
            (into / name).write_text(text, encoding="utf-8")
            (into / name).chmod(0o644)  # systemd and compose must be able to read them
        else:
            print(text if len(files) == 1 else f"# {name}\n{text}")  # noqa: T201


def _create_empty_lineup_titled_by_addresses(addresses: Sequence[str]) -> Lineup:
    """Return a line-up without engines, for files that start Temper alone. Raise BadInput for a wrong address."""
    where = ", ".join(dict.fromkeys(one.base for one in parse_endpoints(addresses)))
    return Lineup(name="endpoints", title=clean_text(where, 200), note="", gpus=(), engines={}, seats={})


async def follow_cold_starts(runtime: Runtime) -> None:
    console = Console(highlight=False)
    flights = [one for replicas in runtime.launched.values() for one in replicas]
    if runtime.settings.log_format == "json":
        return await _report_new_steps_until_launched(flights, _log_step)
    if not flights:
        return console.print("This line-up starts no engine. Temper observes the engines that run already.")
    if console.is_terminal:
        await _show_launches_live(console, flights)
    else:
        await _report_new_steps_until_launched(
            flights, lambda one, step: print_line(f"{one.name}: {_format_step(step)}")
        )
    lost = [(one.name, look) for one in flights if (look := one.read_status()).state == "dead"]
    for name, look in lost:
        console.print(Text.assemble((name, "bold red"), f": {clean_text(look.detail, 1000)}"), soft_wrap=True)
    return None if lost else console.print(f"{len(flights)} of {len(flights)} engines serve.")


async def _show_launches_live(console: Console, replicas: list[LaunchedReplica]) -> None:
    with Live(console=console, auto_refresh=False) as live:
        while True:
            looks = [one.read_status() for one in replicas]
            live.update(Group(*map(_render_launch, replicas, looks)), refresh=True)
            if _are_launches_over(looks):
                return
            await asyncio.sleep(LOOK_SECONDS)


async def _report_new_steps_until_launched(
    replicas: list[LaunchedReplica], report_step: Callable[[LaunchedReplica, ColdStartStep], None]
) -> None:
    """Report each step once as a line, when the output is not a terminal."""
    reported = dict.fromkeys(range(len(replicas)), 0)
    while True:
        looks = [one.read_status() for one in replicas]
        for n, one in enumerate(replicas):
            for step in one.cold.steps[reported[n] :]:
                report_step(one, step)
            reported[n] = len(one.cold.steps)
        if _are_launches_over(looks):
            return
        await asyncio.sleep(LOOK_SECONDS)


def _log_step(replica: LaunchedReplica, step: ColdStartStep) -> None:
    fields = {"engine": replica.name, "step": step.name, "at_s": round(step.at, 1), "found": step.figure_text or None}
    log.info("engine starts", extra=fields)


def _are_launches_over(looks: list[LaunchStatus]) -> bool:
    return all(look.state in ("ready", "dead") for look in looks)


def _render_launch(replica: LaunchedReplica, look: LaunchStatus) -> Group:
    head = Table.grid(padding=(0, 2))
    for width in (16, 8, 30, None):
        head.add_column(width=width)
    bar = ProgressBar(total=1.0, completed=look.share or 0.0, width=30) if look.share is not None else ""
    eta = f"about {look.eta_s:.0f} s left, based on earlier loads on this machine" if look.eta_s is not None else ""
    head.add_row(Text(replica.name, "bold"), Text(look.state, _COLOURS[look.state]), bar, Text(eta, "dim"))
    steps = [Text(_format_step(step), style="dim") for step in replica.cold.steps]
    if look.state == "loading":
        steps.append(Text(clean_text(look.detail, 100), style="yellow"))
    return Group(head, *(Padding(step, (0, 0, 0, 4)) for step in steps))


def _format_step(step: ColdStartStep) -> str:
    return f"{step.at:6.1f} s  {step.name}{', ' if step.figure_text else ''}{step.figure_text}"
