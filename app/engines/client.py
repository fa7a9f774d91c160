"""HTTP client of one vLLM or llama.cpp server. It translates all httpx errors into EngineError."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import httpx
import msgspec

from app.engines.chat_question_and_reply_types import Delta, Finished, Message, Question, ServerDialect
from app.engines.chat_request_and_reply_encoding import (
    EVERYTHING,
    ChatReply,
    build_request_body,
    build_request_headers_without_key,
)
from app.engines.engine_metrics import EngineSample, parse_metrics
from app.engines.error_message import NOT_JSON, extract_error_message
from app.engines.schema_reduction import CAPABILITIES, PLAINEST, Lack
from app.errors import EngineDied, EngineError, EngineRefused, EngineStalled, EngineUnavailable
from app.lineups.model import Engine

log = logging.getLogger(__name__)
T = TypeVar("T")

BODY_LIMIT = 4 * 1024 * 1024
ERROR_LIMIT = 64 * 1024
SILENT = 0
"""Stands for a status: something listens at its address but did not answer in time."""
SHORT = tuple(map(str, range(1000)))
"""Lengths of a health answer that is read, from any sender."""
FIRST_TOKEN_PATIENCE = 60.0
"""Seconds: the first request may still compile kernels."""

_NO_SUCH_ADDRESS = (401, 403, 404, 405)
_BUSY = (408, 425, 429, 502, 503, 504)
SLOW_HEALTH = 0.5
"""Seconds after which a healthy answer is suspected to come from a server that generates a token for it."""
_CONTEXT_WORDS = (
    "maximum context length",
    "max_model_len",
    "exceeds the available context size",
    "longer than the model's context length",
    "max_completion_tokens is too large",
)


@dataclass(frozen=True)
class ServedModel:
    id: str
    max_model_len: int | None = None
    made_by: str = ""
    """Program and version of a server without /version, which is llama.cpp."""
    quantized: str = ""
    """Quantization named by the GGUF file, such as Q4_1."""
    owner: str = ""
    billions: float | None = None
    """Parameters, if the server counts them, which llama.cpp does."""
    root: str = ""
    """What the server loaded under this name: vLLM's path or name of the model."""


class _Meta(msgspec.Struct):
    n_ctx: int | None = None
    n_params: float | None = None
    ftype: str = ""


class _Card(msgspec.Struct):
    id: str
    max_model_len: int | None = None
    owned_by: str = ""
    root: str | None = None
    tags: list[str] = []
    meta: _Meta | None = None

    def to_served_model(self) -> ServedModel:
        if self.owned_by != "llamacpp":
            return ServedModel(self.id, self.max_model_len, owner=self.owned_by, root=self.root or "")
        meta = self.meta or _Meta()
        billions = meta.n_params / 1e9 if meta.n_params else None
        return ServedModel(self.id, meta.n_ctx, next(iter(self.tags), "llama.cpp"), meta.ftype, billions=billions)


class _Slot(msgspec.Struct):
    is_processing: bool = False
    n_prompt_tokens_processed: int = 0
    next_token: list[dict[str, int | bool]] = []

    @property
    def decoded_tokens(self) -> int:
        return sum(int(one.get("n_decoded", 0)) for one in self.next_token)


class _Version(msgspec.Struct):
    version: str


class _ServerInfo(msgspec.Struct):
    model_path: str = ""


