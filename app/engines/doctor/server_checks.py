"""Checks of a running server: its health, key, model, version and metrics."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import httpx

from app.engines.client import EngineClient, ServedModel
from app.engines.doctor.launch_situation import format_missing_gemma4_flags
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
    if not (health := await client.read_health()):
        return ServerReport(root)
    version = await client.read_version()
    look = ServerReport(root, health, clean_text(version, 40))
    try:
        look = replace(look, models=await client.list_models())
    except EngineError as exc:
        look = replace(look, refusal=clean_text(str(exc), 300))
    if look.models and health == httpx.codes.OK:
        look = replace(look, calls_tools=await _accepts_tools(http, base, key, look.models[0].id))
    try:
        return replace(look, sample=await client.read_sample(metrics_url))
    except EngineError as exc:
        return replace(look, no_metrics=clean_text(str(exc), 300))


async def _accepts_tools(http: httpx.AsyncClient, base: str, key: str, model: str) -> bool:
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


def diagnose_server(look: ServerReport, engine: Engine | None = None) -> Iterator[Pitfall]:
    """Yield the pitfalls of a server. `engine` is the expected engine; without it, any model is accepted."""
    if look.health is None:
        variant = ".of-lineup" if engine else ""
        yield create_pitfall(f"server.not-answering{variant}", root=look.root, seconds=PATIENCE)
    elif look.health == httpx.codes.SERVICE_UNAVAILABLE or (look.health != httpx.codes.OK and not look.refusal):
        # llama.cpp refuses all requests until it has loaded
        yield create_pitfall("server.not-healthy", root=look.root, status=look.health)
    elif look.refusal:
        check = "wrong-key" if "API key" in look.refusal else "no-models" if look.version else "not-vllm"
        yield create_pitfall(f"server.{check}", root=look.root, refusal=look.refusal)
    else:
        yield from _check_served_model(look, engine)
        if not look.calls_tools:
            flags = format_missing_gemma4_flags(
                has_reasoning_parser=False, has_tool_parser=False, has_auto_choice=False
            )
            yield create_pitfall("server.missing-parsers", root=look.root, flags=flags)
        yield from _check_version(look, engine)
        yield from _check_metrics(look, engine)


def _check_served_model(look: ServerReport, engine: Engine | None) -> Iterator[Pitfall]:
    if not look.models:
        yield create_pitfall("server.model-not-listed.none", root=look.root)
    if engine is None or not look.models:
        return
    served = next((card for card in look.models if card.id == engine.wire_name), None)
    if served is None:
        names = ", ".join(clean_text(card.id, 80) for card in look.models[:5])
        variant, port = (".launched", engine.launch.port) if engine.launch else ("", 0)
        values = {"root": look.root, "names": names, "wanted": engine.wire_name, "port": port}
        yield create_pitfall(f"server.model-not-listed{variant}", **values)
    elif served.max_model_len is not None and served.max_model_len < engine.max_model_len:
        holds, length = served.max_model_len, engine.max_model_len
        yield create_pitfall("server.shorter-than-lineup", root=look.root, holds=holds, length=length)


def _check_version(look: ServerReport, engine: Engine | None) -> Iterator[Pitfall]:
    if any(card.made_by for card in look.models):
        return  # no check depends on llama.cpp's build
    numbers = re.match(r"v?(\d{1,4})\.(\d{1,4})", look.version)
    if numbers is None:
        yield create_pitfall("server.unknown-version", root=look.root)
        return
    version = (int(numbers[1]), int(numbers[2]))
    if not OLDEST <= version <= NEWEST:
        yield create_pitfall("server.unknown-version.other", version=look.version)
    if engine and engine.vllm and not look.version.removeprefix("v").startswith(engine.vllm.removeprefix("v")):
        yield create_pitfall("server.other-version", version=look.version, expected=engine.vllm)
    if version < TELLS_KV:
        yield create_pitfall("server.kv-not-told")


def _check_metrics(look: ServerReport, engine: Engine | None) -> Iterator[Pitfall]:
    sample = look.sample
    if sample is None or sample.missing:
        why = f"{look.root}: {sample.missing}" if sample else look.no_metrics
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
