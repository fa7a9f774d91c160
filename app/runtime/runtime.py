"""The runtime of a process that works on runs: its long-lived parts, and how it drives a run to its end."""

import asyncio
import logging
import os
import secrets
from dataclasses import dataclass, field
from functools import partial

import httpx
import msgspec
from sqlalchemy import Engine

from app.config import Settings
from app.engines.key import key_of
from app.engines.launch.fleet import Fleet
from app.engines.queue import EngineQueues
from app.engines.simulated import Simulator
from app.engines.traffic import EngineTraffic
from app.errors import Fenced, TemperError
from app.events.approvals import ApprovalPolicy
from app.events.bus import Bus
from app.events.kinds import RunFailed, RunQueued, RunResumed
from app.events.log import LogWriter, RunLog
from app.evidence.notary import open_notary
from app.lineups.model import Lineup
from app.loop.drive import drive, give_up
from app.loop.durable import Durable
from app.loop.own_skill import own_skill
from app.loop.run import Means, Run
from app.loop.state import RunState, fold
from app.machine.measuring.free import in_the_way
from app.machine.measuring.gpu_memory import BoardCards
from app.machine.measuring.load import loads
from app.machine.measuring.probe import EngineBusy
from app.machine.measuring.probe_runner import ProbeRunner
from app.machine.measuring.subjects import chosen, subjects
from app.machine.sampling.board import Board
from app.runs.parameters import with_site_values
from app.runs.scanner import lay_out_new, scanner_for
from app.runtime.place import place
from app.runtime.reach import given_away, others_may_reach, passed_on
from app.runtime.seats import seats
from app.scanners.verdict import Verdict
from app.skills.skill import Skill
from app.store import queries
from app.store.before import StoredBefore
from app.store.changes import Changes
from app.store.db import AWAY, why
from app.store.events import EventStore
from app.store.fixes import StoredFixes
from app.store.held import asking
from app.store.host_files import HostFolders
from app.store.inbox import Inboxes
from app.store.leases import Leases
from app.store.lessons import StoredLessons
from app.store.models import RunRow
from app.store.parameters import StoredParameters
from app.store.waivers import StoredWaivers
from app.targets.catalog import open_target
from app.targets.ownership import ALONE, Ownership
from app.targets.registry import is_fixture
from app.targets.thread import TargetThread

NO_FURTHER = 20
"""Consecutive crashes of workers on a run without progress after which the run fails."""
AGAIN_AFTER = 0.5
"""Seconds until a run is retried after the database was unavailable."""
FORWARD = ("run.resumed", "turn.finished", "verdict", "action.applied", "action.rolled_back", "item.started")

log = logging.getLogger("temper")


