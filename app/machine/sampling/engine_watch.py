"""One engine across its replicas: state changes and samples."""

from collections.abc import Sequence
from statistics import median

import httpx

from app.engines.engine_metrics import EngineSample
from app.engines.launch.launched_replica import LaunchedReplica
from app.engines.traffic import EngineTraffic
from app.events.kinds import EngineSampled, EngineState, Event
from app.lineups.model import Engine
from app.machine.gpus.host_memory import read_resident_gib
from app.machine.sampling.counter_growth import CounterGrowth, TimedSample
from app.machine.sampling.engine_condition import combine_conditions
from app.machine.sampling.memory_attribution import LoadedMemory
from app.machine.sampling.replica_watch import ReplicaWatch

SLOW = 0.4
"""Share of its usual rate for one stream."""
USUAL_LOOKS, NEW_LOOKS = 30, 5


class EngineWatch:
    def __init__(
        self,
        engine: Engine,
        bases: Sequence[str],
        http: httpx.AsyncClient,
        traffic: EngineTraffic | None = None,
        key: str = "",
        launched: Sequence[LaunchedReplica] = (),
    ) -> None:
        self.engine = engine
        self._traffic = traffic or EngineTraffic()
        self._replicas = [
            ReplicaWatch(
                http,
                engine,
                base,
                self._traffic,
                key=key,
                metrics_urls=_select_metrics_urls(engine, place, len(bases)),
                launched=launched[place] if launched else None,
            )
            for place, base in enumerate(bases)
        ]
        self._launched = launched
        self._told: EngineState | None = None
        self._before: list[TimedSample | None] = [None] * len(bases)
        self._streams: list[float] = []

    async def poll_engine(self, now: float) -> list[Event]:
        samples = [await replica.poll_replica(now) for replica in self._replicas]
        events: list[Event] = []
        sampled = self._build_sample(now, samples)
        state = self._build_state()
        if state != self._told:
            self._told = state
            events.append(state)
        return [*events, sampled] if sampled else events

    @property
    def loaded_memory(self) -> LoadedMemory | None:
        """Memory according to the first replica's log; the others take the same."""
        cold = self._launched[0].cold if self._launched else None
        if cold is None or cold.weights_gib is None:
            return None
        return LoadedMemory(cold.weights_gib, cold.kv_pool_gib, cold.graphs_gib)

    def _build_state(self) -> EngineState:
        conditions = [replica.condition for replica in self._replicas]
        whole = combine_conditions(conditions)
        loading = [replica for replica in self._replicas if replica.eta_s is not None]
        return EngineState(
            engine=self.engine.name,
            state=whole.state,
            detail=whole.detail or (self._describe_slowness() if whole.state == "ready" else ""),
            share=min((one.share for one in loading if one.share is not None), default=None),
            eta_s=max((one.eta_s for one in loading if one.eta_s is not None), default=None),
            replicas=tuple(one.state for one in conditions) if len(conditions) > 1 else (),
        )

    def _build_sample(self, now: float, samples: Sequence[EngineSample | None]) -> EngineSampled | None:
        before, looks = (
            self._before,
            [_to_timed_sample(*pair, now) for pair in zip(self._replicas, samples, strict=True)],
        )
        # A sample that a busy engine missed is skipped: the next rate then covers the whole time.
        self._before = [new or old for new, old in zip(looks, before, strict=True)]
        present = [one for one in samples if one]
        if not present:
            return None
        since = CounterGrowth(before, looks)
        shares = [one.kv_used for one in present if one.kv_used is not None]
        tok_s, prompt_tok_s = since.compute_rate("generation_tokens"), since.compute_rate("prompt_tokens")
        running = sum(one.running or 0 for one in present)
        self._note_stream_rate(running, tok_s, prompt_tok_s)
        drafted, accepted, drafts = (
            since.compute_growth(name) for name in ("draft_tokens", "accepted_tokens", "drafts")
        )
        return EngineSampled(
            engine=self.engine.name,
            running=running,
            waiting=sum(one.waiting or 0 for one in present),
            kv_used=sum(shares) / len(shares) if shares else None,
            tok_s=tok_s,
            prompt_tok_s=prompt_tok_s,
            simulated=self.engine.simulation is not None,
            foreign=sum(self._traffic.count_foreign_requests(replica.base) for replica in self._replicas),
            kv_tokens=_sum_field(present, "kv_tokens"),
            acceptance_rate=_compute_share(accepted, drafted),
            acceptance_length=None if accepted is None or not drafts else round(1 + accepted / drafts, 3),
            cached_share=_compute_share(since.compute_growth("prefix_hits"), since.compute_growth("prefix_queries")),
            prefix_hit_rate=_compute_share(_sum_field(present, "prefix_hits"), _sum_field(present, "prefix_queries")),
            preemptions=_sum_field(present, "preemptions"),
            resident_gib=self._read_resident_gib(),
            ttft_s=_compute_share(since.compute_growth("first_token_seconds"), since.compute_growth("first_tokens")),
        )

    def _read_resident_gib(self) -> float | None:
        if not self.engine.is_on_cpu:
            return None
        held = [read_resident_gib(one.pid) for one in self._launched if one.pid]
        known = [gib for gib in held if gib is not None]
        return round(sum(known), 3) if known else None

    def _note_stream_rate(self, running: int, tok_s: float | None, prompt_tok_s: float | None) -> None:
        """Record the rate of a single stream while nothing is being prefilled."""
        if running == 1 and tok_s and not prompt_tok_s:
            self._streams = [*self._streams, tok_s][-USUAL_LOOKS:]

    def _describe_slowness(self) -> str:
        if len(self._streams) < USUAL_LOOKS:
            return ""
        usual, newest = median(self._streams), median(self._streams[-NEW_LOOKS:])
        if newest >= SLOW * usual:
            return ""
        return f"slow: {newest:.1f} token/s for one stream, where {usual:.1f} is usual here"


def _select_metrics_urls(engine: Engine, place: int, replicas: int) -> tuple[str, ...]:
    """Return one URL per replica, or all of them for a single replica."""
    if replicas == 1:
        return engine.metrics_urls
    return engine.metrics_urls[place : place + 1]


def _to_timed_sample(replica: ReplicaWatch, sample: EngineSample | None, now: float) -> TimedSample | None:
    return TimedSample(now + replica.late, sample) if sample else None


def _compute_share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else round(part / whole, 4)


def _sum_field(samples: Sequence[EngineSample], name: str) -> int | None:
    known = [value for one in samples if (value := getattr(one, name)) is not None]
    return sum(known) if known else None
