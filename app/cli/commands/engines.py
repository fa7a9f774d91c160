"""Commands for engines: plan, check and measure them."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import PACE, AsJson, Data, Speed
from app.config import Settings

app = typer.Typer()


@app.command(name="plan")
def plan_engines(
    lineup: Annotated[str, typer.Argument(help="Name of a shipped line-up, or path to a line-up file.")] = "",
    gpu: Annotated[str, typer.Option(help="Plan for other GPUs, such as l4:4 or h200:1.")] = "",
    model: Annotated[
        str, typer.Option(help="Plan for this model instead of a line-up: a config.json, its folder, or a known name.")
    ] = "",
    precision: Annotated[str, typer.Option(help="Precision: bf16, nvfp4, fp8 or awq4.")] = "bf16",
    tp: Annotated[int, typer.Option(min=1, max=1024, help="Tensor parallelism: GPUs that share each layer.")] = 1,
    pp: Annotated[
        int, typer.Option(min=1, max=1024, help="Pipeline parallelism: stages that the layers are divided into.")
    ] = 1,
    text_only: Annotated[bool, typer.Option("--text-only", help="Do not load the vision and audio towers.")] = False,
    utilization: Annotated[float | None, typer.Option(min=0.01, max=1, help="--gpu-memory-utilization.")] = None,
    max_model_len: Annotated[
        int | None, typer.Option(min=1, help="Maximum context in tokens. Default: the model's maximum.")
    ] = None,
    kv_dtype: Annotated[str, typer.Option(help="Type of the KV cache: auto, bfloat16 or fp8.")] = "auto",
    kv_cache_bytes: Annotated[int | None, typer.Option(min=1, help="--kv-cache-memory-bytes.")] = None,
    vllm: Annotated[str, typer.Option(help="Version of vLLM, such as 0.25.1. Default: the newest known version.")] = "",
    max_num_seqs: Annotated[int | None, typer.Option(min=1, help="Maximum concurrent requests.")] = None,
    eager: Annotated[bool, typer.Option("--eager", help="Do not use CUDA graphs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: each number with its provenance.")] = False,
) -> None:
    """Estimate memory and speed before starting engines. Exits with 0 if everything fits, 2 if something does not."""
    from app.cli.engine_plan import SingleModel, print_plan_and_get_exit_code

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
    raise typer.Exit(print_plan_and_get_exit_code(lineup, one if model else None, gpus=gpu, as_json=as_json))


@app.command(name="lineups")
def show_lineups(as_json: AsJson = False) -> None:
    """List the line-ups that come with Temper."""
    from app.cli.skill_and_lineup_lists import list_lineups

    list_lineups(as_json=as_json)


@app.command(name="doctor")
def run_doctor(
    what: Annotated[
        str, typer.Argument(help="Name or path of a line-up, or address of a server: http://HOST:PORT.")
    ] = "",
    log: Annotated[str, typer.Option(help="A log of vLLM; with a line-up, the log of one of its engines.")] = "",
    key_env: Annotated[str, typer.Option(help="With an address: environment variable that holds the API key.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON document.")] = False,
) -> None:
    """Check a line-up for known deployment problems. Exits with 1 if it would not start, 0 if it would, else 2."""
    from app.cli.engine_doctor import print_pitfalls_and_get_exit_code

    raise typer.Exit(print_pitfalls_and_get_exit_code(what, log, key_env, as_json=as_json))


@app.command(name="probe")
def measure_engines(
    lineup: Annotated[
        str, typer.Argument(help="Name of a shipped line-up, path to a line-up file, or address of a server.")
    ],
    engine: Annotated[str, typer.Option(help="One engine of the line-up. Default: all.")] = "",
    conformance: Annotated[
        bool, typer.Option("--conformance", help="With an address: also check what Temper needs of the server.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    speed: Speed = PACE,
    data: Data = Path("data"),
) -> None:
    """Measure engines, or ask a server what it can do. Compares engines with the plan and earlier probes."""
    import asyncio

    from app.cli.engine_measurement import probe_lineup

    if "://" in lineup:
        from app.cli.server_to_lineup import print_endpoint_capabilities

        raise typer.Exit(print_endpoint_capabilities(lineup, conformance=conformance, as_json=as_json))
    settings = Settings(data=data, lineup=lineup, speed=speed)
    raise typer.Exit(asyncio.run(probe_lineup(settings, engine, as_json=as_json)))
