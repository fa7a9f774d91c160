"""The command line. Each command reads its settings, does one thing, and ends with a code that says how it went."""

import asyncio
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Annotated

import typer

from app.cli.ask_run import ask_run
from app.cli.harden import Order, harden
from app.cli.serve import serve_until_told
from app.cli.verify import verify_run
from app.config import Settings
from app.errors import TemperError
from app.events.words import Budget

COULD_NOT_RUN = 1
PACE = Settings().speed

app = typer.Typer(
    name="temper",
    help="Four AI roles harden a Linux host, in plain sight.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
Data = Annotated[Path, typer.Option(help="Folder for the database, the hosts and the logs.")]
LineupName = Annotated[str, typer.Option("--lineup", help="Name in lineups/, or a path to a line-up file.")]
Speed = Annotated[
    float, typer.Option(min=0, help="Pace of simulated engines: 1 is as measured on the GPUs, 0 as fast as it can.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1.")]
RunId = Annotated[str, typer.Argument(help="The run, or the first characters of its id.")]
Reason = Annotated[str, typer.Option(help="Why; it goes into the log.")]


@app.command()
def demo(
    port: Port = 8000,
    speed: Speed = PACE,
    data: Data = Path("data"),
    lineup: LineupName = "simulated",
    no_run: Annotated[bool, typer.Option("--no-run", help="Serve the page and start nothing.")] = False,
) -> None:
    """Serve the page and start a run on the built-in host, or go on with the one that was cut off."""
    settings = Settings(data=data, port=port, lineup=lineup, speed=speed)
    asyncio.run(serve_until_told(settings, start=not no_run))


@app.command()
def serve(port: Port = 8000, speed: Speed = PACE, data: Data = Path("data"), lineup: LineupName = "simulated") -> None:
    """Serve the page and the API, and work on runs as they are asked for."""
    settings = Settings(data=data, port=port, lineup=lineup, speed=speed)
    asyncio.run(serve_until_told(settings, start=False))


@app.command()
def run(
    host: Annotated[str, typer.Option(help="The host to harden.")] = "fixture",
    rules: Annotated[str, typer.Option(help="Comma-separated rule ids; all of the pack when left out.")] = "",
    mode: Annotated[str, typer.Option(help="auto, review or dry-run.")] = "auto",
    speed: Speed = PACE,
    data: Data = Path("data"),
    lineup: LineupName = "simulated",
    as_json: Annotated[bool, typer.Option("--json", help="The events as JSON lines.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Start from the host as it stands.")] = False,
    attempts: Annotated[int, typer.Option(min=1, max=50, help="Attempts per item.")] = Budget().attempts,
    item_minutes: Annotated[float, typer.Option(min=0.01, help="Minutes per item.")] = Budget().item_seconds / 60,
    note: Annotated[str, typer.Option(help="A line of yours that goes into the log.")] = "",
) -> None:
    """Harden a host and follow it here. Ends with 0 when all passed, 2 when some did not, 1 when it could not run."""
    settings = Settings(data=data, lineup=lineup, speed=speed)
    budget = Budget(attempts=attempts, item_seconds=item_minutes * 60)
    order = Order(host=host, rules=rules, mode=mode, keep=keep, budget=budget, note=note)
    raise typer.Exit(asyncio.run(harden(settings, order, as_json=as_json)))


@app.command()
def verify(run_id: RunId, data: Data = Path("data")) -> None:
    """Check a run's chain of hashes and replay its log into the final state."""
    raise typer.Exit(verify_run(Settings(data=data), run_id))


@app.command()
def pause(run_id: RunId, data: Data = Path("data"), reason: Reason = "") -> None:
    """Pause a run after the turn in progress."""
    ask_run(Settings(data=data), run_id, "pause", reason)


@app.command()
def resume(run_id: RunId, data: Data = Path("data"), reason: Reason = "") -> None:
    """Go on with a paused run."""
    ask_run(Settings(data=data), run_id, "resume", reason)


@app.command()
def stop(run_id: RunId, data: Data = Path("data"), reason: Reason = "") -> None:
    """Stop a run: the turn ends at once, a change in progress is undone."""
    ask_run(Settings(data=data), run_id, "stop", reason)


@app.command()
def approve(run_id: RunId, data: Data = Path("data"), reason: Reason = "") -> None:
    """Approve the change that a run waits with."""
    ask_run(Settings(data=data), run_id, "approve", reason)


@app.command()
def refuse(run_id: RunId, reason: Reason, data: Data = Path("data")) -> None:
    """Refuse the change that a run waits with, and say why."""
    ask_run(Settings(data=data), run_id, "refuse", reason)


def main() -> None:
    try:
        app()
    except TemperError as exc:
        print(f"temper: {exc}", file=sys.stderr)  # noqa: T201
        sys.exit(COULD_NOT_RUN)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as exc:  # noqa: BLE001  a fault of ours: a sentence for the person, the traceback for a report
        kept = Path(tempfile.gettempdir()) / f"temper-fault-{os.getpid()}.txt"
        kept.write_text(traceback.format_exc())
        print(f"temper: a fault of its own ({type(exc).__name__}); please report it with {kept}", file=sys.stderr)  # noqa: T201
        sys.exit(COULD_NOT_RUN)


if __name__ == "__main__":
    main()
