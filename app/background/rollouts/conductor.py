"""The task that runs rollouts: it begins their runs, records how they end and pauses when the rule says so."""

import asyncio
from dataclasses import dataclass

from sqlmodel import Session

from app.errors import TemperError
from app.events.kinds import RolloutEnded, RolloutHostBegun, RolloutHostLeft, RolloutPaused
from app.events.record import Recorded
from app.runs.rollout.asked import order_for, request_of
from app.runs.rollout.command import signature
from app.runs.rollout.decide import (
    Begin,
    Conclude,
    HoldBack,
    NoteEnd,
    NoteWave,
    PauseRuns,
    RolloutStep,
    StopRuns,
    next_step,
)
from app.runs.rollout.state import RolloutState, fold_rollout
from app.runtime.runtime import Runtime, new_run_id
from app.store.db import singly
from app.store.models import RunRow
from app.store.queries import busy_hosts
from app.store.rollouts import RolloutJournal, asked, events_of, journal, runs_of, unended_rollouts
from app.store.rounds import Rounds

MOST_STEPS = 50
"""Maximum steps in one transaction; commands to the rollout wait for its end."""


@dataclass(frozen=True)
class _Seen:
    """The runs and hosts that a step depends on besides the rollout's state."""

    runs: dict[str, RunRow]
    busy: set[str]
    told: set[str]

    def step(self, state: RolloutState) -> RolloutStep | None:
        return next_step(state, self.runs, self.busy, self.told)


class Conductor(Rounds):
    name, every, without = "rollouts", 0.5, "rollouts are not led"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._states: dict[str, RolloutState] = {}
        """Folded states by rollout. They stay valid because a chain only grows."""
        self._any, self._seen = True, -1
        """Whether unended rollouts may exist, and the database version at the last check."""

    async def look(self) -> None:
        """Advance every unended rollout as far as possible."""
        for rollout in await asyncio.to_thread(self._unended):
            while written := await asyncio.to_thread(self._forward, rollout):
                self._runtime.bus.publish(written)
                for begun in written:
                    if isinstance(begun.event, RolloutHostBegun):
                        await self._runtime.durable.enqueue(begun.event.of, begun.event.host)

    async def _round(self) -> None:
        version, before = self._runtime.changes.version(), self._seen
        if self._runtime.leads and (self._any or version != before):
            self._seen, self._any = version, True  # until a look has finished
            await self.look()

    def _unended(self) -> list[str]:
        with Session(singly(self._runtime.database)) as session:
            found = [row.id for row in unended_rollouts(session)]
        self._any = bool(found)
        self._states = {rollout: state for rollout, state in self._states.items() if rollout in found}
        return found

    def _forward(self, rollout: str) -> list[Recorded]:
        """Decide and write steps in one transaction, so that a second leader does not repeat them."""
        if self._decided(rollout) is None:
            return []  # decided without the journal's lock
        with journal(self._runtime.database, rollout) as chain:
            state = self._fold(chain.session, rollout)
            seen = _seen(chain.session, state)
            for _ in range(MOST_STEPS):
                step, before = seen.step(state), len(chain.written)
                if step is None:
                    break
                self._take(chain, state, step)
                if not isinstance(step, Begin | NoteEnd | NoteWave):
                    break  # the snapshot is outdated after this step
                state = fold_rollout((line for line in chain.written[before:] if line.run == rollout), state)
        return chain.written

    def _decided(self, rollout: str) -> RolloutStep | None:
        with Session(self._runtime.database) as session:
            state = self._fold(session, rollout)
            return _seen(session, state).step(state)

    def _fold(self, session: Session, rollout: str) -> RolloutState:
        kept = self._states.get(rollout, RolloutState())
        state = self._states[rollout] = fold_rollout(events_of(session, rollout, kept.seq), kept)
        return state

    def _take(self, chain: RolloutJournal, state: RolloutState, step: RolloutStep) -> None:
        match step:
            case Begin(host=host, wave=wave):
                self._begin(chain, state, host, wave)
            case NoteEnd(ended=ended) | NoteWave(ended=ended):
                chain.append(ended)
            case HoldBack(reason=reason):
                chain.append(RolloutPaused(by="rule", reason=reason))
            case PauseRuns(runs=runs):
                chain.ask(runs, "pause", signature(state.rollout), state.reason)
            case StopRuns(runs=runs):
                chain.ask(runs, "stop", signature(state.rollout), state.reason)
            case Conclude(state=ended):
                chain.append(RolloutEnded(state=ended))

    def _begin(self, chain: RolloutJournal, state: RolloutState, host: str, wave: int) -> None:
        assert state.asked
        settings = self._runtime.settings
        try:
            order = order_for(state.asked, state.rollout)
            request = request_of(order, host, self._runtime.lineup, settings.hosts)
        except TemperError as exc:
            chain.append(RolloutHostLeft(host=host, reason=str(exc)))
            return
        run = new_run_id()
        chain.append(RolloutHostBegun(host=host, of=run, wave=wave))
        chain.begin(run, request)


def _seen(session: Session, state: RolloutState) -> _Seen:
    runs = [part.run for part in state.at_work]
    verb = "stop" if state.status == "stopping" else "pause"
    told = asked(session, runs, verb, signature(state.rollout), state.since) if state.status != "running" else set()
    return _Seen(runs_of(session, runs), busy_hosts(session), told)
