"""One simulated vLLM engine, with loading, metrics, load and faults."""

import asyncio
import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from app.engines.simulator import cold_load_log_and_memory
from app.engines.simulator.answer_script import AnswerScript
from app.engines.simulator.faults import SLOW, FaultQueue, SimulatedFault
from app.engines.simulator.meters import EngineMeters
from app.engines.simulator.reply_creation import Reply
from app.engines.simulator.simulated_gpu import SimulatedGpu
from app.lineups.model import Engine, Gpu, Simulation

GRACE = 1.0
"""Seconds that a dead engine's server still answers health checks."""
_LOADING_SHARE = 0.35

State = Literal["loading", "ready", "dead"]


@dataclass(frozen=True)
class Pace:
    """When each token of a reply is due, counted from the start so that late timers do not add up."""

    prefill: float
    """Seconds before the first token."""
    rate: float
    """Tokens per second; infinite without waiting."""

    def compute_due_time(self, token: int) -> float:
        """Return the seconds from the start at which a token is due; tokens count from 1."""
        return self.prefill + (token - 1) / self.rate

    def count_due_tokens(self, elapsed: float) -> int:
        """Return how many tokens are due after `elapsed` seconds."""
        if elapsed < self.prefill:
            return 0
        return 2**31 if math.isinf(self.rate) else 1 + math.floor((elapsed - self.prefill) * self.rate + 1e-9)


def create_pace(prompt_tokens: int, prefill_tok_s: float, tok_s: float, speed: float) -> Pace:
    if speed == 0:
        return Pace(0.0, math.inf)
    return Pace(prompt_tokens / (prefill_tok_s * speed), tok_s * speed)


class ActiveRequest:
    """An active request and its KV cache tokens."""

    def __init__(self, prompt_tokens: int) -> None:
        self.tokens = prompt_tokens


class SimulatedEngine:
    def __init__(
        self,
        engine: Engine,
        simulation: Simulation,
        gpus: tuple[Gpu, ...],
        script: AnswerScript,
        speed: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.engine = engine
        self.script = script
        self.clock = clock
        self.state: State = "loading"
        self.meters = EngineMeters()
        self.faults = FaultQueue()
        self.log: deque[str] = deque(maxlen=500)
        self.active: set[ActiveRequest] = set()
        self._simulation = simulation
        self._speed = speed
        self._cards = [SimulatedGpu(gpu, clock()) for gpu in gpus]
        self._loading_since = clock()
        self._died = asyncio.Event()
        self._last_word = asyncio.Event()
        self._recovers = False
        self.most_requests = self.most_tokens = 0
        """Most concurrent requests, and most tokens in the KV cache."""

    async def run(self) -> None:
        """Load and serve until a fault kills the engine without recovery."""
        while True:
            await self._load_model()
            await self._died.wait()
            try:
                async with asyncio.timeout(GRACE):
                    await self._last_word.wait()
            except TimeoutError:
                self.write_log("Nobody asked for /health; shutting down.")
            if not self._recovers:
                return
            self._died.clear()
            self._last_word.clear()

    async def _load_model(self) -> None:
        self.state = "loading"
        self._loading_since = self.clock()
        self._set_load(_LOADING_SHARE)
        for line in cold_load_log_and_memory.iterate_lines(self.engine, self._simulation):
            if (wait := self._loading_since + line.at * self._cold_load_seconds - self.clock()) > 0:
                await asyncio.sleep(wait)
            self.write_log(line.text)
        self.state = "ready"
        self._set_load(0.0)

    def kill_engine(self, fault: SimulatedFault) -> None:
        self.write_log("EngineCore encountered a simulated fault and is gone.", level="ERROR")
        self.state = "dead"
        self._recovers = fault.recover
        self._died.set()

    def answer_health_check_with_status_code(self) -> int:
        if self.state == "dead":
            self._last_word.set()
        return 200 if self.state == "ready" else 503

    def write_log(self, text: str, level: str = "INFO") -> None:
        when = time.strftime("%m-%d %H:%M:%S")
        line = f"(EngineCore pid={os.getpid()}) {level} {when} [simulated] {text}"
        self.log.append(line)
        sys.stderr.write(f"{self.engine.name}: {line}\n")

    def compute_pace(self, reply: Reply, *, slow: bool) -> Pace:
        simulation = self._simulation
        rate = simulation.tok_s * simulation.compute_relative_speed(len(self.active)) * (SLOW if slow else 1.0)
        return create_pace(reply.prompt_tokens, simulation.prefill_tok_s, rate, self._speed)

    @contextmanager
    def track_request(self, prompt_tokens: int) -> Iterator[ActiveRequest]:
        self.active.add(active := ActiveRequest(prompt_tokens))
        self.update_peaks()
        self.meters.prompt_tokens += prompt_tokens
        self._set_load(1.0)
        try:
            yield active
        finally:
            self.active.remove(active)
            self._set_load(1.0 if self.active else 0.0)

    def update_peaks(self) -> None:
        self.most_requests = max(self.most_requests, len(self.active))
        self.most_tokens = max(self.most_tokens, sum(active.tokens for active in self.active))

    def render_metrics(self) -> str:
        kv_tokens = self._simulation.kv_tokens
        used = min(sum(active.tokens for active in self.active) / kv_tokens, 1.0)
        model = self.engine.wire_name
        return self.meters.render_text(model, running=len(self.active), kv_used_share=used, kv_tokens=kv_tokens)

    def build_gpu_report(self) -> dict[str, Any]:
        now = self.clock()
        loaded = min((now - self._loading_since) / self._cold_load_seconds, 1.0) if self._cold_load_seconds else 1.0
        used = 0.0 if self.state == "dead" else cold_load_log_and_memory.compute_memory_gib(self._simulation, loaded)
        return {"simulated": True, "gpus": [card.read_status(used, now) for card in self._cards]}

    def _set_load(self, share: float) -> None:
        for card in self._cards:
            card.set_load(share, self.clock())

    @property
    def _cold_load_seconds(self) -> float:
        return self._simulation.cold_load_s / (cold_load_log_and_memory.SHORTENED * self._speed) if self._speed else 0.0
