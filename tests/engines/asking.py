"""Asking an engine in a test, and reading what came."""

from contextlib import aclosing

from app.engines.chat_question_and_reply_types import Delta, Finished, Message, Question
from app.engines.client import EngineClient
from tests.engines.conftest import MODELS

SCHEMA = {
    "type": "object",
    "properties": {"approach": {"type": "string"}, "risk": {"type": "string"}},
    "required": ["approach", "risk"],
}


def question(purpose: str = "plan", engine: str = "gemma-31b", **changes) -> Question:
    defaults = {
        "model": MODELS[engine],
        "messages": (Message("system", "You plan."), Message("user", "Rule: V-1\nAttempt: 1")),
        "schema_name": purpose,
        "schema": SCHEMA,
        "request_id": "run.architect.1",
        "max_tokens": 400,
        "temperature": 0.3,
    }
    return Question(**{**defaults, **changes})


async def ask(http, base_url, *, stall_after=5.0, **changes) -> list[Delta | Finished]:
    client = EngineClient(http, base_url)
    async with aclosing(client.stream_reply(question(**changes), stall_after=stall_after)) as replies:
        return [reply async for reply in replies]


def text(replies, channel: str) -> str:
    return "".join(one.text for one in replies if isinstance(one, Delta) and one.channel == channel)
