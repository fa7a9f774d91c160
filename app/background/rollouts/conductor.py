"""The one task that leads rollouts: it begins their runs in turn, notes how they end, and holds where the rule says."""

import asyncio

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
from app.store import queries
from app.store.rollouts import RolloutJournal, asked, events_of, journal, runs_of, unended_rollouts
from app.store.rounds import Rounds


class Conductor(Rounds):
    name, every, without = "rollouts", 0.5, "rollouts are not led"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._states: dict[str, RolloutState] = {}
        """What was folded stays right: a chain is only added to."""

    async def look(self) -> None:
        """Every rollout as far as it goes now."""
        for rollout in await asyncio.to_thread(self._unended):
            while written := await asyncio.to_thread(self._forward, rollout):
                self._runtime.bus.publish(written)
                for begun in written:
                    if isinstance(begun.event, RolloutHostBegun):
                        await self._runtime.durable.enqueue(begun.event.of, begun.event.host)

    async def _round(self) -> None:
        if self._runtime.leads:
            await self.look()

    def _unended(self) -> list[str]:
        with Session(self._runtime.database) as session:
            found = [row.id for row in unended_rollouts(session)]
        self._states = {rollout: state for rollout, state in self._states.items() if rollout in found}
        return found

    def _forward(self, rollout: str) -> list[Recorded]:
        """One step, decided and written in one transaction: a second who leads finds it done."""
        if self._decided(rollout) is None:
            return []  # looked at without holding anybody up
        with journal(self._runtime.database, rollout) as chain:
            state = self._fold(chain.session, rollout)
            step = self._step(chain.session, state)
            if step is not None:
                self._take(chain, state, step)
        return chain.written

    def _decided(self, rollout: str) -> RolloutStep | None:
        with Session(self._runtime.database) as session:
            return self._step(session, self._fold(session, rollout))

    def _fold(self, session: Session, rollout: str) -> RolloutState:
        kept = self._states.get(rollout, RolloutState())
        state = self._states[rollout] = fold_rollout(events_of(session, rollout, kept.seq), kept)
        return state

    def _step(self, session: Session, state: RolloutState) -> RolloutStep | None:
        runs = [part.run for part in state.at_work]
        busy = {run.host for run in queries.unended(session)}
        verb = "stop" if state.status == "stopping" else "pause"
        told = asked(session, runs, verb, signature(state.rollout), state.since)
        return next_step(state, runs_of(session, runs), busy, told)

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
