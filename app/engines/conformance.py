"""Checks of what Temper needs of a server with OpenAI's API, each by one small request and what it brings."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from app.engines.chat_question_and_reply_types import Delta, Finished, Message, Question
from app.engines.client import EngineClient
from app.engines.server_capabilities import ASSUMED_CONTEXT, AT_ONCE, ONE_BY_ONE, EndpointReport
from app.errors import EngineError, EngineRefused
from app.text.clean import clean_text

SECONDS = 90.0
_SHORT = 4


@dataclass(frozen=True)
class Check:
    """One row of the table. `passed` is None if it could not be tried."""

    name: str
    passed: bool | None
    detail: str = ""
    without: str = ""
    """What Temper does if the server cannot do it; empty if Temper cannot do without it."""

    @property
    def is_needed(self) -> bool:
        return not self.without


_Try = Callable[[EngineClient, str], Awaitable[tuple[bool, str]]]


async def check_conformance(client: EngineClient, report: EndpointReport) -> AsyncIterator[Check]:
    """Yield the checks as they are made: first what the report says already, then those of `_TRIES`."""
    yield Check("lists its models", passed=True, detail=f"{len(report.models)} listed")
    yield Check("binds answers to a JSON Schema", report.structured, report.structured_detail, "examples and repair")
    yield Check("counts tokens", report.counts != "none", report.counts, "pieces count as tokens")
    assumed = f"{ASSUMED_CONTEXT:,} tokens are assumed"
    yield Check("says how long its context is", report.is_context_known, report.context_source, assumed)
    yield Check(f"answers {AT_ONCE} requests at once", report.several, "", ONE_BY_ONE)
    yield Check("has metrics", report.metrics, "", "rates are Temper's own count")
    for name, (attempt, without) in _TRIES.items():
        try:
            async with asyncio.timeout(SECONDS):
                passed, detail = await attempt(client, report.model)
        except TimeoutError:
            passed, detail = False, f"no answer in {SECONDS:.0f} s"
        except EngineError as exc:
            passed, detail = False, str(exc)
        yield Check(name, passed, clean_text(detail, 200), without)


async def _ask_question(client: EngineClient, model: str, text: str, most: int = 48) -> tuple[list[Delta], Finished]:
    question = Question(model, (Message("user", text),), "", None, "probe", most, 0.0, extra={"seed": 7})
    return await client.read_reply(question, stall_after=60.0)


async def _try_streaming(client: EngineClient, model: str) -> tuple[bool, str]:
    pieces, _ = await _ask_question(client, model, "Count from one to ten in words.")
    return len(pieces) > 1, f"{len(pieces)} pieces"


async def _try_length(client: EngineClient, model: str) -> tuple[bool, str]:
    _, end = await _ask_question(client, model, "Count from one to ten in words.", _SHORT)
    return end.completion_tokens <= _SHORT and end.finish_reason == "length", f"ended with {end.finish_reason}"


async def _try_accepting_system_message(client: EngineClient, model: str) -> tuple[bool, str]:
    messages = (Message("system", "You answer in one word."), Message("user", "Say yes."))
    question = Question(model, messages, "", None, "probe", 16, 0.0)
    async with aclosing(client.stream_reply(question, stall_after=60.0)) as parts:
        async for _ in parts:
            return True, ""
    return False, "no answer"


async def _try_unknown_model(client: EngineClient, _: str) -> tuple[bool, str]:
    try:
        await _ask_question(client, "temper/no-such-model", "Say yes.", 1)
    except EngineRefused as exc:
        return True, str(exc)
    return False, "it answered with some other model"


async def _try_answering_after_cancel(client: EngineClient, model: str) -> tuple[bool, str]:
    question = Question(model, (Message("user", "Count from one to a thousand."),), "", None, "probe", 400, 0.0)
    async with aclosing(client.stream_reply(question, stall_after=60.0)) as parts:
        async for _ in parts:
            break
    await _ask_question(client, model, "Say yes.", 2)
    return True, "it answered the next question"


_TRIES: dict[str, tuple[_Try, str]] = {
    "streams an answer in pieces": (_try_streaming, ""),
    "takes a system message": (_try_accepting_system_message, ""),
    "ends an answer at max_tokens": (_try_length, "a turn ends by its time"),
    "refuses a model that it does not have": (_try_unknown_model, "the line-up's model is checked against its list"),
    "goes on after a request was cancelled": (_try_answering_after_cancel, ""),
}
