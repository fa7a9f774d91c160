"""`temper plan`: estimate memory and speed of a line-up or a model, as a table or JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.engines.fit.estimate_result import Estimate, Fit, dump_fit
from app.engines.fit.gpu_kinds import parse_gpu_kind_colon_count
from app.engines.fit.lineup_estimate import plan_lineup
from app.engines.fit.model_shape_loader import load_model_shape
from app.errors import BadInput
from app.lineups.model import Engine, Lineup, Precision
from app.lineups.reader import read_lineup, require_lineup_path
from app.text.clean import clean_text

FITS, DOES_NOT_FIT = 0, 2


@dataclass(frozen=True)
class SingleModel:
    """An engine described by command-line options instead of a line-up."""

    model: str
    precision: str
    tp: int = 1
    pp: int = 1
    text_only: bool = False
    utilization: float | None = None
    max_model_len: int | None = None
    kv_dtype: str = "auto"
    kv_cache_bytes: int | None = None
    vllm: str = ""
    max_num_seqs: int | None = None
    eager: bool = False


def print_plan_and_get_exit_code(lineup: str, single_model: SingleModel | None, *, gpus: str, as_json: bool) -> int:
    """Return 0 if everything fits, 2 if something does not."""
    if bool(lineup) == (single_model is not None):
        raise BadInput("Give either a line-up (a shipped one's name, or a path) or --model with --gpu.")
    if single_model:
        fits = plan_lineup(_create_lineup_of_one_engine_without_roles(single_model, gpus))
    else:
        fits = plan_lineup(_replace_gpus(read_lineup(require_lineup_path(lineup)), gpus))
    if as_json:
        print(json.dumps({"engines": [dump_fit(fit) for fit in fits]}, ensure_ascii=False, indent=2))  # noqa: T201
    else:
        _print_engines(Console(highlight=False), fits)
    return FITS if all(fit.fits for fit in fits) else DOES_NOT_FIT


def _replace_gpus(lineup: Lineup, gpus: str) -> Lineup:
    if not gpus:
        return lineup
    indices = tuple(sorted({index for engine in lineup.engines.values() for index in engine.gpus}))
    return replace(lineup, gpus=parse_gpu_kind_colon_count(gpus, indices))


def _create_lineup_of_one_engine_without_roles(single_model: SingleModel, gpus: str) -> Lineup:
    if not gpus:
        raise BadInput("A plan for a model needs GPUs: add --gpu, such as --gpu h200:1.")
    engine = _create_engine(single_model)
    return Lineup(
        engine.name, engine.title, "", parse_gpu_kind_colon_count(gpus, engine.gpus), {engine.name: engine}, {}
    )


def _create_engine(wanted: SingleModel) -> Engine:
    if wanted.precision not in get_args(Precision):
        raise BadInput(f"{wanted.precision!r} is not a precision: choose one of {', '.join(get_args(Precision))}.")
    own: dict[str, Any] = {
        "name": Path(wanted.model).name,
        "title": wanted.model,
        "gpus": tuple(range(wanted.tp * wanted.pp)),
        "max_model_len": wanted.max_model_len or load_model_shape(wanted.model).positions,
    }
    return Engine(**asdict(wanted) | own)


def _print_engines(console: Console, fits: tuple[Fit, ...]) -> None:
    table = Table("per GPU", title="Before anything is started", title_justify="left", box=None)
    for fit in fits:
        table.add_column(clean_text(fit.name, 40), justify="right", overflow="fold")
    for what, cells in _iterate_figure_rows(fits):  # one row for each figure, so that three engines fit in 80 columns
        table.add_row(what, *cells)
    console.print(table)
    for fit in fits:
        console.print(Text.assemble((clean_text(fit.name, 40), "bold"), f": {clean_text(fit.says, 1000)}"))
        for what, one in (("weights", fit.weights_gib_per_gpu), ("KV pool", fit.kv_pool_gib_per_gpu)):
            _print_source(console, what, one)
        for what, one in (("KV tokens", fit.kv_tokens), ("other", fit.other_gib_per_gpu), ("limit", fit.limit_tok_s)):
            _print_source(console, what, one)
        if fit.limit_with_speculation_tok_s.value is not None:
            _print_source(console, "with drafts", fit.limit_with_speculation_tok_s)


def _iterate_figure_rows(fits: tuple[Fit, ...]) -> Iterator[tuple[str, list[Text | str]]]:
    yield "fits", [Text("yes", "green") if fit.fits else Text("no", "bold red") for fit in fits]
    yield "weights, GiB", [_format_value_or_dash(fit.weights_gib_per_gpu, 1) for fit in fits]
    yield "KV pool, GiB", [_format_value_or_dash(fit.kv_pool_gib_per_gpu, 1) for fit in fits]
    yield "other, GiB", [_format_value_or_dash(fit.other_gib_per_gpu, 1) for fit in fits]
    yield "KV tokens", [_format_value_or_dash(fit.kv_tokens, 0) for fit in fits]
    yield "requests at a time", [_format_value_or_dash(fit.max_concurrency, 1) for fit in fits]
    yield "longest context", [_format_value_or_dash(fit.largest_context, 0) for fit in fits]
    yield "limit, tok/s", [_format_value_or_dash(fit.limit_tok_s, 1) for fit in fits]
    if any(fit.limit_with_speculation_tok_s.value is not None for fit in fits):
        yield "with drafts, tok/s", [_format_value_or_dash(fit.limit_with_speculation_tok_s, 1) for fit in fits]


def _print_source(console: Console, label: str, estimate: Estimate) -> None:
    text = Text(f"{label}: {estimate.provenance}; {clean_text(estimate.source, 1000)}", style="dim")
    console.print(Padding(text, (0, 0, 0, 4)))


def _format_value_or_dash(estimate: Estimate, decimals: int) -> str:
    return "—" if estimate.value is None else f"{estimate.value:,.{decimals}f}"
