"""Asking an engine one step's questions at once, and timing what comes back."""

import asyncio
import secrets
import time
from contextlib import aclosing

from app.engines.client import EngineClient
from app.engines.reply import Finished
from app.errors import EngineDied, EngineError
from app.probing.course import Step
from app.probing.figures import Answer
from app.probing.texts import question

STALL_AFTER = 60.0


async def ask(client: EngineClient, model: str, step: Step) -> list[Answer]:
    """As many streams as the step says; the first failure ends them all."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_one(client, model, step, stream)) for stream in range(step.streams)]
    except* EngineError as failed:
        raise _first(failed) from failed
    return [task.result() for task in tasks]


async def _one(client: EngineClient, model: str, step: Step, stream: int) -> Answer:
    asked = question(model, step, stream, secrets.token_hex(4))
    left = time.monotonic()
    async with aclosing(client.ask(asked, stall_after=STALL_AFTER)) as replies:
        async for reply in replies:
            if isinstance(reply, Finished):
                return Answer(
                    asked=step.tokens,
                    tokens=reply.completion_tokens,
                    prompt_tokens=reply.prompt_tokens,
                    ttft=reply.ttft,
                    rate=reply.decode_rate,
                    left=left,
                    ended=time.monotonic(),
                )
    raise EngineDied("the stream ended without its end")


def _first(failed: BaseExceptionGroup[EngineError]) -> EngineError:
    found = failed.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
