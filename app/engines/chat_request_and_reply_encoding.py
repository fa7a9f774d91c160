"""Chat completion protocol of vLLM and llama.cpp, without I/O: build requests and parse streamed replies."""

import re
import uuid
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from app.engines.chat_question_and_reply_types import Delta, Finished, Question, ServerDialect
from app.engines.engine_metrics import SHORTEST
from app.engines.error_message import NOT_JSON, format_error_message
from app.engines.schema_reduction import Lack, to_bindable_schema
from app.errors import EngineDied, EngineError, EngineRefused
from app.events.event_field_types import Channel

BURST = 32
"""Most tokens in one read; no speculation yields as many."""
LINE_LIMIT = 4 * 1024 * 1024
_NAMES = "channel|turn|think|tool|tool_call|tool_response|image|audio|video"
_CONTROL = re.compile(rf'<\|(?:{_NAMES})>|<(?:{_NAMES})\|>|<\|"\|>|<(?:bos|eos|pad)>|<(?:start|end)_of_turn>')
_LONGEST = len("<tool_response|>")
EVERYTHING = ServerDialect()
_COMMON = ("top_p", "seed")
"""Sampling fields that every server takes."""
_THINK, _THINK_END = "<think>", "</think>"
# The channel's name remains if the engine strips the control tokens around it.
_CHANNEL_NAME = "thought\n"


