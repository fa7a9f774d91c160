"""Checks of a running server: its health, key, model, version and metrics."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import httpx

from app.engines.client import EngineClient, ServedModel
from app.engines.doctor.pitfall import Diagnosis
from app.engines.engine_metrics import EngineSample
from app.errors import EngineError
from app.lineups.model import Engine
from app.text.clean import clean_text

PATIENCE = 3.0
ERROR_LIMIT = 4096
OLDEST, NEWEST = (0, 19), (0, 33)
TELLS_KV = (0, 24)
FULL, LOW_ACCEPTANCE = 0.9, 0.45

NamedDiagnosis = tuple[str, Diagnosis]


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
    if (health := await _read_health(http, root)) is None:
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


async def _read_health(http: httpx.AsyncClient, root: str) -> int | None:
    try:
        async with http.stream("GET", f"{root}/health", timeout=PATIENCE) as answer:
            return answer.status_code
    except (httpx.HTTPError, httpx.InvalidURL):
        return None


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


def diagnose_server(look: ServerReport, engine: Engine | None = None) -> Iterator[NamedDiagnosis]:
    """Yield diagnoses of a server. `engine` is the expected engine; without it, any model is accepted."""
    if look.health is None:
        yield "not-answering", _diagnose_silence(look, engine)
    elif look.health == httpx.codes.SERVICE_UNAVAILABLE:
        yield _diagnose_unhealthy(look)  # llama.cpp refuses all requests until it has loaded
    elif look.refusal:
        yield _diagnose_refusal(look)
    elif look.health != httpx.codes.OK:
        yield _diagnose_unhealthy(look)
    else:
        yield from _check_served_model(look, engine)
        yield from _check_parsers(look)
        yield from _check_version(look, engine)
        yield from _check_metrics(look, engine)


def _diagnose_silence(look: ServerReport, engine: Engine | None) -> Diagnosis:
    says = f"nothing answers at {look.root} within {PATIENCE:g} s"
    if engine is None:
        return Diagnosis("stop", says, "start the server, or correct the address")
    return Diagnosis("note", f"{says}: only the line-up itself was looked at", "start it, then run the doctor again")


def _diagnose_unhealthy(look: ServerReport) -> NamedDiagnosis:
    says = f"{look.root}/health says {look.health}: it is loading or has died"
    return "not-healthy", Diagnosis("stop", says, "read its log; restart the server if it has died")


def _diagnose_refusal(look: ServerReport) -> NamedDiagnosis:
    if "API key" in look.refusal:
        fix = "put the right key into the environment variable that api_key_env (or --key-env) names"
        return "wrong-key", Diagnosis("stop", look.refusal, fix)
    if look.version:
        return "no-models", Diagnosis("stop", look.refusal, "read the server's log")
    fix = "give the address of a vLLM or llama.cpp server; another program listens there"
    return "not-vllm", Diagnosis("stop", f"{look.root} is neither vLLM nor llama.cpp: {look.refusal}", fix)


def _check_served_model(look: ServerReport, engine: Engine | None) -> Iterator[NamedDiagnosis]:
    names = [clean_text(card.id, 80) for card in look.models]
    if not names:
        yield "model-not-listed", Diagnosis("stop", f"{look.root} lists no model", "read the server's log")
    if engine is None or not names:
        return
    if engine.wire_name not in [card.id for card in look.models]:
        says = f"{look.root} serves {', '.join(names[:5])}, not {engine.wire_name}"
        fix = "correct served_name or base_urls"
        if engine.launch:
            fix = f"another server has port {engine.launch.port} or one beside it: end it, or choose another port"
        yield "model-not-listed", Diagnosis("stop", says, fix)
        return
    holds = next(card.max_model_len for card in look.models if card.id == engine.wire_name)
    if holds is not None and holds < engine.max_model_len:
        says = f"{look.root} holds {holds:,} tokens, the line-up says {engine.max_model_len:,}: long turns are refused"
        yield "shorter-than-lineup", Diagnosis("warn", says, f"set max_model_len = {holds}, or start it with more")


def _check_parsers(look: ServerReport) -> Iterator[NamedDiagnosis]:
    if look.calls_tools:
        return
    says = f"{look.root} was started without a parser for calls of tools: they are refused"
    fix = "for Gemma 4 add --reasoning-parser gemma4 --tool-call-parser gemma4 --enable-auto-tool-choice"
    yield "missing-parsers", Diagnosis("warn", says, fix)


def _check_version(look: ServerReport, engine: Engine | None) -> Iterator[NamedDiagnosis]:
    if any(card.made_by for card in look.models):
        return  # no check depends on llama.cpp's build
    numbers = re.match(r"v?(\d{1,4})\.(\d{1,4})", look.version)
    if numbers is None:
        says = f"{look.root} does not tell a version of vLLM: it speaks the wire, and may be something else"
        yield "unknown-version", Diagnosis("note", says, "look at what runs there; a router in front is no fault")
        return
    version = (int(numbers[1]), int(numbers[2]))
    if not OLDEST <= version <= NEWEST:
        says = f"this Temper does not know vLLM {look.version} (it knows 0.19 to 0.33)"
        yield "unknown-version", Diagnosis("warn", says, "its metrics and fatal log lines may differ")
    if engine and engine.vllm and not look.version.removeprefix("v").startswith(engine.vllm.removeprefix("v")):
        says = f"vLLM {look.version} runs, the line-up says {engine.vllm}: plan uses the rules of another version"
        yield "other-version", Diagnosis("note", says, f'set vllm = "{look.version}"')
    if version < TELLS_KV:
        says = "vLLM before 0.24 does not report what the KV cache holds"
        says += "; blocks x block size is wrong where layers slide, as Gemma 4's do"
        yield "kv-not-told", Diagnosis("note", says, 'go by the line "GPU KV cache size" of its log, or by temper plan')


def _check_metrics(look: ServerReport, engine: Engine | None) -> Iterator[NamedDiagnosis]:
    sample = look.sample
    if sample is None or sample.missing:
        says = f"{look.root}: {sample.missing}" if sample else look.no_metrics
        fix = "without metrics the page shows no KV cache, and cannot tell a stalled engine from a slow one"
        yield "metrics-missing", Diagnosis("warn", says, fix)
        return
    if sample.kv_used is not None and sample.kv_used > FULL:
        says = f"{sample.kv_used:.0%} of the KV cache are in use: the next requests wait or push others out"
        yield "kv-nearly-full", Diagnosis("warn", says, "fewer requests at a time, shorter ones, or a larger pool")
    if sample.preemptions:
        says = f"{sample.preemptions:,} requests were pushed out of a KV cache that is too small, and begun again"
        yield "preemptions", Diagnosis("note", says, "lower max_num_seqs, or give the KV cache more")
    yield from _check_drafts(sample, engine)


def _check_drafts(sample: EngineSample, engine: Engine | None) -> Iterator[NamedDiagnosis]:
    if engine and engine.speculation and sample.drafts is None:
        says = "the line-up has a drafter, and the server reports none: it was started without speculation"
        yield (
            "no-drafts",
            Diagnosis("warn", says, "add --speculative-config, or take the speculation out of the line-up"),
        )
    if sample.draft_tokens and (share := (sample.accepted_tokens or 0) / sample.draft_tokens) < LOW_ACCEPTANCE:
        says = f"{share:.0%} of {sample.draft_tokens:,} drafted tokens were accepted, as few as with random tokens"
        fix = "ignore this if a benchmark with random tokens ran: temper probe measures with real text"
        yield "acceptance-on-random-tokens", Diagnosis("note", says, fix)
