"""Finds out what a server with OpenAI's API can do: a few questions, each bounded in time and tokens."""

import asyncio
import re
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal, get_args

import httpx
import msgspec

from app.engines.chat_question_and_reply_types import Delta, Finished, Message, Question, ServerDialect
from app.engines.client import EngineClient, ServedModel
from app.engines.error_message import NOT_JSON
from app.engines.model_size_from_name import SMALL_BILLIONS, find_billions_in_path, find_model_billions
from app.errors import EngineError, EngineRefused, EngineStalled
from app.lineups.model import SchemaForm
from app.text.clean import clean_text

TokenCounts = Literal["with each piece", "at the end", "none"]
ThoughtForm = Literal["a field of their own", "none seen"]

PATIENCE = 5.0
ANSWER_SECONDS, LONG_SECONDS = 90.0, 3.0
"""A model that is loaded at its first request may need long; a prompt that is too long is refused at once."""
MOST_TOKENS, LONG_WORDS = 400, 40_000
AT_ONCE = 3
ASSUMED_CONTEXT, LONG_CONTEXT = 8192, 32_768
"""Tokens, if the server does not say; and if it did not refuse LONG_WORDS."""
WORD = "temper"
_PLAIN = "Reply with the single word hello."
_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": [WORD]}},
    "required": ["word"],
    "additionalProperties": False,
}
ONE_BY_ONE = "roles wait for each other"
_ASSUMED = "assumed: the server does not say"
_CONTEXT = re.compile(r"context\s*(?:window|length|size)?[^0-9]{0,40}([0-9]{3,7})", re.IGNORECASE)
_OWNERS = {"llamacpp": "llama.cpp", "library": "Ollama", "sglang": "SGLang", "vllm": "vLLM", "me": "llama-cpp-python"}
"""What servers name as the owner of their models."""


