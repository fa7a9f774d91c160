"""Commands for engines: plan, check and measure them."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import PACE, AsJson, Data, Speed
from app.config import Settings

app = typer.Typer()


@app.command(name="plan")
def plan_engines(
    lineup: Annotated[str, typer.Argument(help="Name of a shipped one, or a path to a line-up file.")] = "",
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
    """Estimate memory and speed before starting engines. Ends with 0 if everything fits, 2 if something does not."""
    from app.cli.plan import SingleModel, print_plan

    one = SingleModel(
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
    raise typer.Exit(print_plan(lineup, one if model else None, gpus=gpu, seeds=seeds, as_json=as_json))


@app.command(name="lineups")
def show_lineups(as_json: AsJson = False) -> None:
    """List the line-ups that come with Temper, for --lineup."""
    from app.cli.catalog import list_lineups

    list_lineups(as_json=as_json)


@app.command(name="doctor")
def run_doctor(
    what: Annotated[
        str, typer.Argument(help="A line-up's name or path, or a server's address, http://HOST:PORT.")
    ] = "",
    log: Annotated[str, typer.Option(help="A log that vLLM wrote; with a line-up, of one of its engines.")] = "",
    key_env: Annotated[str, typer.Option(help="With an address: the environment variable that holds its key.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document: findings.")] = False,
) -> None:
    """Check a line-up for known deployment problems. Ends with 1 if it would not start, 0 if it would, else 2."""
    from app.cli.doctor import print_diagnosis

    raise typer.Exit(print_diagnosis(what, log, key_env, as_json=as_json))


@app.command(name="probe")
def measure_engines(
    lineup: Annotated[str, typer.Argument(help="Name of a shipped one, or a path to a line-up file.")],
    engine: Annotated[str, typer.Option(help="One engine of it; all of them when left out.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    speed: Speed = PACE,
    data: Data = Path("data"),
) -> None:
    """Measure a line-up's engines on this machine and compare them with the plan and earlier probes."""
    import asyncio

    from app.cli.probe import probe_lineup

    settings = Settings(data=data, lineup=lineup, speed=speed)
    raise typer.Exit(asyncio.run(probe_lineup(settings, engine, as_json=as_json)))