@dataclass
class Runtime:
    settings: Settings
    lineup: Lineup
    leases: Leases | None
    """Set if other nodes share the database."""
    database: Engine
    store: EventStore
    bus: Bus
    writer: LogWriter
    http: httpx.AsyncClient
    bases: dict[str, tuple[str, ...]]
    """Base URLs of each engine's replicas."""
    board: Board
    simulator: Simulator | None
    """Simulator of the simulated engines; it can be stopped and started while runs wait."""
    launched: Fleet
    """Engines that this process launched or adopted, by replica."""
    traffic: EngineTraffic
    queues: EngineQueues
    """Queues in which turns wait for engines."""
    prober: ProbeRunner
    """Runs engine probes."""
    changes: Changes
    inboxes: Inboxes
    """Deliver commands to the runs in progress."""
    approvals: ApprovalPolicy | None = None
    """Approval policy of runs that begin here."""
    durable: Durable = field(init=False)

    @property
    def name(self) -> str:
        return f"worker {self.leases.node}" if self.leases else f"worker {os.getpid()}"

    @property
    def leads(self) -> bool:
        """Return True if this node runs schedules and webhooks for all nodes."""
        return self.leases is None or bool(self.leases.leads)

    async def submit(self, request: RunQueued, run: str | None = None) -> str:
        run = run or new_run_id()
        RunLog(run, self.writer).append(request)
        await self.writer.flush()
        await self.durable.enqueue(run, request.host)
        return run

    def run_row(self, run: str) -> RunRow | None:
        with asking(self.database) as session:
            return queries.run(session, run)

    def unended(self) -> list[str]:
        with asking(self.database) as session:
            return [row.id for row in queries.unended(session)]

    def idle(self) -> bool:
        """Return True if every run has ended."""
        with asking(self.database) as session:
            return not queries.any_unended(session)

    def same_unended(self, request: RunQueued) -> str | None:
        """Return the id of an interrupted run with the same request, or None."""
        for run in self.unended():
            begun = fold(self.store.events(run, upto=1)).request
            alike = {"note": request.note, "pace": request.pace, "replay_fixes": request.replay_fixes}
            if begun and msgspec.structs.replace(begun, **alike) == request:
                return run
        return None

    def told_of(self, host: str) -> None:
        """Publish a host's registration or removal to the other nodes."""
        if self.leases:
            HostFolders(self.database, self.settings.hosts).keep_registration(host)

    async def scan(self, host: str, skill_name: str) -> tuple[str, list[Verdict]]:
        """Scan a host and return the scanner's name and verdicts; change and record nothing."""
        pack = await asyncio.to_thread(with_site_values, skill_name, host, StoredParameters(self.database))
        target = TargetThread(await asyncio.to_thread(open_target, host, self.settings.hosts))
        try:
            await target.do(lay_out_new)
            scanner = await target.do(lambda target: scanner_for(pack, target, self.settings.hosts))
            return scanner.name, await scanner.scan(await target.do(lambda target: target.files), tuple(pack.rules))
        finally:
            await target.close()

    async def probe(self, engine: str) -> None:
        """Start to probe one engine, or all if empty. Raise EngineBusy while a run works."""
        if reason := await asyncio.to_thread(self._at_work):
            raise EngineBusy(reason)
        engines, cards = chosen(self.lineup, engine), BoardCards(self.board)
        pace, loaded = self.settings.speed, loads(self.launched)
        self.prober.start(
            subjects(self.lineup, engines, self.bases, self.http, cards, pace, key_of, self.traffic, loaded)
        )

    def _at_work(self) -> str:
        return in_the_way(fold(self.store.steady(run)) for run in self.unended())

    async def work_on(self, run_id: str, epoch: int) -> None:
        """Resume a run from its log and drive it to its end. An unavailable database is handled like a crash."""
        while True:
            try:
                if await asyncio.to_thread(passed_on, self.database, self.leases, self.durable, run_id, epoch):
                    return None
                await self._work_on(run_id, epoch)
                return await asyncio.to_thread(self._seal, run_id)
            except Fenced:
                return log.warning("run %s goes on at another node", run_id)
            except AWAY as exc:
                log.warning("run %s is taken up again in a moment: %s", run_id, why(exc))
            except TemperError:
                if not self.writer.broken.is_set():
                    raise
                # Never return, so the run stays queued: this process is ending, and the next one resumes the run.
                await asyncio.get_running_loop().create_future()
            await asyncio.sleep(AGAIN_AFTER)
            await self.writer.flush()

    async def _work_on(self, run_id: str, epoch: int) -> None:
        try:
            run = await asyncio.to_thread(self._take_up, run_id, epoch)
        except TemperError as exc:
            await self._fail(await asyncio.to_thread(self._log, run_id), str(exc))
            return None
        try:
            if await asyncio.to_thread(self._ends_whoever_takes_it, run_id):
                reason = f"whoever worked on it ended, {NO_FURTHER} times in a row, without one step forward"
                return await self._fail(run.log, reason)
            if run.state.request and run.state.request.keep:
                await run.means.target.do(lay_out_new)
            with self.inboxes.opened(run_id) as inbox:
                await drive(run, inbox)
        except (Fenced, TemperError, *AWAY):
            raise
        except Exception as exc:
            log.exception("run %s failed by a fault of ours", run_id)
            await give_up(run, f"a fault of Temper's own: {type(exc).__name__}; its log has the details")
        finally:
            await run.means.target.close()

    def _seal(self, run_id: str) -> None:
        """Record the log's length in the audit log if the run has ended, so that truncation is detected."""
        with asking(self.database) as session:
            row = queries.run(session, run_id)
            ended = row is not None and row.ended_at is not None
        if ended:
            open_notary(self.settings.data, self.database).ended(run_id)

    async def _fail(self, run: RunLog, reason: str) -> None:
        run.append(RunFailed(reason=reason))
        await run.flush()

    def _log(self, run_id: str) -> RunLog:
        last = self.store.last(run_id)
        assert last
        return RunLog(run_id, self.writer, last)

    def _ends_whoever_takes_it(self, run_id: str) -> bool:
        last = self.store.newest(run_id, None, FORWARD, NO_FURTHER)
        return sum(isinstance(one.event, RunResumed) and one.event.after_crash for one in last) == NO_FURTHER

    def _take_up(self, run_id: str, epoch: int) -> Run:
        owned = self._owned(run_id, epoch)
        state = fold(self.store.brief(run_id))
        assert state.request
        pack = self._skill(state)
        target = open_target(state.request.host, self.settings.hosts, owned)
        target.needs(path for rule in state.request.rules if rule in pack.rules for path in pack.rules[rule].paths)
        means = Means(
            skill=pack,
            target=TargetThread(target),
            scanner=scanner_for(pack, target, self.settings.hosts),
            seats=seats(self.lineup, self.bases, self.http, self.queues, traced=bool(self.settings.otlp)),
            lessons=StoredLessons(self.database),
            worker=self.name,
            before=StoredBefore(self.database, self.store, run_id),
            waivers=StoredWaivers(self.database),
            fixes=StoredFixes(self.database, run_id),
            approvals=self.approvals,
        )
        return Run(state, self._log(run_id), means)

    def _skill(self, state: RunState) -> Skill:
        """Return the skill that the run started with, or before its start, the skill with the host's site values."""
        assert state.request
        if state.started:
            return own_skill(state)
        return with_site_values(state.request.skill, state.request.host, StoredParameters(self.database))

    def _owned(self, run_id: str, epoch: int) -> Ownership:
        """Take the run's lease if nodes share the database. A read-only run does not claim the host."""
        if not self.leases:
            return ALONE
        begun = fold(self.store.events(run_id, upto=1)).request
        assert begun
        host = begun.host
        claim = self.leases.take(run_id, host, epoch, place(self.settings.data) if is_fixture(host) else "")
        self.writer.lost.discard(run_id)
        files = HostFolders(self.database, self.settings.hosts)
        return Ownership(
            fence=self.leases.fence(run_id),
            claim=claim if begun.mode in ("auto", "review") else 0,
            bring=partial(files.bring, host),
            keep=partial(files.keep, host, self.leases.held(run_id)),
            yields=partial(given_away, self.database, self.leases, self.durable, run_id),
            hurried=others_may_reach(self.database, self.leases, run_id),
        )


def new_run_id() -> str:
    return secrets.token_hex(4)
