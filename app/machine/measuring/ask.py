"""Send one probe step's requests concurrently and time the replies."""

import asyncio
import secrets
import time
from contextlib import aclosing

from app.engines.client import EngineClient
from app.engines.reply import Finished, Question
from app.engines.traffic import EngineTraffic
from app.errors import EngineDied, EngineError
from app.machine.measuring.course import CourseStep
from app.machine.measuring.figures import Timed
from app.machine.measuring.texts import question

STALL_AFTER = 60.0


async def ask(client: EngineClient, model: str, step: CourseStep, traffic: EngineTraffic) -> list[Timed]:
    """Send as many streams as the step has. The first failure cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_one(client, model, step, stream, traffic)) for stream in range(step.streams)]
    except* EngineError as failed:
        raise _first(failed) from failed
    return [task.result() for task in tasks]


async def _one(client: EngineClient, model: str, step: CourseStep, stream: int, traffic: EngineTraffic) -> Timed:
    asked = question(model, step, stream, secrets.token_hex(4))
    left = time.monotonic()
    with traffic.one_more(client.base):
        end = await _end(client, asked)
    return Timed(
        asked=step.tokens,
        tokens=end.completion_tokens,
        prompt_tokens=end.prompt_tokens,
        ttft=end.ttft,
        rate=end.decode_rate,
        left=left,
        ended=time.monotonic(),
    )


async def _end(client: EngineClient, asked: Question) -> Finished:
    async with aclosing(client.ask(asked, stall_after=STALL_AFTER)) as replies:
        async for reply in replies:
            if isinstance(reply, Finished):
                return reply
    raise EngineDied("the stream ended without its end")


def _first(failed: BaseExceptionGroup[EngineError]) -> EngineError:
    found = failed.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
