"""One replica of an engine, polled once a second from outside."""

import math
import re
import time
from datetime import UTC, datetime

import httpx

from app.engines.client import SILENT, EngineClient, get_dialect
from app.engines.engine_metrics import EngineSample, include_running_answers, merge_samples
from app.engines.launch.launched_replica import LaunchedReplica
from app.engines.replica_choice import EngineTraffic, ReplicaReport
from app.errors import EngineError
from app.lineups.model import Engine
from app.machine.sampling.engine_state_transitions import Condition, ReplicaObservation, update_condition
from app.text.clean import clean_text

PATIENCE = 2.0
PROMPT = 0.1
"""Seconds: a faster answer counts as immediate."""
CHECK_EVERY = 30.0
"""Seconds between checks that it still serves the line-up's model; that rarely changes."""
TOLD_FOR = 60.0
_AWAY = ("absent", "loading", "dead")
_TEXT = re.compile(r"(?:INFO|WARNING|ERROR) [^\]]*\] (.*)$")


class ReplicaWatch:
    def __init__(
        self,
        http: httpx.AsyncClient,
        engine: Engine,
        base: str,
        traffic: EngineTraffic,
        *,
        key: str = "",
        metrics_urls: tuple[str, ...] = (),
        launched: LaunchedReplica | None = None,
    ) -> None:
        self._http, self._engine, self._traffic, self._launched = http, engine, traffic, launched
        self.base = base.rstrip("/")
        if launched:
            traffic.unavailable.add(self.base)  # until it is seen to serve: another process may hold its port
        self._root = self.base.removesuffix("/v1")
        self._client = EngineClient(http, base, key=key, patience=PATIENCE, dialect=get_dialect(engine))
        self._metrics_urls = metrics_urls or ("",)
        self._trouble, self._checked = "", float("-inf")
        self._began: float | None = None
        self._anew = ("", float("-inf"))
        self._sample_before: EngineSample | None = None
        self.condition = Condition()
        self.late = 0.0
        """Seconds a slow engine took to report its figures, which are that much newer than the poll."""
        self.share: float | None = None
        self.eta_s: float | None = None

    async def answers_health(self) -> bool:
        return await self._find_health_code() == httpx.codes.OK

    async def _find_health_code(self) -> int | None:
        # If our engine has ended, an answer comes from another process.
        lost = self._launched is not None and self._launched.read_status().state == "dead"
        return None if lost else await self._client.read_health_status()

    def _can_poll_break_our_request(self) -> bool:
        """Return True while a server that breaks answers off at any other request answers ours.

        llama-cpp-python's does so even at a look at its models. Meanwhile the turn notices a death or a silence.
        """
        lone = self._engine.is_endpoint and self._engine.max_num_seqs == 1
        return lone and self._traffic.ours[self.base] > 0 and self.condition.state == "ready"

    async def poll_and_read_counters(self, now: float) -> EngineSample | None:
        """Poll the replica and return its sample. `now` is monotonic."""
        began = time.monotonic()
        newest, ours = self._traffic.newest, self._traffic.ours[self.base]
        alone = self._can_poll_break_our_request()
        health = httpx.codes.OK if alone else await self._find_health_code()
        well = health == httpx.codes.OK
        sample = await self._find_sample() if well else None
        took = time.monotonic() - began
        self.late = took if took > PROMPT else 0.0
        seen = ReplicaObservation(
            health=health,
            phase=await self._read_newest_simulator_log_line() if health not in (None, SILENT) and not well else "",
            running=sample.running if sample else None,
            tokens=_sum_prompt_and_generated_tokens(sample),
            trouble=await self._get_serving_problem(now) if well and not alone else "",
            remark=self._describe_restart_or_missing_metrics(sample, now),
        )
        self.condition = self._prefer_launch_state(update_condition(self.condition, seen, now))
        # A request of ours that ended meanwhile may still be counted there, but is not foreign.
        self._report_health_and_load_to_traffic(sample, newest, max(ours, self._traffic.ours[self.base]))
        return sample

    def _prefer_launch_state(self, seen: Condition) -> Condition:
        """Prefer the launcher's state over the port's: it knows that the engine loads, or why it ended."""
        self.share = self.eta_s = None
        if self._launched is None:
            return seen
        look = self._launched.read_status()
        if look.state == "ready":
            return seen
        self.share, self.eta_s = look.share, look.eta_s
        return Condition(look.state, clean_text(look.detail, 300), seen.tokens, seen.moved_at)

    def _report_health_and_load_to_traffic(
        self, sample: EngineSample | None, newest_request: int, our_requests: int
    ) -> None:
        state, traffic = self.condition.state, self._traffic
        (traffic.unhealthy.discard if state == "ready" else traffic.unhealthy.add)(self.base)
        (traffic.unavailable.add if state in _AWAY else traffic.unavailable.discard)(self.base)
        unread = ReplicaReport(newest=newest_request)
        traffic.reports[self.base] = _to_report(sample, newest_request, our_requests) if sample else unread

    async def _find_sample(self) -> EngineSample | None:
        if self._engine.is_endpoint and not self._engine.metrics_urls:
            return self._count_own_sample()
        try:
            looks = [await self._client.read_sample(url) for url in self._metrics_urls]
        except EngineError:
            return None
        if len(looks) > 1:
            return merge_samples(looks)
        self._sample_before = include_running_answers(self._sample_before, looks[0])
        return self._sample_before

    def _count_own_sample(self) -> EngineSample:
        """Return what this process knows of a server without metrics: its own requests and their tokens."""
        ours, written = self._traffic.ours[self.base], self._traffic.written[self.base]
        return EngineSample(running=ours, waiting=None, kv_used=None, prompt_tokens=None, generation_tokens=written)

    async def _get_serving_problem(self, now: float) -> str:
        if now - self._checked >= CHECK_EVERY or self._trouble:
            self._checked, self._trouble = now, await self._check_served_model()
        return self._trouble

    async def _check_served_model(self) -> str:
        try:
            served = await self._client.list_models()
        except EngineError as exc:
            return clean_text(str(exc), 300)
        wanted, length = self._engine.wire_name, self._engine.max_model_len
        card = next((card for card in served if card.id == wanted), None)
        if card is None:
            have = ", ".join(one.id for one in served[:5]) or "nothing"
            return clean_text(f"it serves {have}, not {wanted}: check base_urls and served_name", 300)
        if card.max_model_len is not None and card.max_model_len < length:
            return f"it holds {card.max_model_len} tokens, the line-up says {length}: mend max_model_len"
        return ""

    def _describe_restart_or_missing_metrics(self, sample: EngineSample | None, now: float) -> str:
        """Return a note if the engine was restarted, but not by Temper."""
        if sample is None:
            return ""
        if sample.started is not None:
            if self._began is not None and sample.started > self._began + 1 and self._launched is None:
                at = datetime.fromtimestamp(sample.started, UTC).strftime("%H:%M:%S")
                self._anew = (f"it was started anew at {at} UTC, not by Temper", now)
            self._began = sample.started
        return self._anew[0] if now - self._anew[1] < TOLD_FOR else sample.missing

    async def _read_newest_simulator_log_line(self) -> str:
        """Return the newest line of the simulator's log; other engines' logs are not available here."""
        if self._engine.simulation is None:
            return ""
        try:
            answer = await self._http.get(f"{self._root}/simulator/log", timeout=PATIENCE)
        except httpx.HTTPError:
            return ""
        newest = answer.text.rstrip("\n").rpartition("\n")[2]
        found = _TEXT.search(newest)
        return clean_text(found[1] if found else newest, 200)


def _to_report(sample: EngineSample, newest_request: int, our_requests: int) -> ReplicaReport:
    known = sample.kv_tokens is not None and sample.kv_used is not None
    return ReplicaReport(
        requests=(sample.running or 0) + (sample.waiting or 0),
        ours=our_requests,
        kv_tokens=sample.kv_tokens,
        kv_used=math.ceil(sample.kv_used * sample.kv_tokens) if known else None,  # type: ignore[operator]
        newest=newest_request,
    )


def _sum_prompt_and_generated_tokens(sample: EngineSample | None) -> int | None:
    """Return the sum of the counters that grow while the engine works."""
    if sample is None:
        return None
    return (sample.prompt_tokens or 0) + (sample.generation_tokens or 0) + sample.reading
