"""The sampler task: samples engines and GPUs as often as somebody needs it, and thins old samples."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from app.errors import EnvironmentUnusable
from app.events.kinds import EngineSampled, Event, GpuSampled
from app.lineups.model import Lineup
from app.machine.gpus.gpu_reading import GpuReading, GpuSource
from app.machine.sampling.engine_watch import EngineWatch
from app.machine.sampling.gpu_mismatch import describe_gpu_mismatches
from app.machine.sampling.machine_event_log_writer import MachineLog
from app.machine.sampling.memory_attribution import KnownEngines, attribute_memory
from app.machine.sampling.role_token_rates import RoleRates
from app.machine.sampling.run_energy import EnergyLedger
from app.machine.sampling.sample_board import Board
from app.machine.sampling.sample_thinning_by_age import RAW_SECONDS, Thinning
from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error
from app.store.events import EventStore
from app.store.periodic_background_task_base import BackgroundTask

log = logging.getLogger(__name__)

PERIOD = 1.0
SELDOM = 10.0
"""Seconds between samples while nothing works: one per step of the finest grid that is kept for a day."""
LOOKING = 10.0
"""Seconds for which a page view counts as watching."""
FORGET_EVERY = 600.0
BOOK_EVERY = 5.0


class Sampler(BackgroundTask):
    name = "sampler"

    def __init__(
        self,
        engines: Sequence[EngineWatch],
        gpus: GpuSource,
        machine: MachineLog,
        board: Board,
        store: EventStore,
        lineup: Lineup,
        busy: Callable[[], bool] = lambda: True,
        followed: Callable[[], bool] = lambda: False,
        looked: Callable[[], None] = lambda: None,
    ) -> None:
        """`busy`: requests are in progress. `followed`: somebody follows the samples. `looked` is called after each."""
        self._engines, self._gpus, self._machine, self._board, self._store = engines, gpus, machine, board, store
        self._lineup, self._ledger, self._busy = lineup, EnergyLedger(store, lineup), busy
        self._followed, self._looked = followed, looked
        self._writing, self._thinning = RoleRates(store), Thinning(store)
        self._forgot = self._booked = float("-inf")
        self._step = -1.0
        """The last sampled step of the SELDOM grid, by wall clock."""

    async def close(self) -> None:
        await super().close()
        await self._gpus.close()

    def is_poll_due_and_remember_time(self, wall_time: float) -> bool:
        step, before = wall_time // SELDOM, self._step
        self._step = step
        return self.needs_every_second or step != before

    async def poll_if_unhealthy_or_news(self) -> None:
        """Ask the engines for their health alone, and sample everything if one is not well or a page has news."""
        with self._measure_polling_time():
            answers = await asyncio.gather(*(engine.are_all_replicas_healthy() for engine in self._engines))
        if not all(answers) or self._board.has_news():
            await self.poll_once()

    @contextmanager
    def _measure_polling_time(self) -> Iterator[None]:
        """Tell the board how long engines and GPUs take to answer. After a poll that fails, none is waited for."""
        now = time.monotonic()
        self._board.polling_since = since = self._board.polling_since or now
        try:
            yield
        finally:
            self._board.polling_since = None
        self._board.polled_at = time.monotonic()
        if self._board.polled_at - now >= PERIOD:  # an engine is still late: the next look waits for it as well
            self._board.polling_since = since

    async def poll_once(self) -> None:
        now = time.monotonic()
        with self._measure_polling_time():
            looks = await asyncio.gather(
                self._read_gpus_and_build_sample_events(),
                *(engine.poll_and_list_events(now) for engine in self._engines),
            )
            self._looked()
        rates: Mapping[str, dict[str, float]] = {}
        if self._has_running_requests():
            rates = await asyncio.to_thread(self._writing.compute_rates_since_last_call, time.monotonic())
        spent = await self._find_spent_energy(now)
        sampled = [_add_role_rates(event, rates) for events in looks for event in events]
        batch = await self._machine.record_and_write_if_leader(*spent, *sampled)  # one commit, which pages react to
        self._board.apply_batch(batch)
        self._board.loaded |= {one.engine.name: one.loaded_memory for one in self._engines if one.loaded_memory}
        if self._machine.is_leader and now - self._forgot >= FORGET_EVERY:
            self._forgot = now
            await asyncio.to_thread(self._thin_and_delete_samples, self._machine.clock())

    async def _find_spent_energy(self, now: float) -> Sequence[Event]:
        if not self._machine.is_leader or self._machine.is_write_blocked or now - self._booked < BOOK_EVERY:
            return ()
        self._booked = now
        return await asyncio.to_thread(self._ledger.compute_and_book_due_records, self._machine.clock())

    def _thin_and_delete_samples(self, now: float) -> None:
        """Thin samples before the raw seconds are deleted."""
        self._thinning.catch_up(now)
        self._store.delete_old_samples_not_kept_for_good(now - RAW_SECONDS)

    def _has_running_requests(self) -> bool:
        return any(event.running for _, event in self._board.engines.values())

    async def _read_gpus_and_build_sample_events(self) -> list[Event]:
        readings = await self._gpus.read()
        self._board.exporters |= {reading.host: reading.source for reading in readings if reading.source}
        seen = {key: event for key, (_, event) in self._board.gpus.items()}
        reasons = [self._gpus.reason, *describe_gpu_mismatches(self._lineup, seen)]
        self._board.gpu_reason = "; ".join(filter(None, reasons))
        known = self._board.collect_engine_knowledge(self._lineup)
        return [_add_memory_by_kind(_to_gpu_sampled(reading), known) for reading in readings]

    async def _run_forever(self) -> None:
        while True:
            began = time.monotonic()
            try:
                if self.is_poll_due_and_remember_time(self._machine.clock()):
                    await self.poll_once()
                elif self.is_watched:
                    await self.poll_if_unhealthy_or_news()
            except EnvironmentUnusable as exc:
                log.error("sampling ends: %s", exc)  # noqa: TRY400  the sentence says it all
                return
            except DATABASE_UNAVAILABLE as exc:
                log.warning("nothing is sampled: %s", shorten_database_error(exc))
            except Exception:
                log.exception("a look at engines and GPUs failed by a fault of ours")
            await asyncio.sleep(PERIOD - (time.monotonic() - began))

    @property
    def is_watched(self) -> bool:
        return self._followed() or time.monotonic() - self._board.shown_at < LOOKING

    @property
    def needs_every_second(self) -> bool:
        """True if samples are needed every second: we use an engine, one is not well, or somebody watches work."""
        well = all(state.state == "ready" for _, state in self._board.states.values())
        works = self._board.has_work() or self._has_running_requests()
        return not well or self._busy() or (self.is_watched and works)


def _to_gpu_sampled(reading: GpuReading) -> GpuSampled:
    shared = {name: getattr(reading, name) for name in GpuSampled.__struct_fields__ if name != "parts"}
    return GpuSampled(**shared | {"ages": dict(reading.ages)})


def _add_memory_by_kind(event: GpuSampled, known: KnownEngines) -> GpuSampled:
    """Add memory by kind, summed over engines."""
    parts: dict[str, float] = defaultdict(float)
    for part in attribute_memory(known, event, ""):
        parts[part.kind] += part.gib
    return replace(event, parts={kind: round(gib, 2) for kind, gib in parts.items() if gib})


def _add_role_rates(event: Event, rates: Mapping[str, dict[str, float]]) -> Event:
    if isinstance(event, EngineSampled) and event.engine in rates:
        return replace(event, roles=rates[event.engine])
    return event
