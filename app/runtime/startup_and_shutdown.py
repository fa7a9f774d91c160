"""Create a runtime's parts in order and close them in reverse, alone on a database or as one node."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec
from sqlalchemy import Engine as Database
from sqlmodel import Session

from app.config import Settings
from app.engines.launch.engine_fleet import Fleet
from app.engines.queue import EngineQueues
from app.engines.replica_choice import EngineTraffic, find_stream_limit
from app.engines.simulator_process import SimulatorProcess
from app.events.approval_policy import ApprovalPolicy
from app.events.bus import Bus
from app.events.log_writer import LogWriter
from app.evidence.notary import open_notary
from app.lineups.model import Engine, Lineup
from app.loop.durable_run_queue import DurableQueue
from app.machine.measuring.background_probe_task import ProbeRunner
from app.machine.measuring.probe_result import ProbeResult, find_saturation, read_newest_probes, store_probe
from app.machine.sampling.machine_event_log_writer import MachineLog
from app.machine.sampling.sampler_setup import open_sampled_board
from app.runtime.accepted_runs_offered_to_queue import IdleQueueSuspender, Offers
from app.runtime.backup_age import record_first_use_by_oldest_file
from app.runtime.node_heartbeat_and_takeover import Node, create_node_name
from app.runtime.runtime import Runtime
from app.store import nodes
from app.store.change_monitor import ChangeMonitor
from app.store.database_clock import open_clock
from app.store.db import hold_exclusive_lock_between_nodes, is_shared, open_and_migrate_database, open_separate_engine
from app.store.events import EventStore
from app.store.leases import Leases
from app.store.postgres_notification_listener import NotificationListener
from app.store.run_command_inbox import InboxPoller

LOOPBACK = ("127.0.0.1", "localhost", "::1")
WRITERS = 1
"""Database connections of the log's one writer thread."""


class Startable(Protocol):
    def start(self) -> None: ...

    async def close(self) -> None: ...


T = TypeVar("T", bound=Startable)


@asynccontextmanager
async def create_runtime(
    settings: Settings,
    lineup: Lineup,
    http: httpx.AsyncClient,
    bases: dict[str, tuple[str, ...]],
    simulator: SimulatorProcess | None,
    launched: Fleet,
    approvals: ApprovalPolicy | None = None,
) -> AsyncIterator[Runtime]:
    """Yield a running runtime. The caller holds the folder's lock unless the database is shared."""
    build_struct_decoders_before_threads()
    await asyncio.to_thread(record_first_use_by_oldest_file, settings.data, time.time())
    async with AsyncExitStack() as stack:
        database = await asyncio.to_thread(open_and_migrate_database, settings.database_path_or_url)
        stack.callback(database.dispose)
        await asyncio.to_thread(open_notary, settings.data, database)  # creates the signing key before its first use
        leases = Leases(database, create_node_name()) if is_shared(database) else None
        clock = await asyncio.to_thread(open_clock, database)
        writing = open_separate_engine(database, WRITERS, tests_before_use=False)
        stack.callback(writing.dispose)
        store, bus = EventStore(database, leases, writing), Bus()
        writer = _start_until_exit(stack, LogWriter(store, bus))
        traffic = EngineTraffic()
        knees = await asyncio.to_thread(_load_saturation_points, database, lineup)
        queues = EngineQueues(
            traffic,
            lambda name: find_stream_limit(lineup.engines[name].max_num_seqs, knees.get(name)),
            lambda name: _count_sharing_processes(lineup.engines[name], bases[name], leases),
        )
        machine = MachineLog(writer, store.read_last_sample_seq, clock.now, lambda: leases.leads if leases else 1)
        sampler = open_sampled_board(lineup, bases, http, store, machine, bus, queues, launched)
        board = await stack.enter_async_context(sampler)
        prober = ProbeRunner(partial(_store_probe, database, knees))
        stack.push_async_callback(prober.close)
        inboxes = _start_until_exit(stack, InboxPoller(database))
        changes = ChangeMonitor(database)
        stack.callback(changes.close)
        runtime = Runtime(
            settings, lineup, leases, database, clock, store, bus, writer, http, bases, board, simulator, launched,
            traffic, queues, prober, changes, inboxes, approvals,
        )  # fmt: skip
        await _start_queue(runtime, stack)
        yield runtime