class EngineClient:
    """Client of one base URL, which ends in /v1. The caller owns `http` and closes it."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        base_url: str,
        *,
        key: str = "",
        patience: float = 5.0,
        slow_health: float = SLOW_HEALTH,
        name: str = "",
        dialect: ServerDialect = EVERYTHING,
        count_tokens: Callable[[int], None] | None = None,
    ) -> None:
        """Set `patience`: the seconds to connect, and to receive an answer that is not a stream.

        `name` is what errors call the engine; without one they give its address. `count_tokens` gets the number of new
        tokens with each piece of an answer. After `slow_health` seconds a healthy answer counts as slow.
        """
        self._http, self._dialect, self._sum_prompt_and_generated_tokens = http, dialect, count_tokens
        self._patience, self._slow_health = patience, slow_health
        self.base_url = base_url.rstrip("/")
        self._key = {"authorization": f"Bearer {key}"} if key else {}
        self._root = self.base_url.removesuffix("/v1")
        self._name = name or self._root
        self._asks_server_info = False
        """Its health is read from /server_info, since it was healthy and its /health is slow."""
        self._lacks: frozenset[Lack] | None = None
        """Schema features that its grammar lacks; None until it has refused a schema and was tested."""
        self._testing = asyncio.Lock()

    async def stream_reply(self, question: Question, *, stall_after: float) -> AsyncGenerator[Delta | Finished]:
        """Yield the reply as it arrives, Finished last. Use contextlib.aclosing to end the request early."""
        begun = False
        while True:
            known_lacks = self._lacks  # those that this request was made for; another one may find them meanwhile
            try:
                async with aclosing(self._stream_answer(question, stall_after)) as replies:
                    async for reply in replies:
                        begun = True
                        yield reply
            except EngineRefused:
                # A second refusal is final: by then the lacks are known.
                is_final = begun or not question.schema or known_lacks is not None
                if is_final or not await self._probe_refused_features(question):
                    raise
            else:
                return

    async def read_reply(self, question: Question, *, stall_after: float) -> tuple[list[Delta], Finished]:
        """Return the pieces of the reply, and its end."""
        pieces: list[Delta] = []
        async with aclosing(self.stream_reply(question, stall_after=stall_after)) as parts:
            async for part in parts:
                if isinstance(part, Finished):
                    return pieces, part
                pieces.append(part)
        raise AssertionError("a reply ends with Finished or raises")

    async def _probe_refused_features(self, question: Question) -> frozenset[Lack]:
        """Test which schema features the engine refuses, once, after its first refusal, with one token per feature."""
        async with self._testing:  # a second test beside the first would be asked without what the first has found
            if self._lacks is not None:
                return self._lacks
            if await self._refuses_short_question_with_schema(question, PLAINEST):
                return frozenset()  # the schema was not the reason
            lacks = [
                one.lack for one in CAPABILITIES if await self._refuses_short_question_with_schema(question, one.schema)
            ]
            self._lacks = frozenset(lacks)
            return self._lacks

    async def _refuses_short_question_with_schema(self, question: Question, schema: dict[str, Any]) -> bool:
        asked = replace(question, schema=schema, max_tokens=1, messages=(Message("user", "x"),))
        try:
            async with aclosing(self._stream_answer(asked, self._patience)) as replies:
                async for _ in replies:
                    pass
        except EngineRefused:
            return True
        return False

    async def _stream_answer(self, question: Question, stall_after: float) -> AsyncGenerator[Delta | Finished]:
        with self._translate_errors(stall_after):
            reply, counted = ChatReply(time.monotonic(), self._dialect), 0
            request = self._http.stream(
                "POST",
                f"{self.base_url}/chat/completions",
                content=msgspec.json.encode(build_request_body(question, self._lacks or frozenset(), self._dialect)),
                headers=build_request_headers_without_key(question, self._dialect) | self._key,
                timeout=httpx.Timeout(self._patience, read=stall_after),
            )
            async with request as response:
                await self._expect_stream(response)
                async for data in response.aiter_bytes():
                    for delta in reply.feed(data, time.monotonic()):
                        if self._sum_prompt_and_generated_tokens:
                            self._sum_prompt_and_generated_tokens(max(0, delta.tokens - counted))
                            counted = max(counted, delta.tokens)
                        yield delta
                    if reply.ended:
                        break
            yield reply.finish()

    async def read_health_status(self) -> int | None:
        """Return the status of /health, SILENT if something listens but does not answer in time, or None.

        A server without /health is as healthy as its list of models.
        """
        if self._asks_server_info:
            status = await self._read_status_or_silent_if_timed_out(f"{self._root}/server_info", self._key)
            self._asks_server_info = status == httpx.codes.OK
            if status not in _NO_SUCH_ADDRESS:
                return status
        asked = time.monotonic()
        status = await self._read_status_or_silent_if_timed_out(f"{self._root}/health", {})
        if status == httpx.codes.OK and time.monotonic() - asked > self._slow_health and not self._dialect.extensions:
            # SGLang's generates a token and takes a second. Its /server_info waits for the same process, and is quick.
            # It answers before the kernels are compiled, so it counts only for a server that was healthy.
            # vLLM has a /server_info, too, which names no path of a model and still answers when its engine is dead.
            self._asks_server_info = bool(await self.read_sglang_model_path())
        if status in _NO_SUCH_ADDRESS and not self._dialect.extensions:
            return await self._read_status_or_silent_if_timed_out(f"{self.base_url}/models", self._key)
        return status

    async def _read_status_or_silent_if_timed_out(self, url: str, headers: dict[str, str]) -> int | None:
        try:
            async with self._http.stream("GET", url, headers=headers, timeout=self._patience) as answer:
                if answer.headers.get("content-length", "").strip() in SHORT:
                    await answer.aread()  # an unread body closes the connection, and the next request needs a new one
                return answer.status_code
        except (httpx.ReadTimeout, httpx.PoolTimeout):
            return SILENT
        except (httpx.HTTPError, httpx.InvalidURL):
            return None

    async def is_ready(self, model: str | None = None) -> bool:
        """Return True if the engine is healthy and serves `model`, or any model if None."""
        if await self.read_health_status() != httpx.codes.OK:
            return False
        try:
            served = await self.list_models()
        except EngineError:
            return False
        return bool(served) if model is None else model in [card.id for card in served]

    async def can_generate(self, model: str) -> bool:
        """Return True if the engine is healthy, lists the model and generates a token."""
        question = Question(model, (Message("user", "Say yes."),), "", None, "ready", max_tokens=1, temperature=0.0)
        try:
            return await self.is_ready(model) and bool(
                await self.read_reply(question, stall_after=FIRST_TOKEN_PATIENCE)
            )
        except EngineError:
            return False

    async def list_models(self) -> tuple[ServedModel, ...]:
        answer = await self._get_answer_body(f"{self.base_url}/models", self._key)
        try:
            return tuple(card.to_served_model() for card in msgspec.json.decode(answer, type=_Models).data)
        except NOT_JSON as exc:
            raise EngineRefused(
                f"{self.base_url}/models is not a list of models: check that base_url is right."
            ) from exc

    async def read_version(self, path: str = "/version") -> str:
        """Return the version that vLLM has at `path`, or an empty string if the server does not report one."""
        found = await self._read_optional(path, _Version)
        return found.version if found else ""

    async def read_sglang_model_path(self) -> str:
        """Return the path of the model that SGLang loaded, or an empty string if the server does not report one."""
        found = await self._read_optional("/server_info", _ServerInfo)
        return found.model_path if found else ""

    async def read_sample(self, url: str = "") -> EngineSample:
        """Read the metrics from `url`, by default /metrics beside the base URL."""
        sample = parse_metrics((await self._get_answer_body(url or f"{self._root}/metrics")).decode("utf-8", "replace"))
        if url or not (sample.counts_late and sample.running):
            return sample
        # llama.cpp's requests, which no other endpoint reports before they end
        busy = [slot for slot in await self._read_optional("/slots", list[_Slot]) or () if slot.is_processing]
        read = sum(slot.n_prompt_tokens_processed for slot in busy)
        return replace(sample, in_flight=sum(slot.decoded_tokens for slot in busy), reading=read)

    async def _read_optional(self, path: str, shape: type[T]) -> T | None:
        """Return what the server answers at a path that not every server has, or None."""
        try:
            return msgspec.json.decode(await self._get_answer_body(f"{self._root}{path}", self._key), type=shape)
        except (EngineError, *NOT_JSON):
            return None

    async def _get_answer_body(self, url: str, headers: dict[str, str] | None = None) -> bytes:
        with self._translate_errors(self._patience):
            async with asyncio.timeout(self._patience), self._http.stream("GET", url, headers=headers) as response:
                if response.status_code != httpx.codes.OK:
                    raise self._create_error(response.status_code, await _read_body_cut_at_limit(response, ERROR_LIMIT))
                return await _read_body_cut_at_limit(response, BODY_LIMIT)

    async def _expect_stream(self, response: httpx.Response) -> None:
        if response.status_code != httpx.codes.OK:
            raise self._create_error(response.status_code, await _read_body_cut_at_limit(response, ERROR_LIMIT))
        kind = response.headers.get("content-type", "")
        if not kind.startswith("text/event-stream"):
            raise EngineRefused(
                f"{self.base_url} answered {kind or 'nothing'} instead of a stream: is it a vLLM server?"
            )

    def _create_error(self, status: int, answer: bytes) -> EngineError:
        said = extract_error_message(answer) or "no reason given"
        if status in _BUSY:
            return EngineUnavailable(f"{self._name} cannot take a request now ({status}): {said}")
        if status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return EngineDied(f"{self._name} failed ({status}): {said.rstrip('.')}. Look at the engine's log.")
        return EngineRefused(f"{self._name} {_explain_refusal(status, said)}: {said}")

    @contextmanager
    def _translate_errors(self, patience: float) -> Iterator[None]:
        where = self._name
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL) as exc:
            cause = self._format_error_suffix_if_unnamed_else_log(exc)
            raise EngineUnavailable(f"{where} cannot be reached: is the engine running?{cause}") from exc
        except (httpx.ReadTimeout, TimeoutError) as exc:
            raise EngineStalled(f"{where} has sent nothing for {patience:g} s: look at the engine's log.") from exc
        except (httpx.PoolTimeout, httpx.WriteTimeout) as exc:
            raise EngineUnavailable(f"{where} does not take the request: it is overloaded or hangs.") from exc
        except httpx.HTTPError as exc:
            cause = self._format_error_suffix_if_unnamed_else_log(exc)
            raise EngineDied(f"{where} broke its answer off: look at the engine's log.{cause}") from exc

    def _format_error_suffix_if_unnamed_else_log(self, exc: httpx.HTTPError | httpx.InvalidURL) -> str:
        """Return the library's own words for those who test an address; others read them in the server's log."""
        if self._name == self._root:
            return f" ({exc})"
        log.info("%s at %s: %s", self._name, self._root, exc)
        return ""


class _Models(msgspec.Struct):
    data: list[_Card]


def _explain_refusal(status: int, message: str) -> str:
    if any(words in message for words in _CONTEXT_WORDS):
        return "was asked for more than its context length holds, shorten the prompt or the answer"
    if status in (401, 403):
        return f"wants an API key ({status})"
    if status == httpx.codes.NOT_FOUND:
        return "does not serve what was asked for (404), check the model's name and base_url"
    return f"refused the request ({status})"


async def _read_body_cut_at_limit(response: httpx.Response, limit: int) -> bytes:
    """Read at most `limit` bytes, since a hostile server can send any amount."""
    got = bytearray()
    async for data in response.aiter_bytes():
        got += data
        if len(got) >= limit:
            break
    return bytes(got[:limit])


def get_dialect(engine: Engine) -> ServerDialect:
    return ServerDialect(not engine.is_endpoint, engine.structured, engine.schema_form)


def read_api_key(engine: Engine, environment: Mapping[str, str] = os.environ) -> str:
    return environment.get(engine.api_key_env, "") if engine.api_key_env else ""
