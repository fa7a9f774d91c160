"""What a process that works on runs holds for as long as it lives, built in order and closed in reverse."""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import httpx
import msgspec
from sqlalchemy import Engine
from sqlmodel import Session

from app.config import Settings
from app.engines.key import key_of
from app.engines.launch.fleet import Fleet
from app.engines.simulated import Simulator
from app.engines.traffic import Traffic
from app.errors import Fenced, TemperError
from app.events.bus import Bus
from app.events.kinds import RunFailed, RunQueued, RunResumed
from app.events.log import LogWriter, RunLog
from app.lineup import Lineup
from app.loop.drive import drive
from app.loop.durable import Durable
from app.loop.run import Means, Run
from app.loop.state import fold
from app.node import Node, new_name
from app.probing.cards import BoardCards
from app.probing.desk import Desk
from app.probing.free import in_the_way
from app.probing.kept import keep
from app.probing.load import loads
from app.probing.probe import Busy
from app.probing.probed import Probed
from app.probing.subjects import chosen, subjects
from app.sampling.board import Board
from app.sampling.opened import sampled
from app.scanners.verdict import Verdict
from app.scanning import lay_out_new, scanner_for
from app.seating import seats
from app.skills.catalog import skill
from app.store import queries
from app.store.before import StoredBefore
from app.store.db import alone, open_database, shared
from app.store.events import EventStore
from app.store.inbox import StoredInbox
from app.store.leases import Leases
from app.store.lessons import StoredLessons
from app.store.models import RunRow
from app.store.notices import Notices
from app.targets.catalog import open_target
from app.targets.lock import no_fence

NO_FURTHER = 20
"""Ends of whoever worked on a run, in a row and without one step forward, after which it is given up."""
FORWARD = ("run.resumed", "turn.finished", "verdict", "action.applied", "action.rolled_back", "item.started")

log = logging.getLogger("temper")


@dataclass
class Worker:
    settings: Settings
    lineup: Lineup
    leases: Leases | None
    """Where other nodes may take a run over."""
    database: Engine
    store: EventStore
    bus: Bus
    writer: LogWriter
    http: httpx.AsyncClient
    bases: dict[str, tuple[str, ...]]
    """Engine name to the base URLs of its replicas."""
    board: Board
    simulator: Simulator | None
    """What plays the simulated engines; it may be stopped and started while runs wait."""
    launched: Fleet
    """The engines that this process started or took over, replica by replica."""
    traffic: Traffic
    desk: Desk
    """Where engines are probed."""
    durable: Durable = field(init=False)

    @property
    def name(self) -> str:
        return f"worker {self.leases.node}" if self.leases else f"worker {os.getpid()}"

    @property
    def leads(self) -> bool:
        """It keeps schedules and webhooks for all the nodes of its database."""
        return self.leases is None or self.leases.leads

    async def submit(self, request: RunQueued, run: str | None = None) -> str:
        run = run or new_run_id()
        RunLog(run, self.writer).append(request)
        await self.writer.flush()
        await self.durable.enqueue(run, request.host)
        return run

    def run_row(self, run: str) -> RunRow | None:
        with Session(self.database, expire_on_commit=False) as session:
            return queries.run(session, run)

    def unended(self) -> list[str]:
        with Session(self.database) as session:
            return [row.id for row in queries.unended(session)]

    def same_unended(self, request: RunQueued) -> str | None:
        """The run that was cut off, when it is what is asked for again."""
        for run in self.unended():
            begun = fold(self.store.events(run, upto=1)).request
            if begun and msgspec.structs.replace(begun, note=request.note, pace=request.pace) == request:
                return run
        return None

    async def scan(self, host: str, skill_name: str) -> tuple[str, list[Verdict]]:
        """The scanner's name and its verdicts on a host as it stands now; nothing is changed or recorded."""
        pack = skill(skill_name)
        target = await asyncio.to_thread(open_target, host, self.settings.hosts)
        try:
            scanner = scanner_for(pack, target, self.settings.hosts)
            await lay_out_new(target)
            return scanner.name, await scanner.scan(target.files, tuple(pack.rules))
        finally:
            await target.close()

    async def probe(self, engine: str) -> None:
        """Begin to probe an engine, or all where none is named; refused while a run works."""
        if reason := await asyncio.to_thread(self._at_work):
            raise Busy(reason)
        engines, cards = chosen(self.lineup, engine), BoardCards(self.board)
        pace, loaded = self.settings.speed, loads(self.launched)
        self.desk.start(
            subjects(self.lineup, engines, self.bases, self.http, cards, pace, key_of, self.traffic, loaded)
        )

    def _at_work(self) -> str:
        return in_the_way(fold(self.store.steady(run)) for run in self.unended())

    async def work_on(self, run_id: str, epoch: int) -> None:
        """Take a run from wherever its log stands to its end."""
        try:
            run = await asyncio.to_thread(self._take_up, run_id, epoch)
        except Fenced:
            return
        try:
            if await asyncio.to_thread(self._ends_whoever_takes_it, run_id):
                reason = f"whoever worked on it ended, {NO_FURTHER} times in a row, without one step forward"
                run.append(RunFailed(reason=reason))
                await run.log.flush()
                return
            if run.state.request and run.state.request.keep:
                await lay_out_new(run.means.target)
            await drive(run, StoredInbox(self.database, run_id))
        except Fenced:
            log.warning("run %s goes on at another node", run_id)
        except TemperError:
            raise
        except Exception as exc:
            log.exception("run %s failed by a fault of ours", run_id)
            run.append(RunFailed(reason=f"a fault of Temper's own: {type(exc).__name__}; its log has the details"))
            await run.log.flush()
        finally:
            await run.means.target.close()

    def _ends_whoever_takes_it(self, run_id: str) -> bool:
        last = self.store.newest(run_id, None, FORWARD, NO_FURTHER)
        return sum(isinstance(one.event, RunResumed) and one.event.after_crash for one in last) == NO_FURTHER

    def _take_up(self, run_id: str, epoch: int) -> Run:
        fence = no_fence
        if self.leases:
            begun = fold(self.store.events(run_id, upto=1)).request
            assert begun
            self.leases.take(run_id, begun.host, epoch)
            self.writer.lost.discard(run_id)
            fence = self.leases.fence(run_id)
        state = fold(self.store.brief(run_id))
        assert state.request
        pack = skill(state.request.skill)
        target = open_target(state.request.host, self.settings.hosts, fence)
        means = Means(
            skill=pack,
            target=target,
            scanner=scanner_for(pack, target, self.settings.hosts),
            seats=seats(self.lineup, self.bases, self.http, self.traffic, traced=bool(self.settings.otlp)),
            lessons=StoredLessons(self.database),
            worker=self.name,
            before=StoredBefore(self.database, self.store, run_id),
        )
        last = self.store.last(run_id)
        assert last
        return Run(state, RunLog(run_id, self.writer, last), means)


