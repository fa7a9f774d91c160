"""The task that runs rollouts: it begins their runs, records how they end and pauses when the rule says so."""

import asyncio
from dataclasses import dataclass

from sqlmodel import Session

from app.errors import TemperError
from app.events.kinds import RolloutHostBegun, RolloutHostEnded, RolloutHostLeft, RolloutWaveEnded
from app.events.record import Recorded
from app.runs.rollout import next_rollout_step as steps
from app.runs.rollout.rollout_request import build_host_run_request, create_order_without_host
from app.runs.rollout.rollout_state import RolloutState, fold_rollout
from app.runs.rollout.rollout_submission_and_commands import format_rollout_command_author
from app.runtime.runtime import Runtime, create_random_run_id
from app.store import rollouts
from app.store.db import use_autocommit_if_shared
from app.store.models import RunRow
from app.store.periodic_background_task_base import PeriodicTask
from app.store.run_queries import list_hosts_with_unended_runs

MOST_STEPS = 50
"""Maximum steps in one transaction; commands to the rollout wait for its end."""


@dataclass(frozen=True)
class _RunSnapshot:
    """The runs and hosts that a step depends on besides the rollout's state."""

    runs: dict[str, RunRow]
    busy: set[str]
    commanded: set[str]

    def decide_step(self, state: RolloutState) -> steps.RolloutStep | None:
        return steps.decide_next_step(state, self.runs, self.busy, self.commanded)


class RolloutController(PeriodicTask):
    name, every, consequence = "rollouts", 0.5, "rollouts do not advance"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._states: dict[str, RolloutState] = {}
        """Folded states by rollout. They stay valid because a chain only grows."""
        self._any, self._seen = True, -1
        """Whether unended rollouts may exist, and the database version at the last check."""

    async def advance_each_rollout_until_it_waits(self) -> None:
        for rollout in await asyncio.to_thread(self._list_unended_and_prune_states):
            while written := await asyncio.to_thread(self._advance_rollout, rollout):
                self._runtime.bus.publish(written)
                self._runtime.offers.request_offer_round()

    async def _run_once(self) -> None:
        version, before = self._runtime.changes.version(), self._seen
        if self._runtime.is_leader and (self._any or version != before):
            self._seen, self._any = version, True  # until a look has finished
            await self.advance_each_rollout_until_it_waits()

    def _list_unended_and_prune_states(self) -> list[str]:
        with Session(use_autocommit_if_shared(self._runtime.database)) as session:
            found = [row.id for row in rollouts.list_unended_rollouts(session)]
        self._any = bool(found)
        self._states = {rollout: state for rollout, state in self._states.items() if rollout in found}
        return found

    def _advance_rollout(self, rollout: str) -> list[Recorded]:
        """Decide and write steps in one transaction, so that a second leader does not repeat them."""
        if self._decide_step(rollout) is None:
            return []  # decided without the journal's lock
        with rollouts.open_rollout_journal(self._runtime.database, rollout) as chain:
            state = self._fold_state(chain.session, rollout)
            seen = _read_runs_busy_hosts_and_commands(chain.session, state)
            for _ in range(MOST_STEPS):
                step, before = seen.decide_step(state), len(chain.written)
                if step is None:
                    break
                self._apply_step(chain, state, step)
                if not isinstance(step, steps.BeginHost | RolloutHostEnded | RolloutWaveEnded):
                    break  # the snapshot is outdated after this step
                state = fold_rollout((line for line in chain.written[before:] if line.run == rollout), state)
        return chain.written

    def _decide_step(self, rollout: str) -> steps.RolloutStep | None:
        with Session(self._runtime.database) as session:
            state = self._fold_state(session, rollout)
            return _read_runs_busy_hosts_and_commands(session, state).decide_step(state)

    def _fold_state(self, session: Session, rollout: str) -> RolloutState:
        kept = self._states.get(rollout, RolloutState())
        state = self._states[rollout] = fold_rollout(rollouts.read_rollout_events(session, rollout, kept.seq), kept)
        return state

    def _apply_step(self, chain: rollouts.RolloutJournal, state: RolloutState, step: steps.RolloutStep) -> None:
        match step:
            case steps.BeginHost(host=host, wave=wave):
                self._begin_run(chain, state, host, wave)
            case steps.CommandRuns(verb=verb, runs=runs):
                chain.send_command(runs, verb, format_rollout_command_author(state.rollout), state.reason)
            case event:
                chain.append(event)

    def _begin_run(self, chain: rollouts.RolloutJournal, state: RolloutState, host: str, wave: int) -> None:
        assert state.asked
        settings = self._runtime.settings
        try:
            order = create_order_without_host(state.asked, state.rollout)
            request = build_host_run_request(order, host, self._runtime.lineup, settings.hosts_folder)
        except TemperError as exc:
            chain.append(RolloutHostLeft(host=host, reason=str(exc)))
            return
        run = create_random_run_id()
        chain.append(RolloutHostBegun(host=host, of=run, wave=wave))
        chain.add_first_event_of_queued_run(run, request)


def _read_runs_busy_hosts_and_commands(session: Session, state: RolloutState) -> _RunSnapshot:
    runs = [part.run for part in state.parts_at_work]
    verb = "stop" if state.status == "stopping" else "pause"
    commanded: set[str] = set()
    if state.status != "running":
        by = format_rollout_command_author(state.rollout)
        commanded = rollouts.find_commanded_runs(session, runs, verb, by, state.since)
    return _RunSnapshot(rollouts.find_runs_by_id(session, runs), list_hosts_with_unended_runs(session), commanded)
