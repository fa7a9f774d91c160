"""What an engine is asked and what comes back while it answers."""

from dataclasses import dataclass, field
from typing import Any

from app.events.words import Channel


@dataclass(frozen=True)
class Message:
    role: str
    content: str


@dataclass(frozen=True)
class Question:
    """One turn's request. `schema` binds the answer's shape through response_format; None leaves it free."""

    model: str
    messages: tuple[Message, ...]
    schema_name: str
    schema: dict[str, Any] | None
    request_id: str
    max_tokens: int
    temperature: float
    extra: dict[str, Any] = field(default_factory=dict)
    traceparent: str = ""
    """W3C's, where somebody collects traces: the engine's own spans hang under it."""


@dataclass(frozen=True)
class Delta:
    """A piece of a reply. `tokens` is the engine's own count of completion tokens so far."""

    channel: Channel
    text: str
    tokens: int


@dataclass(frozen=True)
class Finished:
    """The reply's end, with figures taken from usage and from the stream's own clock."""

    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    ttft: float | None
    """Seconds from request to first token."""
    decode_rate: float | None
    """Tokens a second from the first token to the last."""
    leaked: bool
    """Control tokens stood in the text, or the answer was empty."""
