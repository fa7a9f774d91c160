"""A chat request to an engine and the parts of its streamed reply."""

from dataclasses import dataclass, field
from typing import Any

from app.events.event_field_types import Channel
from app.lineups.model import SchemaForm


@dataclass(frozen=True)
class ServerDialect:
    """What a server understands beside the fields that every OpenAI-compatible server has."""

    extensions: bool = True
    """vLLM's and llama.cpp's own request fields. Hosted servers refuse a request with a field that they do not know."""
    structured: bool = True
    """It binds an answer to a JSON Schema."""
    schema_form: SchemaForm = "json_schema"


@dataclass(frozen=True)
class Message:
    role: str
    content: str


@dataclass(frozen=True)
class Question:
    """One turn's request. `schema` constrains the answer through response_format; None leaves it free."""

    model: str
    messages: tuple[Message, ...]
    schema_name: str
    schema: dict[str, Any] | None
    request_id: str
    max_tokens: int
    temperature: float
    extra: dict[str, Any] = field(default_factory=dict)
    traceparent: str = ""
    """W3C trace parent of the engine's spans, if tracing is on."""


@dataclass(frozen=True)
class Delta:
    """A piece of a reply. `tokens` is the engine's count of completion tokens so far."""

    channel: Channel
    text: str
    tokens: int
    is_counted: bool = field(default=False, compare=False)
    """The engine counted the tokens; otherwise they are the pieces so far, each of which may hold several tokens."""


@dataclass(frozen=True)
class Finished:
    """End of a reply, with figures from the usage and the arrival times."""

    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    ttft: float | None
    """Seconds from the request to the first token."""
    decode_rate: float | None
    """Tokens per second between the first and the last token."""
    leaked: bool
    """True if the text had control tokens or the answer was empty."""
