"""One engine across its replicas: state changes and samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import httpx

from app.engines.engine_metrics import EngineSample, compute_growth, compute_rate, merge_samples
from app.engines.launch.launched_replica import LaunchedReplica
from app.engines.replica_choice import EngineTraffic
from app.events.kinds import EngineSampled, EngineState, Event
from app.lineups.model import Engine
from app.machine.gpus.host_memory import find_resident_gib
from app.machine.sampling.engine_replica_watch import ReplicaWatch
from app.machine.sampling.engine_state_transitions import choose_best_condition_or_degraded_if_some_serve
from app.machine.sampling.memory_attribution import LoadedMemory

SLOW = 0.4
"""Share of its usual rate for one stream."""
USUAL_LOOKS, NEW_LOOKS = 30, 5
LONGEST = 15.0
"""Seconds after which an earlier sample is not comparable. Idle engines are sampled every ten seconds or so."""


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
                # a lone replica has all of them
                metrics_urls=engine.metrics_urls[place : place + 1] if len(bases) > 1 else engine.metrics_urls,
                launched=launched[place] if launched else None,
            )
            for place, base in enumerate(bases)
        ]
        self._launched = launched
        self._told: EngineState | None = None
        self._before: list[TimedSample | None] = [None] * len(bases)
        self._streams: list[float] = []

    async def are_all_replicas_healthy(self) -> bool:
        """Return whether every replica says that it is healthy; this costs less than a sample."""
        return all([await replica.answers_health() for replica in self._replicas])

    async def poll_and_list_events(self, now: float) -> list[Event]:
        samples = [await replica.poll_and_read_counters(now) for replica in self._replicas]
        events: list[Event] = []
        sampled = self._merge_and_remember_samples(now, samples)
        state = self._build_state()
        if state != self._told:
            self._told = state
            events.append(state)
        return [*events, sampled] if sampled else events

    @property
    def loaded_memory(self) -> LoadedMemory | None:
        """Memory according to the first replica's log; the others take the same."""
        names = ("weights loaded", "memory profiled", "graphs captured")
        figures = [self._launched[0].cold.find_figure(name) if self._launched else None for name in names]
        return LoadedMemory(*figures) if figures[0] is not None else None

    def _build_state(self) -> EngineState:
        conditions = [replica.condition for replica in self._replicas]
        whole = choose_best_condition_or_degraded_if_some_serve(conditions)
        loading = [replica for replica in self._replicas if replica.eta_s is not None]
        return EngineState(
            engine=self.engine.name,
            state=whole.state,
            detail=whole.detail or (self._describe_slowdown_from_usual() if whole.state == "ready" else ""),
            share=min((one.share for one in loading if one.share is not None), default=None),
            eta_s=max((one.eta_s for one in loading if one.eta_s is not None), default=None),
            replicas=tuple(one.state for one in conditions) if len(conditions) > 1 else (),
        )

    def _merge_and_remember_samples(self, now: float, samples: Sequence[EngineSample | None]) -> EngineSampled | None:
        looks = [
            TimedSample(now + replica.late, sample) if sample else None
            for replica, sample in zip(self._replicas, samples, strict=True)
        ]
        since = CounterGrowth(self._before, looks)
        # A sample that a busy engine missed is skipped: the next rate then covers the whole time.
        self._before = [new or old for new, old in zip(looks, self._before, strict=True)]
        present = [one for one in samples if one]
        if not present:
            return None
        whole = merge_samples(present)
        tok_s, prompt_tok_s = since.compute_rate("generation_tokens"), since.compute_rate("prompt_tokens")
        self._note_single_stream_rate(whole.running or 0, tok_s, prompt_tok_s)
        accepted, drafts = since.compute_growth("accepted_tokens"), since.compute_growth("drafts")
        return EngineSampled(
            engine=self.engine.name,
            running=whole.running or 0,
            waiting=whole.waiting or 0,
            kv_used=whole.kv_used,
            tok_s=tok_s,
            prompt_tok_s=prompt_tok_s,
            simulated=self.engine.simulation is not None,
            foreign=sum(self._traffic.count_requests_of_other_processes(replica.base) for replica in self._replicas),
            kv_tokens=whole.kv_tokens,
            acceptance_rate=since.compute_share("accepted_tokens", "draft_tokens"),
            acceptance_length=None if accepted is None or not drafts else round(1 + accepted / drafts, 3),
            cached_share=since.compute_share("prefix_hits", "prefix_queries"),
            prefix_hit_rate=_compute_share(whole.prefix_hits, whole.prefix_queries),
            preemptions=whole.preemptions,
            resident_gib=self._find_cpu_engine_main_memory_gib(),
            ttft_s=since.compute_share("first_token_seconds", "first_tokens"),
        )

    def _find_cpu_engine_main_memory_gib(self) -> float | None:
        if not self.engine.is_on_cpu:
            return None
        held = [find_resident_gib(one.pid) for one in self._launched if one.pid]
        known = [gib for gib in held if gib is not None]
        return round(sum(known), 3) if known else None

    def _note_single_stream_rate(self, request_count: int, tok_s: float | None, prompt_tok_s: float | None) -> None:
        """Record the rate of a single stream while nothing is being prefilled."""
        if request_count == 1 and tok_s and not prompt_tok_s:
            self._streams = [*self._streams, tok_s][-USUAL_LOOKS:]

    def _describe_slowdown_from_usual(self) -> str:
        if len(self._streams) < USUAL_LOOKS:
            return ""
        usual, newest = median(self._streams), median(self._streams[-NEW_LOOKS:])
        if newest >= SLOW * usual:
            return ""
        return f"slow: {newest:.1f} token/s for one stream, where {usual:.1f} is usual here"


def _compute_share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else round(part / whole, 4)


@dataclass(frozen=True)
class TimedSample:
    at: float
    sample: EngineSample


@dataclass(frozen=True)
class CounterGrowth:
    """Growth of an engine's counters between two samples, over all replicas; a restarted replica counts from 0."""

    before: Sequence[TimedSample | None]
    now: Sequence[TimedSample | None]

    def compute_rate(self, name: str) -> float | None:
        rates = [compute_rate(old, new, seconds) for old, new, seconds in self._iterate_old_and_new_counts(name)]
        known = [one for one in rates if one is not None]
        return round(sum(known), 2) if known else None

    def compute_growth(self, name: str) -> float | None:
        grown = [compute_growth(old, new) for old, new, _ in self._iterate_old_and_new_counts(name)]
        known = [one for one in grown if one is not None]
        return sum(known) if known else None

    def compute_share(self, part: str, whole: str) -> float | None:
        return _compute_share(self.compute_growth(part), self.compute_growth(whole))

    def _iterate_old_and_new_counts(self, name: str) -> Iterator[tuple[float | None, float | None, float]]:
        """Yield each replica's count before and now, and the seconds between."""
        for old, new in zip(self.before, self.now, strict=True):
            if old and new and new.at - old.at <= LONGEST:
                yield getattr(old.sample, name), getattr(new.sample, name), new.at - old.at
