"""The energy of a run: GPU-seconds and joules, computed while samples exist, and recorded before they expire."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from app.events.kinds import EnergySpent, GpuSampled, RunQueued, TurnFinished, TurnInterrupted, TurnStarted
from app.events.record import Recorded
from app.lineups.model import Gpu, Lineup
from app.machine.sampling.gpu_energy import GAP, build_power_curves
from app.machine.sampling.role_energy import TurnSpan, merge_role_energy, share_energy_among_roles
from app.store.events import EventStore, RunSpan

BOOK_EVERY = 600.0
SETTLED = 2.0
"""Seconds after a run's end until its last samples are written."""
REACH = 6 * 3600.0
"""Seconds for which samples are kept."""
_LONGEST_TURN = 3600.0
_EDGES = ("turn.started", "turn.finished", "turn.interrupted")
_WORK = ("turn.started", "turn.delta")


@dataclass(frozen=True)
class _Observed:
    turns: Sequence[TurnSpan]
    samples: Sequence[Recorded]


class EnergyLedger:
    def __init__(self, store: EventStore, lineup: Lineup) -> None:
        self._store, self._lineup = store, lineup
        self._books: dict[str, EnergySpent | None] = {}

    def compute_and_book_due_records(self, now: float) -> list[EnergySpent]:
        """Return the records to write now: of runs that ended, and of a further interval of long runs."""
        spans = self._store.list_run_spans(now - REACH, now)
        self._forget_old_records(spans)
        self._load_energy_records(spans)
        due = [span for span in spans if self._is_due(span, now)]
        # Turns and samples are read for all due runs at once: concurrent runs share them.
        seen = self._read_turns_and_samples(min(map(self._get_unrecorded_start, due)), now) if due else None
        found = [one for span in due if (one := self._compute_total_span_energy(span, now, seen))]
        self._books |= {one.of: one for one in found}
        return found

    def compute_run_energy(self, run: str, now: float | None = None) -> EnergySpent | None:
        """Return a run's energy up to `now`, or None if it has not started or ran on another line-up."""
        if (span := self._store.find_run_span(run)) is None:
            return None
        self._load_energy_records([span])
        return self._compute_total_span_energy(span, time.time() if now is None else now)

    def find_simulation_pace(self, run: str) -> float | None:
        """Return the pace of simulated engines, or None for real ones."""
        first = next(self._store.read_events(run, upto=1), None)
        return first.event.pace if first and isinstance(first.event, RunQueued) else None

    def _forget_old_records(self, spans: Sequence[RunSpan]) -> None:
        """Forget the records of runs that ended long ago; they are read again if somebody asks."""
        recent = {span.run for span in spans}
        self._books = {run: one for run, one in self._books.items() if run in recent}

    def _load_energy_records(self, spans: Sequence[RunSpan]) -> None:
        """Load the records of all runs at once: a new leader may face a thousand runs."""
        new = {span.run: span.started_at for span in spans if span.run not in self._books}
        self._books |= dict.fromkeys(new)
        for one in self._store.read_samples(min(new.values()), inf, ("energy.sample",)) if new else ():
            if isinstance(one.event, EnergySpent) and one.event.of in new:
                self._books[one.event.of] = one.event

    def _is_due(self, span: RunSpan, now: float) -> bool:
        booked = self._books.get(span.run)
        if span.lineup != self._lineup.name or (booked and booked.final):
            return False
        if span.ended_at:
            return now - span.ended_at >= SETTLED
        return now - self._get_unrecorded_start(span) >= BOOK_EVERY

    def _read_turns_and_samples(self, since: float, until: float) -> _Observed:
        spans = self._store.list_run_spans(since, until)
        turns = [turn for span in spans for turn in self._read_turns(span, since, until)]
        return _Observed(turns, self._store.read_samples(since - GAP, until + GAP, ("gpu.sample",)))

    def _get_unrecorded_start(self, span: RunSpan) -> float:
        """Return until when a run's energy is recorded."""
        booked = self._books.get(span.run)
        return booked.until if booked else span.started_at

    def _compute_total_span_energy(
        self, span: RunSpan, now: float, turns_and_samples: _Observed | None = None
    ) -> EnergySpent | None:
        booked = self._books.get(span.run)
        if booked and booked.final:
            return booked
        if span.lineup != self._lineup.name:
            return None
        since, until = self._get_unrecorded_start(span), min(span.ended_at or now, now)
        turns_and_samples = turns_and_samples or self._read_turns_and_samples(since, until)
        samples = [one for one in turns_and_samples.samples if since - GAP <= one.at <= until + GAP]
        turns = [turn for turn in turns_and_samples.turns if turn.start <= until and turn.end > since]
        gpus = sorted(
            {
                gpu.key
                for engine in self._lineup.engines.values()
                for gpu in self._select_only_gpus_with_indices(engine.gpus)
            }
        )
        played = any(isinstance(one.event, GpuSampled) and one.event.simulated for one in samples)
        more = share_energy_among_roles(span.run, turns, build_power_curves(samples), gpus, since, until)
        return EnergySpent(
            of=span.run,
            until=until,
            final=span.ended_at is not None,
            simulated=played or bool(booked and booked.simulated),
            spent=merge_role_energy(booked.spent if booked else (), more),
        )

    def _read_turns(self, span: RunSpan, since: float, until: float) -> Iterator[TurnSpan]:
        if span.lineup != self._lineup.name:
            return
        begun: tuple[float, TurnStarted] | None = None
        for one in self._store.read_events(span.run, kinds=_EDGES, since=since - _LONGEST_TURN):
            if isinstance(one.event, TurnStarted):
                begun = one.at, one.event
            elif begun:
                tokens = one.event.completion_tokens if isinstance(one.event, TurnFinished) else 0
                yield self._to_turn_span(span, *begun, self._get_turn_end(one), tokens)
                begun = None
        if begun:
            yield self._to_turn_span(span, *begun, span.ended_at or until, 0)

    def _get_turn_end(self, end_event: Recorded) -> float:
        """Return when a turn ended: a turn interrupted by a crash ended with its last token."""
        if not isinstance(end_event.event, TurnInterrupted):
            return end_event.at
        newest = self._store.read_events_of_kinds_newest_first(end_event.run, end_event.seq, _WORK, 1)
        return newest[0].at if newest else end_event.at

    def _to_turn_span(self, span: RunSpan, start: float, event: TurnStarted, end: float, tokens: int) -> TurnSpan:
        engine = self._lineup.engines.get(event.engine)
        replicas = engine.replicas if engine else ()
        indices = replicas[event.replica] if event.replica < len(replicas) else engine.gpus if engine else ()
        return TurnSpan(
            span.run,
            event.role,
            tuple(gpu.key for gpu in self._select_only_gpus_with_indices(indices)),
            start,
            end,
            tokens,
        )

    def _select_only_gpus_with_indices(self, indices: tuple[int, ...]) -> list[Gpu]:
        return [gpu for gpu in self._lineup.gpus if gpu.index in indices]
