"""One engine, looked at once a second: its state where that changed, and its figures."""

import re
from collections.abc import Sequence

import httpx

from app.engines.client import EngineClient
from app.engines.metrics import EngineSample, rate
from app.errors import EngineError
from app.events.clean import clean
from app.events.kinds import EngineSampled, EngineState, Event
from app.lineup import Engine
from app.sampling.condition import Condition, Seen, condition, overall

PATIENCE = 2.0
_TEXT = re.compile(r"(?:INFO|WARNING|ERROR) [^\]]*\] (.*)$")


class Replica:
    def __init__(self, http: httpx.AsyncClient, base: str, *, simulated: bool) -> None:
        self._http, self._root, self._simulated = http, base.rstrip("/").removesuffix("/v1"), simulated
        self._client = EngineClient(http, base, patience=PATIENCE)
        self.condition = Condition()

    async def look(self, now: float) -> EngineSample | None:
        health = await self._health()
        sample = await self._sample() if health == httpx.codes.OK else None
        phase = await self._phase() if self._simulated and health not in (None, httpx.codes.OK) else ""
        tokens = None if sample is None else (sample.prompt_tokens or 0) + (sample.generation_tokens or 0)
        seen = Seen(health, phase, sample.running if sample else None, tokens)
        self.condition = condition(self.condition, seen, now)
        return sample

    async def _health(self) -> int | None:
        try:
            async with self._http.stream("GET", f"{self._root}/health", timeout=PATIENCE) as answer:
                return answer.status_code
        except (httpx.HTTPError, httpx.InvalidURL):
            return None

    async def _sample(self) -> EngineSample | None:
        try:
            return await self._client.sample()
        except EngineError:
            return None

    async def _phase(self) -> str:
        """The newest line of the simulator's log: what a launched engine will give from its own."""
        try:
            answer = await self._http.get(f"{self._root}/simulator/log", timeout=PATIENCE)
        except httpx.HTTPError:
            return ""
        newest = answer.text.rstrip("\n").rpartition("\n")[2]
        found = _TEXT.search(newest)
        return clean(found[1] if found else newest, 200)


class EngineWatch:
    def __init__(self, engine: Engine, bases: Sequence[str], http: httpx.AsyncClient) -> None:
        self.engine = engine
        self._replicas = [Replica(http, base, simulated=engine.simulation is not None) for base in bases]
        self._told: tuple[str, str] | None = None
        self._before: tuple[float, list[EngineSample | None]] | None = None

    async def look(self, now: float) -> list[Event]:
        samples = [await replica.look(now) for replica in self._replicas]
        events: list[Event] = []
        whole = overall([replica.condition for replica in self._replicas])
        if (whole.state, whole.detail) != self._told:
            self._told = (whole.state, whole.detail)
            events.append(EngineState(engine=self.engine.name, state=whole.state, detail=whole.detail))
        if sampled := self._sampled(now, samples):
            events.append(sampled)
        return events

    def _sampled(self, now: float, samples: list[EngineSample | None]) -> EngineSampled | None:
        before, self._before = self._before, (now, samples)
        present = [one for one in samples if one]
        if not present:
            return None
        shares = [one.kv_used for one in present if one.kv_used is not None]
        return EngineSampled(
            engine=self.engine.name,
            running=sum(one.running or 0 for one in present),
            waiting=sum(one.waiting or 0 for one in present),
            kv_used=sum(shares) / len(shares) if shares else None,
            tok_s=_rate(before, now, samples, "generation_tokens"),
            prompt_tok_s=_rate(before, now, samples, "prompt_tokens"),
            simulated=self.engine.simulation is not None,
        )


def _rate(
    before: tuple[float, list[EngineSample | None]] | None, now: float, samples: list[EngineSample | None], name: str
) -> float | None:
    """Of each replica by itself: one that started anew counts from 0."""
    if before is None:
        return None
    at, earlier = before
    pairs = zip(earlier, samples, strict=True)
    rates = [rate(getattr(old, name, None), getattr(new, name, None), now - at) for old, new in pairs]
    known = [one for one in rates if one is not None]
    return round(sum(known), 2) if known else None