def _start_until_exit(stack: AsyncExitStack, part: T) -> T:
    part.start()
    stack.push_async_callback(part.close)
    return part


async def _start_queue(runtime: Runtime, stack: AsyncExitStack) -> None:
    """Start what gives accepted runs to this process: the queue, the offers to it, and its suspension when idle."""
    url, leases = runtime.settings.database_url_or_queue_sqlite_url, runtime.leases
    if leases:
        share = partial(_find_max_runs_per_node, runtime.database)
        runtime.durable = DurableQueue(url, leases.node, runtime.work_on_run, share)
        await _join_nodes_and_launch_queue(runtime, leases, stack)
    else:
        runtime.durable = DurableQueue(url, "local", runtime.work_on_run)
        await runtime.durable.launch()
        stack.push_async_callback(runtime.durable.close)
    runtime.board.has_work = lambda: runtime.durable.awake
    offers = Offers(runtime.store, runtime.durable, runtime.changes, lambda: runtime.is_leader)
    runtime.offers = offers if runtime.settings.kind == "score" else _start_until_exit(stack, offers)
    _start_until_exit(stack, IdleQueueSuspender(runtime.durable, runtime.has_no_unended_runs, runtime.changes))


async def _join_nodes_and_launch_queue(runtime: Runtime, leases: Leases, stack: AsyncExitStack) -> None:
    """Join the other nodes. The node's heartbeat loop finds runs that dead nodes left."""
    database, changes = runtime.database, runtime.changes
    runtime.bus.subscribe(changes)
    _start_until_exit(stack, NotificationListener(database, runtime.store, runtime.bus))
    node = Node(database, runtime.settings, leases, runtime.durable, runtime.writer, changes, runtime.clock)
    await node.register_and_sync_host_folders()
    stack.push_async_callback(node.mark_own_node_as_ended)
    await asyncio.to_thread(_launch_dbos_under_lock, runtime)
    stack.push_async_callback(runtime.durable.close)
    _start_until_exit(stack, node)


def _launch_dbos_under_lock(runtime: Runtime) -> None:
    """Launch the queue under a lock: DBOS creates its tables then, and two launches would collide."""
    with hold_exclusive_lock_between_nodes(runtime.database, "dbos launch"):
        runtime.durable.start_dbos_blocking()


def _find_max_runs_per_node(database: Database) -> int | None:
    with Session(database) as session:
        return nodes.compute_max_runs_per_node(session)


def _store_probe(database: Database, saturation_points: dict[str, int | None], probe_result: ProbeResult) -> None:
    with Session(database) as session, session.begin():
        store_probe(session, probe_result)
    if not probe_result.problem:
        saturation_points[probe_result.engine] = find_saturation(probe_result)


def _count_sharing_processes(engine: Engine, bases: tuple[str, ...], leases: Leases | None) -> int:
    """Return how many processes share an engine. A simulated engine belongs to one process."""
    if leases is None or engine.simulation:
        return 1
    here = all(urlsplit(base).hostname in LOOPBACK for base in bases)
    return leases.nodes_here if here else leases.nodes


def _load_saturation_points(database: Database, lineup: Lineup) -> dict[str, int | None]:
    """Return each engine's knee from its newest successful probe."""
    with Session(database) as session:
        kept = {name: read_newest_probes(session, lineup.name, name) for name in lineup.engines}
    whole = {name: next((one for one in probes if not one.problem), None) for name, probes in kept.items()}
    return {name: find_saturation(probed) if probed else None for name, probed in whole.items()}


def build_struct_decoders_before_threads() -> None:
    """Build a decoder for every struct. msgspec does it lazily, and two threads that decode the same type first at
    the same time crash the process with SIGSEGV."""
    for struct in _iterate_subclasses(msgspec.Struct):
        if not getattr(struct, "__parameters__", ()):
            msgspec.json.Decoder(struct)


def _iterate_subclasses(struct: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for one in struct.__subclasses__():
        yield one
        yield from _iterate_subclasses(one)
