"""This process among those that share a database: it shows that it lives, and takes over from those that do not."""

import asyncio
import logging
import os
import secrets
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Engine, func
from sqlmodel import Session, select

from app.config import Settings
from app.engines.launch.processes import tick
from app.events.log import LogWriter
from app.loop.durable import Durable
from app.runtime.place import place
from app.store import nodes
from app.store.db import AWAY, why
from app.store.host_files import HostFolders
from app.store.leases import Leases
from app.store.nodes import NodeRow, Orphan
from app.store.rounds import OwnTask

log = logging.getLogger(__name__)

BEAT_EVERY = 1.0
_SWEEP = "temper sweep"


class Node(OwnTask):
    name = "node"

    def __init__(
        self, database: Engine, settings: Settings, leases: Leases, durable: Durable, writer: LogWriter
    ) -> None:
        self._database, self._kind, self._leases = database, settings.kind, leases
        self._place, self._hosts = place(settings.data), HostFolders(database, settings.hosts)
        self._durable, self._writer = durable, writer
        self._beaten_at = time.monotonic()

    async def join(self) -> None:
        await asyncio.to_thread(self._join)
        await asyncio.to_thread(self._hosts.catch_up)

    async def leave(self) -> None:
        """What it did not finish is the others' at once; closed, it only beats no more."""
        try:
            await asyncio.to_thread(self._end, {self._leases.node})
        except AWAY as exc:
            log.warning("cannot say that this node ends: %s", why(exc))

    def share(self) -> int | None:
        with Session(self._database) as session:
            return nodes.share(session)

    def _release(self, runs: Sequence[str]) -> None:
        with Session(self._database) as session, session.begin():
            nodes.release(session, runs)

    async def look(self) -> None:
        if self._writer.broken.is_set():
            return  # who cannot write any more is given up by the others
        if not await asyncio.to_thread(self._beat):
            await self._born_again()
        for orphan in await asyncio.to_thread(self._sweep):
            log.info("run %s is offered for the %d. time", orphan.run, orphan.epoch)
            await self._durable.offer(orphan.run, orphan.host, orphan.epoch)
        if self._leases.leads:
            await self._keep_queue()
        await asyncio.to_thread(self._hosts.look)

    async def _keep_queue(self) -> None:
        await self._durable.spread(await asyncio.to_thread(self.share))
        if ended := await asyncio.to_thread(self._left):
            await self._durable.forget([(one.run, one.epoch) for one in ended])
            await asyncio.to_thread(self._release, [one.run for one in ended])

    async def _go_on(self) -> None:
        while True:
            began = time.monotonic()
            try:
                await self.look()
            except AWAY as exc:
                log.warning("this node cannot show that it lives: %s", why(exc))
            except Exception:
                log.exception("a node's look at the others failed by a fault of ours")
            await asyncio.sleep(max(0.0, BEAT_EVERY - (time.monotonic() - began)))

    async def _born_again(self) -> None:
        """It was frozen, or cut off, and given up: its runs are others' now, and it starts over under a new name."""
        log.warning("the other nodes gave %s up; its runs go on elsewhere", self._leases.node)
        self._leases.leads = 0
        await self._durable.drop()
        self._leases.node = new_name()
        await self.join()

    def _join(self) -> None:
        pid = os.getpid()
        with Session(self._database) as session, session.begin():
            at = nodes.told_time(session)
            row = NodeRow(
                name=self._leases.node,
                kind=self._kind,
                machine=machine(),
                pid=pid,
                began=tick(pid) or 0,
                started_at=at,
                seen_at=at,
                place=self._place,
            )
            session.add(row)
            nodes.forget(session)
        self._beaten_at = time.monotonic()

    def _beat(self) -> bool:
        with Session(self._database) as session, session.begin():
            workers = nodes.at_work(session)
            self._leases.nodes = max(1, len(workers))
            self._leases.nodes_here = max(1, sum(one.machine == machine() for one in workers))
            return nodes.beat(session, self._leases.node)

    def _sweep(self) -> Sequence[Orphan]:
        """Nobody is judged by one who was away itself, nor by himself: who looks is alive."""
        away = time.monotonic() - self._beaten_at
        self._beaten_at = time.monotonic()
        with Session(self._database) as session, session.begin():
            mine = session.exec(select(func.pg_try_advisory_xact_lock(func.hashtext(_SWEEP)))).one()
            if not mine:
                return ()
            at = nodes.told_time(session)
            silent = at - nodes.DEAD_AFTER if away < nodes.DEAD_AFTER / 2 else 0.0
            others = [row for row in nodes.living(session) if row.name != self._leases.node]
            nodes.end(session, {row.name for row in others if row.seen_at < silent or _dead_here(row)})
            self._leases.leads = nodes.lead(session, self._leases.node)
            return nodes.orphans(session, self._leases.node, self._durable.in_hand, self._durable.still_queued)

    def _left(self) -> Sequence[Orphan]:
        with Session(self._database) as session:
            return nodes.left(session)

    def _end(self, names: set[str]) -> None:
        with Session(self._database) as session, session.begin():
            nodes.end(session, names)


def new_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"


def machine() -> str:
    """Two processes with the same one see each other's numbers: the same boot, the same namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {Path('/proc/self/ns/pid').readlink()}"


def _dead_here(row: NodeRow) -> bool:
    return row.machine == machine() and (tick(row.pid) or 0) != row.began