def build_request_body(
    question: Question, lacks: frozenset[Lack] = frozenset(), dialect: ServerDialect = EVERYTHING
) -> dict[str, Any]:
    asked: dict[str, Any] = {
        **(question.extra if dialect.extensions else {k: v for k, v in question.extra.items() if k in _COMMON}),
        "model": question.model,
        # A host's file names may contain bytes that are not text; engines refuse lone surrogates.
        "messages": [{"role": m.role, "content": _replace_surrogates(m.content)} for m in question.messages],
        "max_tokens": question.max_tokens,
        "temperature": question.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if dialect.extensions:
        asked["stream_options"] |= {"continuous_usage_stats": True}
        # llama.cpp sends counts in every chunk only with this option; vLLM ignores unknown options.
        asked["timings_per_token"] = True
    if question.schema is not None and dialect.structured:
        schema = to_bindable_schema(question.schema, lacks)
        shape = {"schema": schema}
        if dialect.schema_form == "json_schema":
            shape = {"json_schema": {"name": question.schema_name, "schema": schema}}
        asked["response_format"] = {"type": dialect.schema_form, **shape}
    return asked


def build_request_headers_without_key(question: Question, dialect: ServerDialect = EVERYTHING) -> dict[str, str]:
    """Return the headers. vLLM logs our id as it is; other servers refuse an id that is no UUID."""
    name = question.request_id
    told = {
        "X-Request-Id": name if dialect.extensions else str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
        "Accept-Encoding": "identity",
    }
    return told | ({"traceparent": question.traceparent} if question.traceparent else {})


def _replace_surrogates(text: str) -> str:
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
    cache_n: int = 0
    prompt_n: int = 0
    predicted_n: int = 0

    def to_usage(self) -> _Usage:
        return _Usage(self.cache_n + self.prompt_n, self.predicted_n)


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    timings: _Timings | None = None
    error: Any = None


_decoder = msgspec.json.Decoder(_Chunk)


def _create_stream_error(error: Any) -> EngineError:
    """Return the exception for an error inside the stream. An unsupported grammar is reported there, after a 200."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and 400 <= code < 500:
        return EngineRefused(f"The engine refused the request ({code}): {format_error_message(error)}")
    return EngineDied(f"The engine failed in the middle of its answer: {format_error_message(error)}")


class ChatReply:
    """Parser of one streamed answer. Times are seconds of the caller's clock; the request was sent at `started`."""

    def __init__(self, started: float, dialect: ServerDialect = EVERYTHING) -> None:
        self.ended = False
        self._counts_each = dialect.extensions
        self._started = started
        self._lines = SseDataParser()
        self._leak = LeakDetector()
        self._failure: EngineError | None = None
        self._finish_reason: str | None = None
        self._prompt_tokens = 0
        self._tokens = 0
        self._first_at: float | None = None
        self._first_tokens: int | None = None
        self._last_at = started
        self._arrivals = 0
        """Number of reads in which the token count grew."""
        self._pieces = 0
        """Pieces of text: the count of tokens until the server gives one."""
        self._reads = 0
        """Number of reads that brought a piece."""
        self._last_piece_at = started
        self._tags = ThinkTagSplitter()

    def feed(self, data: bytes, at: float) -> list[Delta]:
        """Parse `data` and return its pieces. An error is kept for finish(), so that earlier pieces are not lost."""
        deltas: list[Delta] = []
        try:
            for line in self._lines.feed(data):
                if self.ended:
                    break
                deltas += self._read_event_data(line, at)
        except EngineError as exc:
            self._failure = exc
            self.ended = True
        return deltas

    def finish(self) -> Finished:
        """Return the end of the reply, once `ended` is true or the stream is closed. Raise EngineError if it failed."""
        if self._failure:
            raise self._failure
        if self._finish_reason is None:
            raise EngineDied("The engine ended the stream before its answer was complete: look at the engine's log.")
        return Finished(
            finish_reason=self._finish_reason,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._tokens or self._pieces,
            ttft=None if self._first_at is None else self._first_at - self._started,
            decode_rate=self._compute_decode_rate(),
            leaked=self._leak.has_control_tokens_or_empty,
        )

    def _read_event_data(self, data: bytes, at: float) -> list[Delta]:
        if data == b"[DONE]":
            self.ended = True
            return []
        try:
            chunk = _decoder.decode(data)
        except NOT_JSON as exc:
            raise EngineDied("The engine sent a chunk that is not vLLM's JSON: check that base_url is right.") from exc
        if chunk.error is not None:
            raise _create_stream_error(chunk.error)
        self._update_counts(chunk.usage or (chunk.timings.to_usage() if chunk.timings else None), at)
        return [delta for choice in chunk.choices for delta in self._read_choice(choice, at)]

    def _update_counts(self, usage: _Usage | None, at: float) -> None:
        if usage is None:
            return
        self._prompt_tokens = usage.prompt_tokens or self._prompt_tokens
        if (tokens := usage.completion_tokens or 0) > self._tokens:
            self._arrivals += at != self._last_at
            self._tokens, self._last_at = tokens, at
            if self._first_at is None:  # tokens without text appear in the count first
                self._first_at, self._first_tokens = at, tokens

    def _read_choice(self, choice: _Choice, at: float) -> list[Delta]:
        self._finish_reason = choice.finish_reason or self._finish_reason
        if self._finish_reason in ("abort", "error"):
            raise EngineDied(f"The engine gave the answer up (finish_reason {self._finish_reason}): look at its log.")
        delta = choice.delta
        pieces: list[tuple[Channel, str | None]] = [
            ("thought", delta.reasoning if delta.reasoning is not None else delta.reasoning_content),
            *self._tags.split_text(delta.content or "", last=choice.finish_reason is not None),
        ]
        return [self._count_piece_and_create_delta(channel, text, at) for channel, text in pieces if text]

    def _count_piece_and_create_delta(self, channel: Channel, text: str, at: float) -> Delta:
        if self._first_at is None:
            self._first_at = at
        self._leak.add_text(channel, text)
        self._pieces += 1
        self._reads += at != self._last_piece_at
        self._last_piece_at = at
        return Delta(channel, text, self._tokens or self._pieces, is_counted=self._tokens > 0)

    def _compute_decode_rate(self) -> float | None:
        """Return tokens per second, or None if unknown.

        It is unknown if a starved server sent the answer in bursts, which measures the network, and if a server that
        counts in every piece did not do so in the first, since chunks are not tokens. Another server is measured by the
        times of its pieces, the first of which is taken for one token; each is if the server never counts."""
        if self._first_at is None or (self._first_tokens is None and self._counts_each):
            return None
        if self._first_tokens is None:
            tokens = (self._tokens or self._pieces) - 1
            seconds, arrivals = self._last_piece_at - self._first_at, self._reads
        else:
            tokens, seconds = self._tokens - self._first_tokens, self._last_at - self._first_at
            arrivals = self._arrivals
        if tokens > BURST * arrivals or seconds < SHORTEST:
            return None
        return tokens / seconds if tokens > 0 else None


class SseDataParser:
    """Parser of server-sent events. It splits at \\n only: an engine's JSON contains U+2028 and U+0085 unescaped."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        *ends, rest = data.split(b"\n")
        for piece in ends:
            self._append_piece(piece)
            line = b"".join(self._pieces)
            self._pieces, self._size = [], 0
            if line.startswith(b"data:"):
                yield line[5:].strip()
        self._append_piece(rest)

    def _append_piece(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > LINE_LIMIT:
            raise EngineDied(
                f"The engine sent a line of more than {LINE_LIMIT >> 20} MB, which no answer needs: "
                "check that base_url is a vLLM server."
            )
        self._pieces.append(piece)


class ThinkTagSplitter:
    """Splits an answer that opens with a thought between <think> and </think>, as servers without a parser send it."""

    def __init__(self) -> None:
        self._held = ""
        self._state: Literal["opening", "thought", "answer"] = "opening"

    def split_text(self, text: str, *, last: bool) -> list[tuple[Channel, str | None]]:
        """Return the text by channel. What may be the beginning of a tag is held back until it is known, or `last`."""
        self._held += text
        found: list[tuple[Channel, str | None]] = []
        if self._state == "opening":
            opening = self._held.lstrip()
            if opening.startswith(_THINK):
                self._state, self._held = "thought", opening.removeprefix(_THINK)
            elif last or not _THINK.startswith(opening):
                self._state = "answer"
        if self._state == "thought":
            thought, tag, rest = self._held.partition(_THINK_END)
            if tag:
                self._state, self._held = "answer", rest.lstrip()
            else:
                kept = 0 if last else _count_tag_beginning(thought, _THINK_END)
                thought, self._held = thought[: len(thought) - kept], thought[len(thought) - kept :]
            found.append(("thought", thought))
        if self._state == "answer":
            found.append(("answer", self._held))
            self._held = ""
        return found


def _count_tag_beginning(text: str, tag: str) -> int:
    """Return how many characters at the end of the text may be the beginning of the tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)


class LeakDetector:
    """Detect Gemma 4's faults in a reply: control tokens in the text, or an empty answer."""

    def __init__(self) -> None:
        self._control = False
        self._tails: dict[Channel, str] = {"thought": "", "answer": ""}
        self._opening = ""
        """First characters of the answer, without leading whitespace."""

    def add_text(self, channel: Channel, text: str) -> None:
        seen = self._tails[channel] + text
        self._control = self._control or _CONTROL.search(seen) is not None
        self._tails[channel] = seen[-_LONGEST:]
        if channel == "answer" and len(self._opening) < len(_CHANNEL_NAME):
            self._opening = (self._opening + text).lstrip()[: len(_CHANNEL_NAME)]

    @property
    def has_control_tokens_or_empty(self) -> bool:
        return self._control or self._opening in ("", _CHANNEL_NAME)
