"""Chat completions as vLLM and llama.cpp speak them, without I/O: a question to its request, bytes to a reply."""

from typing import Any

import msgspec

from app.engines.complaint import NOT_JSON, message_of
from app.engines.grammar import Lack, bindable
from app.engines.leak import LeakWatch
from app.engines.metrics import SHORTEST
from app.engines.reply import Delta, Finished, Question
from app.engines.sse import DataLines
from app.errors import EngineDied, EngineError, EngineRefused
from app.events.words import Channel

BURST = 32
"""Tokens in one read: more than any speculation gives."""


def body(question: Question, lacks: frozenset[Lack] = frozenset()) -> dict[str, Any]:
    asked: dict[str, Any] = {
        **question.extra,
        "model": question.model,
        # A host's file names may hold bytes that are not text; no engine takes lone surrogates.
        "messages": [{"role": m.role, "content": _encodable(m.content)} for m in question.messages],
        "max_tokens": question.max_tokens,
        "temperature": question.temperature,
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        # llama.cpp counts in every chunk only when asked this way; vLLM ignores what it does not know.
        "timings_per_token": True,
    }
    if question.schema is not None:
        shape = {"name": question.schema_name, "schema": bindable(question.schema, lacks)}
        asked["response_format"] = {"type": "json_schema", "json_schema": shape}
    return asked


def headers(question: Question) -> dict[str, str]:
    told = {
        "X-Request-Id": question.request_id,
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
        "Accept-Encoding": "identity",
    }
    return told | ({"traceparent": question.traceparent} if question.traceparent else {})


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta = msgspec.field(default_factory=_Delta)
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Timings(msgspec.Struct):
    """llama.cpp's."""

    cache_n: int = 0
    prompt_n: int = 0
    predicted_n: int = 0

    def usage(self) -> _Usage:
        return _Usage(self.cache_n + self.prompt_n, self.predicted_n)


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    timings: _Timings | None = None
    error: Any = None


_decoder = msgspec.json.Decoder(_Chunk)


def _failure(error: Any) -> EngineError:
    """A grammar that cannot be made is told inside the stream, after a 200: its code says whose fault it is."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and 400 <= code < 500:
        return EngineRefused(f"The engine refused the request ({code}): {message_of(error)}")
    return EngineDied(f"The engine failed in the middle of its answer: {message_of(error)}")


class ChatReply:
    """One streamed answer. Times are the caller's clock, in seconds; `started` is when the request left."""

    def __init__(self, started: float) -> None:
        self.ended = False
        self._started = started
        self._lines = DataLines()
        self._leak = LeakWatch()
        self._failure: EngineError | None = None
        self._finish_reason: str | None = None
        self._prompt_tokens = 0
        self._tokens = 0
        self._first_at: float | None = None
        self._first_tokens: int | None = None
        self._last_at = started
        self._arrivals = 0
        """Moments at which the count of tokens grew."""

    def feed(self, data: bytes, at: float) -> list[Delta]:
        """A failure in `data` is kept for finish(), so that the pieces before it are not lost."""
        deltas: list[Delta] = []
        try:
            for line in self._lines.feed(data):
                if self.ended:
                    break
                deltas += self._line(line, at)
        except EngineError as exc:
            self._failure = exc
            self.ended = True
        return deltas

    def finish(self) -> Finished:
        """The reply's end: call it when `ended` is true or the engine has closed the stream."""
        if self._failure:
            raise self._failure
        if self._finish_reason is None:
            raise EngineDied("The engine ended the stream before its answer was complete: look at the engine's log.")
        return Finished(
            finish_reason=self._finish_reason,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._tokens,
            ttft=None if self._first_at is None else self._first_at - self._started,
            decode_rate=self._decode_rate(),
            leaked=self._leak.found,
        )

    def _line(self, line: bytes, at: float) -> list[Delta]:
        if line == b"[DONE]":
            self.ended = True
            return []
        try:
            chunk = _decoder.decode(line)
        except NOT_JSON as exc:
            raise EngineDied("The engine sent a chunk that is not vLLM's JSON: check that base_url is right.") from exc
        if chunk.error is not None:
            raise _failure(chunk.error)
        self._count(chunk.usage or (chunk.timings.usage() if chunk.timings else None), at)
        return [delta for choice in chunk.choices for delta in self._choice(choice, at)]

    def _count(self, usage: _Usage | None, at: float) -> None:
        if usage is None:
            return
        self._prompt_tokens = usage.prompt_tokens or self._prompt_tokens
        if (tokens := usage.completion_tokens or 0) > self._tokens:
            self._arrivals += at != self._last_at
            self._tokens, self._last_at = tokens, at
            if self._first_at is None:  # some tokens have no text: the count knows of them first
                self._first_at, self._first_tokens = at, tokens

    def _choice(self, choice: _Choice, at: float) -> list[Delta]:
        self._finish_reason = choice.finish_reason or self._finish_reason
        if self._finish_reason in ("abort", "error"):
            raise EngineDied(f"The engine gave the answer up (finish_reason {self._finish_reason}): look at its log.")
        delta = choice.delta
        pieces: list[tuple[Channel, str | None]] = [
            ("thought", delta.reasoning if delta.reasoning is not None else delta.reasoning_content),
            ("answer", delta.content),
        ]
        return [self._piece(channel, text, at) for channel, text in pieces if text]

    def _piece(self, channel: Channel, text: str, at: float) -> Delta:
        if self._first_at is None:
            self._first_at = at
        self._leak.see(channel, text)
        return Delta(channel, text, self._tokens)

    def _decode_rate(self) -> float | None:
        """Unknown where a starved server handed the answer over in lumps: that is the network's rate, not its own.

        Unknown without a count at the first piece: chunks are not tokens, so they cannot stand in."""
        if self._first_at is None or self._first_tokens is None:
            return None
        tokens, seconds = self._tokens - self._first_tokens, self._last_at - self._first_at
        if tokens > BURST * self._arrivals or seconds < SHORTEST:
            return None
        return tokens / seconds if tokens > 0 else None
