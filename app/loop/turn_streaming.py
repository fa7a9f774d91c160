"""Streams one turn of a role into the log, from question to finish."""

import asyncio
import time
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field
from typing import Protocol

from app import errors
from app.engines.chat_question_and_reply_types import Delta, Finished, Question
from app.engines.client import EngineClient
from app.events.event_field_types import Channel, Purpose, Role, TurnOutcome
from app.events.kinds import Event, TurnDelta, TurnFinished

_WINDOW = 240
"""Characters that must repeat; longer than a banner's line of dashes."""
_LONGEST = _WINDOW // 4
_EVERY = 32


class RepetitionDetector:
    def __init__(self) -> None:
        self._tails: dict[Channel, str] = {"thought": "", "answer": ""}
        self._unseen = 0

    def add_and_check_repetition(self, channel: Channel, text: str) -> bool:
        """Return whether the end of the channel, with `text`, repeats one piece at least four times."""
        tail = self._tails[channel] = (self._tails[channel] + text)[-_WINDOW:]
        self._unseen += len(text)
        if self._unseen < _EVERY or len(tail) < _WINDOW:
            return False
        self._unseen = 0
        return any(tail[size:] == tail[:-size] for size in range(1, _LONGEST + 1))


MERGE_SECONDS = 0.05
"""Merges deltas to about 20 frames per second; a lone token is sent at once."""
PATIENCE = 5.0
"""Seconds within a turn for an engine that does not answer; afterwards the run waits for it, outside its budgets."""
RETRY_SECONDS = (0.2, 0.3, 0.5, 0.5, 1.0)
"""Short, as a refused request costs an engine nothing and one that has just loaded should not wait."""

_OUTCOMES: dict[type[errors.EngineError], TurnOutcome] = {
    errors.EngineUnavailable: "unavailable",
    errors.EngineRefused: "refused",
    errors.EngineDied: "died",
    errors.EngineStalled: "stalled",
}


class EventAppender(Protocol):
    def append(self, *events: Event) -> object: ...


@dataclass(frozen=True)
class TurnName:
    turn: str
    role: Role
    purpose: Purpose


class RepetitionFound(Exception):
    """The model repeats itself."""


class DeltaMerger:
    """Merges deltas of one channel for at most MERGE_SECONDS since the last frame."""

    def __init__(self, name: TurnName, log: EventAppender) -> None:
        self._name = name
        self._log = log
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._held: list[str] = []
        self._channel: Channel = "thought"
        self._repeating = RepetitionDetector()
        self.tokens = 0
        self.texts: dict[Channel, list[str]] = {"thought": [], "answer": []}

    def add(self, delta: Delta) -> None:
        if delta.channel != self._channel:
            self.flush()
            self._channel = delta.channel
        self.texts[delta.channel].append(delta.text)
        self._held.append(delta.text)
        self.tokens = delta.tokens
        wait = self._last + MERGE_SECONDS - time.monotonic()
        if wait <= 0:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self._flush_on_timer)
        if self._repeating.add_and_check_repetition(delta.channel, delta.text):
            unit = "tokens" if delta.is_counted else "pieces"
            raise RepetitionFound(f"it repeated itself and was cut after {self.tokens} {unit}")

    def _flush_on_timer(self) -> None:
        with suppress(errors.LeaseLost, errors.EnvironmentUnusable):  # the next delta raises it to the caller
            self.flush()

    def flush(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if not self._held:
            return
        text, self._held = "".join(self._held), []
        self._last = time.monotonic()
        of = self._name
        self._log.append(TurnDelta(turn=of.turn, role=of.role, channel=self._channel, text=text, tokens=self.tokens))

    def close(self) -> tuple[str, str]:
        self.flush()
        return "".join(self.texts["thought"]), "".join(self.texts["answer"])


async def stream_turn(
    name: TurnName, client: EngineClient, question: Question, log: EventAppender, *, seconds: float, stall_after: float
) -> TurnFinished:
    """Stream a turn and return its end, which the caller appends together with the answer's events."""
    merger, began = DeltaMerger(name, log), time.monotonic()
    patience = EngineRetry()
    end: Finished | None = None
    outcome: TurnOutcome = "answered"
    detail = ""
    looped = False
    try:
        async with asyncio.timeout(seconds):
            end = await _stream_with_retries(client, question, merger, patience, stall_after)
    except RepetitionFound as exc:
        outcome, detail, looped = "broken", str(exc), True
    except TimeoutError:
        outcome, detail = _choose_timeout_outcome_and_detail(seconds, patience)
    except errors.EngineError as exc:
        outcome, detail = _OUTCOMES[type(exc)], str(exc)
    finally:
        thought, answer = merger.close()
    return TurnFinished(
        **asdict(name),
        outcome=outcome,
        detail=detail,
        thought=thought,
        answer=answer,
        seconds=round(time.monotonic() - began, 3),
        looped=looped,
        lost=outcome == "unavailable",
        **(asdict(end) if end else {"completion_tokens": merger.tokens if looped else 0}),
    )


@dataclass
class EngineRetry:
    """Retries an engine that is loading, restarting or down, for a few seconds, until it has sent a token."""

    tries: int = 0
    began: float = field(default_factory=time.monotonic)
    last: errors.EngineError | None = None

    async def wait_before_retry_until_patience_ends(self, error: errors.EngineError) -> None:
        if time.monotonic() - self.began > PATIENCE:
            raise errors.EngineUnavailable(str(error)) from error
        self.last = error
        await asyncio.sleep(RETRY_SECONDS[min(self.tries, len(RETRY_SECONDS) - 1)])
        self.tries += 1


def _choose_timeout_outcome_and_detail(seconds: float, retry: EngineRetry) -> tuple[TurnOutcome, str]:
    if retry.last:
        return "unavailable", f"{retry.last} It was waited for {seconds:.0f} s."
    return "over_budget", f"not done after {seconds:.0f} s"


async def _stream_with_retries(
    client: EngineClient, question: Question, merger: DeltaMerger, retry: EngineRetry, stall_after: float
) -> Finished:
    while True:
        try:
            return await _stream_once(client, question, merger, stall_after)
        except (errors.EngineUnavailable, errors.EngineDied) as exc:
            if any(merger.texts.values()):
                raise
            await retry.wait_before_retry_until_patience_ends(exc)


async def _stream_once(client: EngineClient, question: Question, merger: DeltaMerger, stall_after: float) -> Finished:
    async with aclosing(client.stream_reply(question, stall_after=stall_after)) as replies:
        async for reply in replies:
            if isinstance(reply, Finished):
                return reply
            merger.add(reply)
    raise errors.EngineDied("The engine's answer stops without an end: look at the engine's log.")
