"""Create a simulated reply: its tokens by channel and its finish reason."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Literal

import msgspec
from msgspec import Struct

from app.engines.simulator import schema_fitter
from app.engines.simulator.answer_composition import ROLES, compose_answer
from app.engines.simulator.answer_script import AnswerScript
from app.engines.simulator.faults import SimulatedFault, spoil_reply
from app.engines.simulator.prompt_parser import read_prompt

_TOKEN = re.compile(r"\s?\w{1,6}|\s?[^\w\s]{1,2}|\s+")
_TEMPLATE_TOKENS = 4
"""Tokens that a chat template adds to each message."""


def split_into_tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def estimate_prompt_tokens(message_texts: Iterable[str]) -> int:
    return sum((len(text) + 3) // 4 + _TEMPLATE_TOKENS for text in message_texts)


_BABBLE = " and then again the same"


class ContentPart(Struct):
    type: str = "text"
    text: str = ""


class ChatMessage(Struct):
    role: str
    content: str | list[ContentPart] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content or ""


class JsonSchema(Struct, rename={"schema_": "schema"}):
    name: str = ""
    schema_: Any = None


class ResponseFormat(Struct):
    type: str = "text"
    json_schema: JsonSchema | None = None


class StreamOptions(Struct):
    include_usage: bool = False
    continuous_usage_stats: bool = False


class ChatTemplate(Struct):
    enable_thinking: bool = True


class ChatRequest(Struct):
    """Request fields that the simulator uses; like vLLM, it ignores others."""

    model: str
    messages: list[ChatMessage]
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None
    response_format: ResponseFormat | None = None
    ignore_eos: bool = False
    """Continue to the token limit."""
    chat_template_kwargs: ChatTemplate | None = None

    @property
    def token_limit(self) -> int | None:
        return self.max_completion_tokens if self.max_completion_tokens is not None else self.max_tokens

    @property
    def json_schema(self) -> JsonSchema | None:
        if self.response_format and self.response_format.type == "json_schema":
            return self.response_format.json_schema or JsonSchema()
        return None

    @property
    def purpose(self) -> str:
        return self.json_schema.name if self.json_schema else ""

    @property
    def role(self) -> str | None:
        return ROLES.get(self.purpose)

    @property
    def prompt_tokens(self) -> int:
        return estimate_prompt_tokens(message.text for message in self.messages)


Channel = Literal["reasoning", "content"]


@dataclass(frozen=True)
class ReplyPiece:
    channel: Channel
    text: str


@dataclass(frozen=True)
class Reply:
    pieces: tuple[ReplyPiece, ...]
    finish_reason: Literal["stop", "length"]
    prompt_tokens: int

    @property
    def completion_tokens(self) -> int:
        """Tokens of the reply, including the end token without text."""
        return len(self.pieces) + (self.finish_reason == "stop")


def join_text(pieces: Iterable[ReplyPiece], channel: Channel) -> str:
    return "".join(piece.text for piece in pieces if piece.channel == channel)


def create_reply(script: AnswerScript, request: ChatRequest, fault: SimulatedFault | None, room: int) -> Reply:
    """Create a reply of at most `room` tokens, which is what the context has left."""
    thought, answer = _compose_texts(script, request)
    if fault:
        thought, answer = spoil_reply(fault.kind, thought, answer)
    limit = min(request.token_limit or room, room)
    babbles = fault is not None and fault.kind == "babble"
    pieces = _split_pieces(thought, answer, append_babble_forever=request.ignore_eos or babbles)
    kept = tuple(islice(pieces, limit))
    ends = next(pieces, None) is None and len(kept) < limit
    return Reply(kept, "stop" if ends else "length", request.prompt_tokens)


def _compose_texts(script: AnswerScript, request: ChatRequest) -> tuple[str, str]:
    asked = next((message.text for message in reversed(request.messages) if message.role == "user"), "")
    spoken = compose_answer(script, read_prompt(request.purpose, asked))
    thinks = request.chat_template_kwargs is None or request.chat_template_kwargs.enable_thinking
    thought = spoken.thought if thinks else ""
    if request.json_schema is None:
        return thought, spoken.answer if isinstance(spoken.answer, str) else msgspec.json.encode(spoken.answer).decode()
    wanted = msgspec.json.decode(msgspec.json.encode(spoken.answer))
    return thought, msgspec.json.encode(schema_fitter.fit_to_schema(request.json_schema.schema_, wanted)).decode()


def _split_pieces(thought: str, answer: str, *, append_babble_forever: bool) -> Iterator[ReplyPiece]:
    for token in split_into_tokens(thought):
        yield ReplyPiece("reasoning", token)
    for token in split_into_tokens(answer):
        yield ReplyPiece("content", token)
    if append_babble_forever:
        for token in cycle(split_into_tokens(_BABBLE)):
            yield ReplyPiece("content", token)