@dataclass(frozen=True)
class EndpointReport:
    """What a server was seen to do."""

    base: str
    models: tuple[ServedModel, ...]
    model: str
    program: str = ""
    context: int = ASSUMED_CONTEXT
    context_source: str = _ASSUMED
    structured: bool = False
    structured_detail: str = ""
    schema_form: SchemaForm = "json_schema"
    several: bool = True
    """It answers several requests at once, instead of breaking off all but the last."""
    counts: TokenCounts = "none"
    thoughts: ThoughtForm = "none seen"
    metrics: bool = False
    first_token_s: float | None = None
    tok_s: float | None = None
    stated_billions: float | None = None
    """Size of the model, if the server says it."""
    stated_where: str = ""

    @property
    def billions(self) -> float | None:
        """Return the size of the model, as the server says it or as its name does; None if neither does."""
        return find_model_billions(self.model) if self.stated_billions is None else self.stated_billions

    @property
    def dialect(self) -> ServerDialect:
        return ServerDialect(extensions=False, structured=self.structured, schema_form=self.schema_form)

    @property
    def is_context_known(self) -> bool:
        """Return True if the context is known, and not assumed for want of an answer."""
        return self.context_source != _ASSUMED

    def _describe_parameter_count_and_source(self) -> tuple[str, str]:
        if self.billions is None:
            return "unknown", f"set guided = true in a copy of the line-up if it is below {SMALL_BILLIONS:g} billion"
        amount = f"{self.billions:.3g} billion" if self.billions >= 1 else f"{self.billions * 1000:.0f} million"
        return f"{amount} parameters", self.stated_where or "the model's name says so"

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Return what was asked about, what was found, and what Temper does without it."""
        without = "answers are asked for by an example, read leniently, and asked for again with what was wrong"
        unbound = f"{self.structured_detail}; {without}" if self.structured_detail else without
        own = "rates are Temper's own count, labelled derived; GPU figures only where NVML can read them"
        return [
            ("program", self.program or "unknown", ""),
            ("model", self.model, "" if len(self.models) < 2 else f"one of {len(self.models)}; choose with URL#MODEL"),
            ("size", *self._describe_parameter_count_and_source()),
            ("context", f"{self.context:,} tokens", self.context_source),
            ("answers bound to a JSON Schema", _format_yes_or_no(self.structured), "" if self.structured else unbound),
            (f"{AT_ONCE} requests at once", _format_yes_or_no(self.several), "" if self.several else ONE_BY_ONE),
            ("thoughts", self.thoughts, "" if self.thoughts != "none seen" else "a short question brought none"),
            ("token counts", self.counts, "pieces are counted as tokens" if self.counts == "none" else ""),
            ("metrics", _format_yes_or_no(self.metrics), "" if self.metrics else own),
        ]


def _format_yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


class _OllamaDetails(msgspec.Struct):
    parameter_size: str = ""


class _OllamaModel(msgspec.Struct):
    name: str
    details: _OllamaDetails = msgspec.field(default_factory=_OllamaDetails)


class _OllamaModels(msgspec.Struct):
    models: list[_OllamaModel]


def append_v1_unless_present(url: str) -> str:
    """Return the base URL of an address: with /v1 and without a slash behind it."""
    return url.rstrip("/").removesuffix("/v1") + "/v1"


async def inspect_endpoint(http: httpx.AsyncClient, base: str, key: str = "", model: str = "") -> EndpointReport:
    """Ask the server what it serves and can do. Raise EngineError if it serves nothing that answers."""
    client = EngineClient(http, base, key=key, patience=PATIENCE, dialect=ServerDialect(extensions=False))
    models = await client.list_models()
    chosen = _choose_wanted_or_first_model(base, models, model)
    pieces, end = await _ask_question(client, chosen.id, _PLAIN, None)
    report = EndpointReport(
        base=base,
        models=models,
        model=chosen.id,
        program=await _identify_program(http, client, base, models),
        thoughts="a field of their own" if any(one.channel == "thought" for one in pieces) else "none seen",
        counts=_classify_token_counts(pieces, end),
        first_token_s=end.ttft,
        tok_s=end.decode_rate,
        metrics=await _has_metrics(client),
    )
    form, detail = await _find_schema_form_and_detail(http, base, key, chosen.id)
    context, source = await _find_or_assume_context_and_source(client, chosen)
    if form:
        report = replace(report, structured=True, schema_form=form)
    several = await _can_answer_all_concurrent_questions(client, chosen.id)
    size, where = await _find_billions_beyond_served_name_and_source(http, client, base, chosen, report.program)
    report = replace(report, stated_billions=size, stated_where=where)
    return replace(report, structured_detail=detail, several=several, context=context, context_source=source)


def _choose_wanted_or_first_model(base: str, models: tuple[ServedModel, ...], wanted: str) -> ServedModel:
    if not models:
        raise EngineRefused(f"{base} serves no model: load one there first.")
    if not wanted:
        return models[0]
    names = [one.id for one in models]
    # Ollama lists NAME:latest and takes NAME.
    for name in (wanted, f"{wanted}:latest"):
        if name in names:
            return models[names.index(name)]
    have = clean_text(", ".join(names[:8]), 300)
    raise EngineRefused(f"{base} does not serve {clean_text(wanted, 80)!r}. It serves: {have}.")


async def _ask_question(
    client: EngineClient, model: str, text: str, schema: dict[str, object] | None, most: int = MOST_TOKENS
) -> tuple[list[Delta], Finished]:
    question = Question(model, (Message("user", text),), "probe", schema, "probe", max_tokens=most, temperature=0.0)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await client.read_reply(question, stall_after=60.0)
    except TimeoutError as exc:
        raise EngineStalled(
            f"{client.base_url} did not end a short answer in {ANSWER_SECONDS:.0f} s: its machine is busy or too slow. "
            "Try again when it is idle, or serve a smaller model."
        ) from exc


def _classify_token_counts(pieces: list[Delta], end: Finished) -> TokenCounts:
    if end.prompt_tokens == 0:
        return "none"
    return "with each piece" if any(one.is_counted for one in pieces) else "at the end"


async def _find_schema_form_and_detail(
    http: httpx.AsyncClient, base: str, key: str, model: str
) -> tuple[SchemaForm | None, str]:
    """Return the form in which a schema binds an answer; if none does, None with what happened to the first."""
    details = []
    for form in get_args(SchemaForm):
        dialect = ServerDialect(extensions=False, schema_form=form)
        client = EngineClient(http, base, key=key, patience=PATIENCE, dialect=dialect)
        bound, detail = await _try_schema_and_explain(client, model)
        if bound:
            return form, ""
        details.append(detail)
    return None, details[0]


async def _try_schema_and_explain(client: EngineClient, model: str) -> tuple[bool, str]:
    """Return whether an answer is bound to a schema: a question is asked whose natural answer does not fit it."""
    try:
        pieces, _ = await _ask_question(client, model, "Reply with the single word hello and nothing else.", _SCHEMA)
    except EngineRefused as exc:
        return False, clean_text(f"refused: {exc}", 300)
    except EngineError as exc:
        # vLLM fails like this without the package of its grammar backend. Ask again: is the schema alone at fault?
        await _ask_question(client, model, _PLAIN, None)
        return False, clean_text(f"failed: {exc}", 300)
    text = "".join(one.text for one in pieces if one.channel == "answer")
    try:
        bound = msgspec.json.decode(text.strip().encode()) == {"word": WORD}
    except NOT_JSON:
        bound = False
    return bound, "" if bound else "response_format was accepted and ignored"


async def _can_answer_all_concurrent_questions(client: EngineClient, model: str) -> bool:
    asked = (_ask_question(client, model, f"Say the number {number}.", None, 16) for number in range(AT_ONCE))
    replies = await asyncio.gather(*asked, return_exceptions=True)
    failures = [one for one in replies if isinstance(one, BaseException)]
    if unexpected := next((one for one in failures if not isinstance(one, EngineError)), None):
        raise unexpected
    if failures:
        await _ask_question(client, model, _PLAIN, None)  # raises if the server did not stand it
        return False
    return True


async def _has_metrics(client: EngineClient) -> bool:
    try:
        return (await client.read_sample()).generation_tokens is not None
    except EngineError:
        return False


async def _identify_program(
    http: httpx.AsyncClient, client: EngineClient, base: str, models: tuple[ServedModel, ...]
) -> str:
    if made_by := next((one.made_by for one in models if one.made_by), ""):
        return clean_text(f"llama.cpp {made_by}".replace("llama.cpp llama.cpp", "llama.cpp"), 60)
    owner = next((name for one in models if (name := _OWNERS.get(one.owner.casefold()))), "")
    version = await client.read_version("/server_info" if owner == "SGLang" else "/version")
    if not version and (version := await _read_ollama_version(http, base)):
        owner = "Ollama"
    if version and not owner:
        owner = "vLLM"
    return clean_text(f"{owner} {version}".strip(), 60)


async def _read_ollama_version(http: httpx.AsyncClient, base: str) -> str:
    try:
        answer = await http.get(f"{base.removesuffix('/v1')}/api/version", timeout=PATIENCE)
        found = answer.json()["version"] if answer.status_code == httpx.codes.OK else ""
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return ""
    return found if isinstance(found, str) else ""


async def _find_billions_beyond_served_name_and_source(
    http: httpx.AsyncClient, client: EngineClient, base: str, model: ServedModel, program: str
) -> tuple[float | None, str]:
    """Return the size of the model in billions and who says so; None if nothing but the served name can."""
    if model.billions:
        return model.billions, "the server's list of models says so"
    if program.startswith("Ollama") and (size := await _find_ollama_parameter_billions(http, base, model.id)):
        return size, "the server's list of its models says so"
    if find_model_billions(model.id) is not None:
        return None, ""
    path = await client.read_sglang_model_path() if program.startswith("SGLang") else model.root
    size = find_billions_in_path(path)
    return size, "" if size is None else "the name of the model that the server loaded says so"


async def _find_ollama_parameter_billions(http: httpx.AsyncClient, base: str, model: str) -> float | None:
    """Return what Ollama's own list of models says, such as 3.2B or 134.52M."""
    try:
        answer = await http.get(f"{base.removesuffix('/v1')}/api/tags", timeout=PATIENCE)
        found = msgspec.json.decode(answer.content, type=_OllamaModels).models
    except (httpx.HTTPError, *NOT_JSON):
        return None
    return next((find_model_billions(one.details.parameter_size) for one in found if one.name == model), None)


async def _find_or_assume_context_and_source(client: EngineClient, model: ServedModel) -> tuple[int, str]:
    """Return the context in tokens and where it is known from.

    A server that does not say names it when it refuses a prompt that is far too long, which it does before it reads it.
    """
    if model.max_model_len:
        return model.max_model_len, "the server's list of models says so"
    messages = (Message("user", "a " * LONG_WORDS),)
    question = Question(model.id, messages, "", None, "probe", max_tokens=1, temperature=0.0)
    try:
        async with asyncio.timeout(LONG_SECONDS), aclosing(client.stream_reply(question, stall_after=60.0)) as parts:
            async for _ in parts:
                break
    except TimeoutError:
        return ASSUMED_CONTEXT, _ASSUMED
    except EngineError as exc:
        if found := _CONTEXT.search(str(exc)):
            return int(found[1]), "the server's refusal of a prompt that is too long"
        return ASSUMED_CONTEXT, _ASSUMED
    return LONG_CONTEXT, f"it took {LONG_WORDS:,} words; more is not used"
