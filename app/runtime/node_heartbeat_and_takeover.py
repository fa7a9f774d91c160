"""This node among those that share a database: send heartbeats and take over runs of dead nodes."""

import asyncio
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Engine, func
from sqlmodel import Session, select

from app.config import Settings
from app.engines.launch.process_search import read_start_tick
from app.events.log_writer import LogWriter
from app.loop.durable_run_queue import DurableQueue
from app.runtime.data_folder import read_or_create_folder_id
from app.store import nodes
from app.store.change_monitor import ChangeMonitor
from app.store.database_clock import DatabaseClock, database_time
from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error, use_autocommit_if_shared
from app.store.host_folder_contents_in_database import HostFolders
from app.store.leases import Leases
from app.store.nodes import NodeRow, Orphan, Overview
from app.store.periodic_background_task_base import BackgroundTask

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

BEAT_EVERY = 1.0
LEFT_EVERY = 10.0
"""Seconds between checks for runs left by dead nodes while the set of nodes is unchanged."""
_SWEEP = "temper sweep"


class Node(BackgroundTask):
    name = "node"

    def __init__(
        self,
        database: Engine,
        settings: Settings,
        leases: Leases,
        durable: DurableQueue,
        writer: LogWriter,
        changes: ChangeMonitor,
        clock: DatabaseClock,
    ) -> None:
        self._database, self._kind, self._leases = database, settings.kind, leases
        self._place, self._hosts = read_or_create_folder_id(settings.data), HostFolders(database, settings.hosts_folder)
        self._durable, self._writer, self._changes, self._clock = durable, writer, changes, clock
        self._machine, self._beaten_at = read_boot_and_pid_namespace_id(), time.monotonic()
        self._checked_nodes: frozenset[str] = frozenset()
        self._checked_at = 0.0
        """Time of the last check that found no runs of dead nodes; `_checked_nodes` are the nodes then."""
        self._registrations: object = None
        self._last_notice: tuple[object, ...] = ()

    async def register_and_sync_host_folders(self) -> None:
        await asyncio.to_thread(self._insert_node_and_prune_nodes)
        await asyncio.to_thread(self._hosts.sync_on_start)

    async def mark_own_node_as_ended(self) -> None:
        """End this node's row, so that other nodes take over its runs at once. `close` only stops the heartbeat."""
        try:
            await asyncio.to_thread(self._call_in_transaction, nodes.mark_nodes_ended, {self._leases.node})
        except DATABASE_UNAVAILABLE as exc:
            log.warning("node cannot say that it ends", extra={"reason": shorten_database_error(exc)})

    async def send_heartbeat_and_sweep(self) -> None:
        if self._writer.broken.is_set():
            return  # stop the heartbeat, so that other nodes take over
        away, self._beaten_at = time.monotonic() - self._beaten_at, time.monotonic()
        if seen := await asyncio.to_thread(self._send_heartbeat_unless_given_up):
            await self._sweep_and_apply_overview(seen, away)
        else:
            await self._rejoin_under_new_name()

    async def _sweep_and_apply_overview(self, overview: Overview, seconds_since_beat: float) -> None:
        living = frozenset(row.name for row in overview.living)
        gone = self._find_dead_nodes(overview.living, overview.at, seconds_since_beat)
        at_work = self._durable.awake  # the heartbeat does not wait for the queue
        if gone or overview.leader not in living or (overview.unended and at_work):
            for orphan in await asyncio.to_thread(
                self._sweep_nodes_and_list_orphans_to_offer, seconds_since_beat, at_work
            ):
                run, host, epoch = orphan.run, orphan.host, orphan.epoch
                log.info("run offered to the nodes", extra={"run": run, "host": host, "times": epoch})
                await self._durable.offer_again(run, host, epoch)
        if self._leases.leads and at_work:
            await self._durable.limit_concurrency_per_node(overview.computed_max_runs_per_node)
            await self._release_dead_nodes_ended_runs(overview.at, living, no_deaths_pending=not gone)
        await self._reload_registrations_and_signal_changes(overview)

    async def _release_dead_nodes_ended_runs(
        self, at: float, living_nodes: frozenset[str], *, no_deaths_pending: bool
    ) -> None:
        """Release ended runs of dead nodes.

        `no_deaths_pending` means that none of these nodes is about to be declared dead.
        """
        if living_nodes == self._checked_nodes and at < self._checked_at + LEFT_EVERY:
            return
        self._checked_at = at
        ended = await asyncio.to_thread(self._call_in_transaction, nodes.list_ended_runs_of_dead_nodes)
        if ended:
            await self._durable.cancel_ended([(one.run, one.epoch) for one in ended])
            await asyncio.to_thread(self._call_in_transaction, nodes.release_runs, [one.run for one in ended])
        self._checked_nodes = living_nodes if no_deaths_pending and not ended else frozenset()

    async def _reload_registrations_and_signal_changes(self, overview: Overview) -> None:
        """Reload registrations and signal changes that send no notice, if they differ from the last beat."""
        if overview.registrations != self._registrations:
            await asyncio.to_thread(self._hosts.apply_registrations_of_other_nodes)
            self._registrations = overview.registrations
        notice = (overview.leader, overview.unended, overview.kept)
        if notice != self._last_notice:
            self._last_notice = notice
            self._changes.signal_change()

    async def _run_forever(self) -> None:
        while True:
            began = time.monotonic()
            try:
                await self.send_heartbeat_and_sweep()
            except DATABASE_UNAVAILABLE as exc:
                log.warning("node cannot show that it lives", extra={"reason": shorten_database_error(exc)})
            except Exception:
                log.exception("a node's look at the others failed by a fault of ours")
            await asyncio.sleep(max(0.0, BEAT_EVERY - (time.monotonic() - began)))

    async def _rejoin_under_new_name(self) -> None:
        """Drop all runs and join under a new name, after the other nodes have declared this one dead."""
        log.warning("the other nodes gave this one up: its runs go on elsewhere", extra={"node": self._leases.node})
        self._leases.leads = 0
        await self._durable.cancel_runs()
        self._leases.node = create_node_name()
        await self.register_and_sync_host_folders()

    def _insert_node_and_prune_nodes(self) -> None:
        pid = os.getpid()
        with Session(self._database) as session, session.begin():
            at = database_time(session)
            row = NodeRow(
                name=self._leases.node,
                kind=self._kind,
                machine=self._machine,
                pid=pid,
                began=read_start_tick(pid) or 0,
                started_at=at,
                seen_at=at,
                place=self._place,
            )
            session.add(row)
            nodes.delete_long_ended_nodes_and_run_leases(session)
        self._beaten_at = time.monotonic()

    def _send_heartbeat_unless_given_up(self) -> Overview | None:
        heard = self._clock.note_question_and_get_handler_of_answered_time()
        ahead = self._clock.own_clock_seconds_ahead
        with Session(use_autocommit_if_shared(self._database)) as session:
            seen = nodes.send_heartbeat_and_read_overview(session, self._leases.node, ahead)
        if seen:
            heard(seen.at)
            self._leases.nodes = max(1, len(seen.responsive_nodes))
            self._leases.nodes_here = max(1, sum(one.machine == self._machine for one in seen.responsive_nodes))
            self._leases.leads = seen.turn if seen.leader == self._leases.node else 0
        return seen

    def _find_dead_nodes(self, living: Sequence[NodeRow], at: float, seconds_since_beat: float) -> set[str]:
        """Return the names of dead nodes. A node that was itself silent just now declares no others dead."""
        silent = at - nodes.DEAD_AFTER if seconds_since_beat < nodes.DEAD_AFTER / 2 else 0.0
        others = (row for row in living if row.name != self._leases.node)
        return {row.name for row in others if row.seen_at < silent or self._is_dead_process(row)}

    def _is_dead_process(self, row: NodeRow) -> bool:
        return row.machine == self._machine and (read_start_tick(row.pid) or 0) != row.began

    def _sweep_nodes_and_list_orphans_to_offer(
        self, seconds_since_beat: float, may_offer_runs: bool
    ) -> Sequence[Orphan]:
        with Session(self._database) as session, session.begin():
            mine = session.exec(select(func.pg_try_advisory_xact_lock(func.hashtext(_SWEEP)))).one()
            if not mine:
                return ()
            at, living = database_time(session), nodes.list_unended_nodes(session)
            gone = self._find_dead_nodes(living, at, seconds_since_beat)
            nodes.mark_nodes_ended(session, gone)
            for row in living:
                if row.name in gone:
                    log.warning("node given up", extra={"node": row.name, "silent_s": round(at - row.seen_at, 1)})
            left = [row for row in living if row.name not in gone]
            self._leases.leads = nodes.claim_leadership_getting_term_or_zero(
                session, self._leases.node, {row.name for row in left}
            )
            if not may_offer_runs:
                return ()
            node, durable = self._leases.node, self._durable
            return nodes.mark_orphaned_runs_as_offered_and_list_them(
                session, node, durable.in_hand, left, at, durable.list_still_queued
            )

    def _call_in_transaction(self, query: Callable[Concatenate[Session, P], T], *given: P.args, **named: P.kwargs) -> T:
        with Session(self._database) as session, session.begin():
            return query(session, *given, **named)


def create_node_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"


def read_boot_and_pid_namespace_id() -> str:
    """Return an id of boot and PID namespace. Processes with the same id can see each other's PIDs."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
