"""Checks of a running server: its health, key, model, version and metrics."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import httpx

from app.engines.client import EngineClient, ServedModel
from app.engines.doctor.launch_situation import GEMMA4_PARSER_FLAGS
from app.engines.doctor.pitfall import Pitfall, create_pitfall
from app.engines.engine_metrics import EngineSample
from app.errors import EngineError
from app.lineups.model import Engine
from app.text.clean import clean_text

PATIENCE = 3.0
ERROR_LIMIT = 4096
OLDEST, NEWEST = (0, 19), (0, 33)
TELLS_KV = (0, 24)
FULL, LOW_ACCEPTANCE = 0.9, 0.45


@dataclass(frozen=True)
class ServerReport:
    """Answers of a server. `health` is None if nothing answers."""

    root: str
    health: int | None = None
    version: str = ""
    models: tuple[ServedModel, ...] = ()
    refusal: str = ""
    """Why /v1/models returned no list."""
    sample: EngineSample | None = None
    no_metrics: str = ""
    calls_tools: bool = True
    """It accepts a request that offers a tool."""


async def inspect_server(http: httpx.AsyncClient, base: str, key: str = "", metrics_url: str = "") -> ServerReport:
    """Query a server once and return its answers. `base` ends in /v1."""
    client = EngineClient(http, base, key=key, patience=PATIENCE)
    root = base.removesuffix("/v1")
    if not (health := await client.read_health_status()):
        return ServerReport(root)
    version = await client.read_version()
    look = ServerReport(root, health, clean_text(version, 40))
    try:
        look = replace(look, models=await client.list_models())
    except EngineError as exc:
        look = replace(look, refusal=clean_text(str(exc), 300))
    if look.models and health == httpx.codes.OK:
        look = replace(look, calls_tools=await _is_tool_parser_not_reported_missing(http, base, key, look.models[0].id))
    try:
        return replace(look, sample=await client.read_sample(metrics_url))
    except EngineError as exc:
        return replace(look, no_metrics=clean_text(str(exc), 300))


async def _is_tool_parser_not_reported_missing(http: httpx.AsyncClient, base: str, key: str, model: str) -> bool:
    """Return False if the server lacks a tool call parser, which it reports before it generates."""
    tool = {"type": "function", "function": {"name": "stop", "parameters": {"type": "object", "properties": {}}}}
    said = [{"role": "user", "content": "Say yes."}]
    question = {"model": model, "messages": said, "max_tokens": 1, "tools": [tool], "tool_choice": "auto"}
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        async with http.stream(
            "POST", f"{base}/chat/completions", json=question, headers=headers, timeout=PATIENCE
        ) as answer:
            start = await anext(answer.aiter_bytes(ERROR_LIMIT), b"")
            return answer.status_code != httpx.codes.BAD_REQUEST or b"tool-call-parser" not in start
    except httpx.HTTPError:
        return True


def diagnose_server(report: ServerReport, engine: Engine | None = None) -> Iterator[Pitfall]:
    """Yield the pitfalls of a server. `engine` is the expected engine; without it, any model is accepted."""
    if report.health is None:
        variant = ".of-lineup" if engine else ""
        yield create_pitfall(f"server.not-answering{variant}", root=report.root, seconds=PATIENCE)
    elif report.health == httpx.codes.SERVICE_UNAVAILABLE or (report.health != httpx.codes.OK and not report.refusal):
        # llama.cpp refuses all requests until it has loaded
        yield create_pitfall("server.not-healthy", root=report.root, status=report.health)
    elif report.refusal:
        check = "wrong-key" if "API key" in report.refusal else "no-models" if report.version else "not-vllm"
        yield create_pitfall(f"server.{check}", root=report.root, refusal=report.refusal)
    else:
        yield from _check_served_model(report, engine)
        if not report.calls_tools:
            yield create_pitfall("server.missing-parsers", root=report.root, flags=" ".join(GEMMA4_PARSER_FLAGS))
        yield from _check_version(report, engine)
        yield from _check_metric_values(report, engine)


def _check_served_model(report: ServerReport, engine: Engine | None) -> Iterator[Pitfall]:
    if not report.models:
        yield create_pitfall("server.model-not-listed.none", root=report.root)
    if engine is None or not report.models:
        return
    served = next((card for card in report.models if card.id == engine.wire_name), None)
    if served is None:
        names = ", ".join(clean_text(card.id, 80) for card in report.models[:5])
        variant, port = (".launched", engine.launch.port) if engine.launch else ("", 0)
        values = {"root": report.root, "names": names, "wanted": engine.wire_name, "port": port}
        yield create_pitfall(f"server.model-not-listed{variant}", **values)
    elif served.max_model_len is not None and served.max_model_len < engine.max_model_len:
        holds, length = served.max_model_len, engine.max_model_len
        yield create_pitfall("server.shorter-than-lineup", root=report.root, holds=holds, length=length)


def _check_version(report: ServerReport, engine: Engine | None) -> Iterator[Pitfall]:
    if any(card.made_by for card in report.models):
        return  # no check depends on llama.cpp's build
    numbers = re.match(r"v?(\d{1,4})\.(\d{1,4})", report.version)
    if numbers is None:
        yield create_pitfall("server.unknown-version", root=report.root)
        return
    version = (int(numbers[1]), int(numbers[2]))
    if not OLDEST <= version <= NEWEST:
        yield create_pitfall("server.unknown-version.other", version=report.version)
    expected = re.escape(engine.vllm.removeprefix("v")) if engine else ""
    if engine and expected and not re.match(rf"{expected}(?!\d)", report.version.removeprefix("v")):
        yield create_pitfall("server.other-version", version=report.version, expected=engine.vllm)
    if version < TELLS_KV:
        yield create_pitfall("server.kv-not-told")


def _check_metric_values(report: ServerReport, engine: Engine | None) -> Iterator[Pitfall]:
    sample = report.sample
    if sample is None or sample.missing:
        why = f"{report.root}: {sample.missing}" if sample else report.no_metrics
        yield create_pitfall("server.metrics-missing", why=why.rstrip("."))
        return
    if sample.kv_used is not None and sample.kv_used > FULL:
        yield create_pitfall("server.kv-nearly-full", share=sample.kv_used)
    if sample.preemptions:
        yield create_pitfall("server.preemptions", count=sample.preemptions)
    if engine and engine.speculation and sample.drafts is None:
        yield create_pitfall("server.no-drafts")
    if sample.draft_tokens and (share := (sample.accepted_tokens or 0) / sample.draft_tokens) < LOW_ACCEPTANCE:
        yield create_pitfall("server.acceptance-on-random-tokens", share=share, drafted=sample.draft_tokens)
