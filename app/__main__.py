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
from app.cli.people import create_person, create_token
from app.cli.plan import OneModel, show_plan
from app.cli.probe import probe_lineup
from app.cli.serve import serve_until_told
from app.cli.up import print_papers, start_lineup
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
admin = typer.Typer(help="People who may sign in.", no_args_is_help=True)
token = typer.Typer(help="What scripts sign in with.", no_args_is_help=True)
app.add_typer(admin, name="admin")
app.add_typer(token, name="token")
Data = Annotated[Path, typer.Option(help="Folder for the database, the hosts and the logs.")]
LineupName = Annotated[str, typer.Option("--lineup", help="Name in lineups/, or a path to a line-up file.")]
Speed = Annotated[
    float, typer.Option(min=0, help="Pace of simulated engines: 1 is as measured on the GPUs, 0 as fast as it can.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")]
Address = Annotated[str, typer.Option("--host", help="Address to listen on; other than loopback it takes sign-in.")]
SignIn = Annotated[bool, typer.Option("--sign-in", help="Ask who comes, also on loopback: behind a proxy, always.")]
AuditSyslog = Annotated[str, typer.Option(help="HOST:PORT of a syslog that is told the head of the audit chain.")]
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
def serve(
    port: Port = 8000,
    address: Address = "127.0.0.1",
    sign_in: SignIn = False,
    audit_syslog: AuditSyslog = "",
    attach: Annotated[bool, typer.Option("--attach", help="Look at the engines; something else starts them.")] = False,
    speed: Speed = PACE,
    data: Data = Path("data"),
    lineup: LineupName = "simulated",
) -> None:
    """Serve the page and the API, and work on runs as they are asked for."""
    settings = Settings(
        data=data,
        host=address,
        port=port,
        sign_in=sign_in,
        audit_syslog=audit_syslog,
        attach=attach,
        lineup=lineup,
        speed=speed,
    )
    asyncio.run(serve_until_told(settings, start=False))


@app.command()
def up(
    lineup: Annotated[str, typer.Argument(help="Name in lineups/, or a path to a line-up file.")],
    papers: Annotated[str, typer.Option("--print", help="Start nothing: print what does. systemd or compose.")] = "",
    into: Annotated[Path | None, typer.Option(help="With --print: the folder to write it to.")] = None,
    port: Port = 8000,
    address: Address = "127.0.0.1",
    sign_in: SignIn = False,
    data: Data = Path("data"),
) -> None:
    """Start a line-up's engines and the page over them; each cold start is told here step by step."""
    settings = Settings(data=data, host=address, port=port, sign_in=sign_in, lineup=lineup)
    if papers:
        print_papers(settings, papers, into)
    else:
        asyncio.run(start_lineup(settings))


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
def probe(
    lineup: Annotated[str, typer.Argument(help="Name in lineups/, or a path to a line-up file.")],
    engine: Annotated[str, typer.Option(help="One engine of it; all of them when left out.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    speed: Speed = PACE,
    data: Data = Path("data"),
) -> None:
    """Measure a line-up's engines on this machine, beside plan, others' figures and earlier probes."""
    settings = Settings(data=data, lineup=lineup, speed=speed)
    raise typer.Exit(asyncio.run(probe_lineup(settings, engine, as_json=as_json)))


@app.command()
def verify(run_id: RunId, data: Data = Path("data")) -> None:
    """Check a run's chain of hashes and replay its log into the final state."""
    raise typer.Exit(verify_run(Settings(data=data), run_id))


@app.command()
def plan(
    lineup: Annotated[str, typer.Argument(help="Name in lineups/, or a path to a line-up file.")] = "",
    gpu: Annotated[str, typer.Option(help="Plan on other GPUs, like l4:4 or h200:1.")] = "",
    model: Annotated[str, typer.Option(help="Instead of a line-up: a config.json, its folder, or a known name.")] = "",
    precision: Annotated[str, typer.Option(help="bf16, nvfp4, fp8 or awq4.")] = "bf16",
    tp: Annotated[int, typer.Option(min=1, max=1024, help="GPUs that each layer is spread over.")] = 1,
    pp: Annotated[int, typer.Option(min=1, max=1024, help="Stages that the layers are divided into.")] = 1,
    text_only: Annotated[bool, typer.Option("--text-only", help="Without vision and audio towers.")] = False,
    utilization: Annotated[float | None, typer.Option(min=0.01, max=1, help="--gpu-memory-utilization.")] = None,
    max_model_len: Annotated[int | None, typer.Option(min=1, help="All positions of the model when left out.")] = None,
    kv_dtype: Annotated[str, typer.Option(help="auto, bfloat16 or fp8.")] = "auto",
    kv_cache_bytes: Annotated[int | None, typer.Option(min=1, help="--kv-cache-memory-bytes.")] = None,
    vllm: Annotated[str, typer.Option(help="Its version, like 0.25.1; the newest when left out.")] = "",
    max_num_seqs: Annotated[int | None, typer.Option(min=1, help="Requests at a time.")] = None,
    eager: Annotated[bool, typer.Option("--eager", help="Without CUDA graphs.")] = False,
    seeds: Annotated[bool, typer.Option("--seeds", help="The seven configurations tried on four L4.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Plain numbers, each with its provenance.")] = False,
) -> None:
    """Reckon memory and speed before anything is started. Ends with 0 when all fits, 2 when something does not."""
    one = OneModel(
        model=model,
        precision=precision,
        tp=tp,
        pp=pp,
        text_only=text_only,
        utilization=utilization,
        max_model_len=max_model_len,
        kv_dtype=kv_dtype,
        kv_cache_bytes=kv_cache_bytes,
        vllm=vllm,
        max_num_seqs=max_num_seqs,
        eager=eager,
    )
    raise typer.Exit(show_plan(lineup, one if model else None, gpus=gpu, seeds=seeds, as_json=as_json))


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


@admin.command("create")
def create(
    name: Annotated[str, typer.Argument(help="What the person signs in with, and what goes on record.")],
    right: Annotated[str, typer.Option(help="viewer, operator or admin.")] = "admin",
    data: Data = Path("data"),
) -> None:
    """Make a person. The password is asked for, or read as one line from a pipe."""
    create_person(Settings(data=data), name, right)


@token.command("create")
def issue(
    name: Annotated[str, typer.Argument(help="Whose token it is.")],
    right: Annotated[str, typer.Option(help="viewer, operator or admin; never more than the person's.")] = "viewer",
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
    days: Annotated[float, typer.Option(min=0.01, max=366, help="Until it expires.")] = 30,
    data: Data = Path("data"),
) -> None:
    """Print a token for the API: Authorization: Bearer TOKEN. It is shown this once."""
    create_token(Settings(data=data), name, right, label, days)


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