def new_run_id() -> str:
    return secrets.token_hex(4)


@asynccontextmanager
async def working(
    settings: Settings,
    lineup: Lineup,
    bases: dict[str, tuple[str, ...]],
    simulator: Simulator | None,
    launched: Fleet,
) -> AsyncIterator[Worker]:
    """The caller holds the worker lock, where the database is not shared."""
    async with AsyncExitStack() as stack:
        database = await asyncio.to_thread(open_database, settings.database)
        stack.callback(database.dispose)
        leases = Leases(database, new_name()) if shared(database) else None
        store, bus = EventStore(database, leases), Bus()
        writer = LogWriter(store, bus)
        writer.start()
        stack.push_async_callback(writer.close)
        http = await stack.enter_async_context(httpx.AsyncClient(limits=httpx.Limits(max_connections=64)))
        traffic = Traffic()
        board = await stack.enter_async_context(
            sampled(lineup, bases, http, store, writer, traffic, launched, lambda: leases is None or leases.leads)
        )
        desk = Desk(partial(_keep, database))
        stack.push_async_callback(desk.close)
        worker = Worker(
            settings,
            lineup,
            leases,
            database,
            store,
            bus,
            writer,
            http,
            bases,
            board,
            simulator,
            launched,
            traffic,
            desk,
        )
        worker.durable = Durable(settings.queue, leases.node if leases else "local", worker.work_on)
        if leases:
            await _join(worker, leases, stack)
        else:
            await worker.durable.launch()
            stack.push_async_callback(worker.durable.close)
            await _requeue(worker)
        yield worker


async def _join(worker: Worker, leases: Leases, stack: AsyncExitStack) -> None:
    """One of several nodes: what dead ones left is found by its looks at them."""
    notices = Notices(worker.database, worker.store, worker.bus)
    notices.start()
    stack.push_async_callback(notices.close)
    node = Node(worker.database, worker.settings.kind, leases, worker.durable)
    await node.join()
    stack.push_async_callback(node.leave)
    await asyncio.to_thread(_launch_alone, worker)
    stack.push_async_callback(worker.durable.close)
    node.start()
    stack.push_async_callback(node.close)


def _launch_alone(worker: Worker) -> None:
    """DBOS makes its own tables at its first launch, and two would make them at once."""
    with alone(worker.database, "dbos launch"):
        worker.durable.launch_here()


def _keep(database: Engine, probed: Probed) -> None:
    with Session(database) as session, session.begin():
        keep(session, probed)


async def _requeue(worker: Worker) -> None:
    """A run whose first event is written but whose place in the queue is not."""
    for run, host in await asyncio.to_thread(worker.store.queued):
        await worker.durable.enqueue(run, host)
