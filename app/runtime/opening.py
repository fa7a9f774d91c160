"""Create a runtime's parts in order and close them in reverse, alone on a database or as one node."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

import httpx
from sqlalchemy import Engine as Database
from sqlmodel import Session

from app.config import Settings
from app.engines.admission import most_streams
from app.engines.launch.fleet import Fleet
from app.engines.queue import EngineQueues
from app.engines.simulated import Simulator
from app.engines.traffic import EngineTraffic
from app.events.approvals import ApprovalPolicy
from app.events.bus import Bus
from app.events.log import LogWriter
from app.evidence.notary import open_notary
from app.lineups.model import Engine, Lineup
from app.loop.durable import Durable
from app.machine.measuring.knee import knee
from app.machine.measuring.probe_runner import ProbeRunner
from app.machine.measuring.probed import Probed
from app.machine.measuring.stored import keep, newest
from app.machine.sampling.opened import sampled
from app.runtime.node import Node, new_name
from app.runtime.rests import Rests
from app.runtime.runtime import Runtime
from app.runtime.structs import make_out
from app.store import nodes
from app.store.changes import Changes
from app.store.db import alone, apart, open_database, shared
from app.store.events import EventStore
from app.store.inbox import Inboxes
from app.store.leases import Leases
from app.store.notices import Notices

LOOPBACK = ("127.0.0.1", "localhost", "::1")
WRITERS = 1
"""Database connections of the log's one writer thread."""


@asynccontextmanager
async def working(
    settings: Settings,
    lineup: Lineup,
    http: httpx.AsyncClient,
    bases: dict[str, tuple[str, ...]],
    simulator: Simulator | None,
    launched: Fleet,
    approvals: ApprovalPolicy | None = None,
) -> AsyncIterator[Runtime]:
    """Yield a running runtime. The caller holds the folder's lock unless the database is shared."""
    make_out()
    async with AsyncExitStack() as stack:
        database = await asyncio.to_thread(open_database, settings.database)
        stack.callback(database.dispose)
        await asyncio.to_thread(open_notary, settings.data, database)  # creates the signing key before its first use
        leases = Leases(database, new_name()) if shared(database) else None
        writing = apart(database, WRITERS, asked=False)
        stack.callback(writing.dispose)
        store, bus = EventStore(database, leases, writing), Bus()
        writer = LogWriter(store, bus)
        writer.start()
        stack.push_async_callback(writer.close)
        traffic = EngineTraffic()
        knees = await asyncio.to_thread(_knees, database, lineup)
        queues = EngineQueues(
            traffic,
            lambda name: most_streams(lineup.engines[name].max_num_seqs, knees.get(name)),
            lambda name: _sharing(lineup.engines[name], bases[name], leases),
        )
        board = await stack.enter_async_context(
            sampled(lineup, bases, http, store, writer, bus, queues, launched, lambda: leases.leads if leases else 1)
        )
        prober = ProbeRunner(partial(_keep, database, knees))
        stack.push_async_callback(prober.close)
        inboxes = Inboxes(database)
        inboxes.start()
        stack.push_async_callback(inboxes.close)
        runtime = Runtime(
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
            queues,
            prober,
            Changes(database),
            inboxes,
            approvals,
        )
        stack.callback(runtime.changes.close)
        if leases:
            runtime.durable = Durable(settings.queue, leases.node, runtime.work_on, partial(_share, database))
            await _join(runtime, leases, stack)
        else:
            runtime.durable = Durable(settings.queue, "local", runtime.work_on)
            await runtime.durable.launch()
            stack.push_async_callback(runtime.durable.close)
            await _requeue(runtime)
        rests = Rests(runtime.durable, runtime.idle, runtime.changes)
        rests.start()
        stack.push_async_callback(rests.close)
        yield runtime


async def _join(runtime: Runtime, leases: Leases, stack: AsyncExitStack) -> None:
    """Join the other nodes. The node's heartbeat loop finds runs that dead nodes left."""
    runtime.bus.hear(runtime.changes)
    notices = Notices(runtime.database, runtime.store, runtime.bus)
    notices.start()
    stack.push_async_callback(notices.close)
    node = Node(runtime.database, runtime.settings, leases, runtime.durable, runtime.writer, runtime.changes)
    await node.join()
    stack.push_async_callback(node.leave)
    await asyncio.to_thread(_launch_alone, runtime)
    stack.push_async_callback(runtime.durable.close)
    node.start()
    stack.push_async_callback(node.close)


def _launch_alone(runtime: Runtime) -> None:
    """Launch the queue under a lock: DBOS creates its tables then, and two launches would collide."""
    with alone(runtime.database, "dbos launch"):
        runtime.durable.launch_here()


def _share(database: Database) -> int | None:
    with Session(database) as session:
        return nodes.share(session)


def _keep(database: Database, knees: dict[str, int | None], probed: Probed) -> None:
    with Session(database) as session, session.begin():
        keep(session, probed)
    if not probed.problem:
        knees[probed.engine] = knee(probed)


def _sharing(engine: Engine, bases: tuple[str, ...], leases: Leases | None) -> int:
    """Return how many processes share an engine. A simulated engine belongs to one process."""
    if leases is None or engine.simulation:
        return 1
    here = all(urlsplit(base).hostname in LOOPBACK for base in bases)
    return leases.nodes_here if here else leases.nodes


def _knees(database: Database, lineup: Lineup) -> dict[str, int | None]:
    """Return each engine's knee from its newest successful probe."""
    with Session(database) as session:
        kept = {name: newest(session, lineup.name, name) for name in lineup.engines}
    whole = {name: next((one for one in probes if not one.problem), None) for name, probes in kept.items()}
    return {name: knee(probed) if probed else None for name, probed in whole.items()}


async def _requeue(runtime: Runtime) -> None:
    """Enqueue runs whose first event was written but which are not in the queue."""
    for run, host in await asyncio.to_thread(runtime.store.queued):
        await runtime.durable.enqueue(run, host)
