"""Send one probe step's requests concurrently and time the replies."""

import asyncio
import secrets
import time
from contextlib import aclosing

from app.engines.chat import Finished, Question
from app.engines.client import EngineClient
from app.engines.traffic import EngineTraffic
from app.errors import EngineDied, EngineError
from app.machine.measuring.probe_figures import TimedReply
from app.machine.measuring.probe_prompts import create_question
from app.machine.measuring.probe_steps import ProbeStep

STALL_AFTER = 60.0


async def send_timed_requests(
    client: EngineClient, model: str, step: ProbeStep, traffic: EngineTraffic
) -> list[TimedReply]:
    """Send as many streams as the step has. The first failure cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_send_timed_request(client, model, step, stream, traffic))
                for stream in range(step.streams)
            ]
    except* EngineError as failed:
        raise _find_first_error(failed) from failed
    return [task.result() for task in tasks]


async def _send_timed_request(
    client: EngineClient, model: str, step: ProbeStep, stream: int, traffic: EngineTraffic
) -> TimedReply:
    asked = create_question(model, step, stream, secrets.token_hex(4))
    left = time.monotonic()
    with traffic.track_request(client.base_url):
        end = await _wait_for_end(client, asked)
    return TimedReply(
        asked=step.tokens,
        tokens=end.completion_tokens,
        prompt_tokens=end.prompt_tokens,
        ttft=end.ttft,
        rate=end.decode_rate,
        left=left,
        ended=time.monotonic(),
    )


async def _wait_for_end(client: EngineClient, asked: Question) -> Finished:
    async with aclosing(client.stream_reply(asked, stall_after=STALL_AFTER)) as replies:
        async for reply in replies:
            if isinstance(reply, Finished):
                return reply
    raise EngineDied("the stream ended without its end")


def _find_first_error(failed: BaseExceptionGroup[EngineError]) -> EngineError:
    found = failed.exceptions[0]
    return _find_first_error(found) if isinstance(found, BaseExceptionGroup) else found
