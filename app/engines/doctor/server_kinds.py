"""Recognise the kind of a server with OpenAI's API, and say which of its settings would make it better for Temper."""

import asyncio
import ipaddress
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import httpx
import msgspec

from app.engines.client import EngineClient, ServedModel
from app.engines.error_message import NOT_JSON
from app.engines.server_capabilities import EndpointReport, inspect_endpoint
from app.errors import EngineError
from app.text.clean import clean_text

Ability = Literal["structured", "thoughts", "counts", "context", "metrics"]
ABILITIES: tuple[Ability, ...] = get_args(Ability)
LABELS: dict[Ability, str] = {
    "structured": "answers bound to a JSON Schema",
    "thoughts": "thoughts in a field of their own",
    "counts": "token counts",
    "context": "a stated context",
    "metrics": "metrics",
}
PATIENCE = 3.0
INSPECT_SECONDS = 60.0
MOST_BYTES = 65_536
_SGLANG_PATHS = ("/model_info", "/get_model_info")
"""The second is deprecated; old versions have no other."""
_OWNERS = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llamacpp", "me": "llama_cpp_python"}


class ServerKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of server_kinds.toml."""

    title: str
    sign: str
    notes: tuple[str, ...]
    settings: dict[Ability, str]


@dataclass(frozen=True)
class MissingAbility:
    name: str
    setting: str
    """Flag or setting of this server that brings it, or what Temper does without."""


@dataclass(frozen=True)
class ServerExplanation:
    kind: str
    title: str
    version: str
    sign: str
    gives: tuple[str, ...]
    lacks: tuple[MissingAbility, ...]
    notes: tuple[str, ...]
    untried: str = ""
    """Why it was not asked what it can do."""


@cache
def load_server_kinds() -> dict[str, ServerKind]:
    content = Path(__file__).with_name("server_kinds.toml").read_bytes()
    return msgspec.toml.decode(content, type=dict[str, ServerKind])


async def explain_server_if_models_listed(
    http: httpx.AsyncClient, base: str, key: str = ""
) -> ServerExplanation | None:
    """Recognise the server and ask what it can do. Return None if it lists no models. `base` ends in /v1."""
    client = EngineClient(http, base, key=key, patience=PATIENCE)
    try:
        models = await client.list_models()
    except EngineError:
        return None
    name, version = await recognize_kind_or_unknown_and_version(http, base, models)
    try:
        async with asyncio.timeout(INSPECT_SECONDS):
            report = await inspect_endpoint(http, base, key)
    except (EngineError, TimeoutError) as exc:
        why = clean_text(str(exc), 300) or f"it did not answer all questions in {INSPECT_SECONDS:.0f} s"
        return build_server_ability_explanation(name, version, None, why)
    return build_server_ability_explanation(name, version, report)


async def recognize_kind_or_unknown_and_version(
    http: httpx.AsyncClient, base: str, models: tuple[ServedModel, ...]
) -> tuple[str, str]:
    """Return the kind's name and the version, both by what the server answers; no key is sent."""
    if made_by := next((one.made_by for one in models if one.made_by), ""):
        return "llamacpp", clean_text(made_by.removeprefix("llama.cpp").strip(), 40)
    root = base.removesuffix("/v1")
    paths = ("/version", "/api/version", "/api/v0/models", "/info", "/health/readiness", *_SGLANG_PATHS, "/server_info")
    answers = dict(zip(paths, await asyncio.gather(*(_read_json(http, root + path) for path in paths)), strict=True))
    owner = next((_OWNERS[one.owner.casefold()] for one in models if one.owner.casefold() in _OWNERS), "")
    for name, version in _iterate_recognized_kinds(answers):
        if name == (owner or name) or name in ("ollama", "lmstudio", "tgi", "litellm"):
            return name, clean_text(version, 40)
    return owner or ("hosted" if _is_public_https_address(base) else "unknown"), ""


def _iterate_recognized_kinds(answers: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the kinds of which an answer is a sign, the surest first."""
    if version := _get_first_text(answers["/health/readiness"], "litellm_version"):
        yield "litellm", version
    if version := _get_first_text(answers["/api/version"], "version"):
        yield "ollama", version
    info = answers["/info"]
    if _get_first_text(info, "model_id") and _get_first_text(info, "router"):
        yield "tgi", _get_first_text(info, "version")
    cards = answers["/api/v0/models"]
    if isinstance(cards, dict) and isinstance(cards.get("data"), list):
        yield "lmstudio", ""
    if any(_get_first_text(answers[path], "model_path") for path in _SGLANG_PATHS):
        yield "sglang", _get_first_text(answers["/server_info"], "version")
    if version := _get_first_text(answers["/version"], "version"):
        yield "vllm", version


def _get_first_text(answer: Any, *names: str) -> str:
    """Return the first text under one of the names, or an empty string."""
    found = (answer.get(name) for name in names) if isinstance(answer, dict) else ()
    return next((one for one in found if isinstance(one, str) and one), "")


async def _read_json(http: httpx.AsyncClient, url: str) -> Any:
    with suppress(httpx.HTTPError, httpx.InvalidURL, TimeoutError, *NOT_JSON):
        async with asyncio.timeout(PATIENCE), http.stream("GET", url, timeout=PATIENCE) as answer:
            if answer.status_code != httpx.codes.OK:
                return None
            body = b""
            async for piece in answer.aiter_bytes():
                if len(body := body + piece) > MOST_BYTES:
                    return None
            return msgspec.json.decode(body)
    return None


def _is_public_https_address(base: str) -> bool:
    url = httpx.URL(base)
    try:
        return url.scheme == "https" and ipaddress.ip_address(url.host).is_global
    except ValueError:
        return url.scheme == "https" and "." in url.host and not url.host.endswith((".local", ".internal", ".lan"))


def build_server_ability_explanation(
    kind: str, version: str, report: EndpointReport | None, untried_reason: str = ""
) -> ServerExplanation:
    """Return what a server of this kind gives and lacks. Without a report only the notes of its kind are known."""
    row = load_server_kinds()[kind]
    has = _judge_abilities(report) if report else {}
    return ServerExplanation(
        kind=kind,
        title=row.title,
        version=version,
        sign=row.sign,
        gives=tuple(LABELS[name] for name in ABILITIES if has.get(name)),
        lacks=tuple(MissingAbility(LABELS[name], row.settings[name]) for name in ABILITIES if has.get(name) is False),
        notes=row.notes,
        untried=untried_reason,
    )


def _judge_abilities(report: EndpointReport) -> dict[Ability, bool]:
    return {
        "structured": report.structured,
        "thoughts": report.thoughts != "none seen",
        "counts": report.counts != "none",
        "context": report.is_context_known,
        "metrics": report.metrics,
    }
