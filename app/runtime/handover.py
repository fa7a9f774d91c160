"""Hand over runs whose host this node cannot reach to other nodes. All functions block."""

import logging
import time
from collections.abc import Callable

from sqlalchemy import Engine
from sqlmodel import Session

from app.loop.durable_queue import DurableQueue
from app.store import nodes
from app.store.leases import Leases

log = logging.getLogger(__name__)


def hand_over_unreachable_run(database: Engine, leases: Leases, durable: DurableQueue, run: str) -> bool:
    """Offer the run to a node that has not tried its host lately. Return True if there is one."""
    with Session(database) as session, session.begin():
        orphan = nodes.hand_over_run(session, leases.node, run)
    if orphan is None:
        return False
    log.warning("run offered to the other nodes: its host does not answer", extra={"run": run, "host": orphan.host})
    durable.offer_again_blocking(orphan.run, orphan.host, orphan.epoch)
    return True


def pass_on_run(database: Engine, leases: Leases | None, durable: DurableQueue, run: str, epoch: int) -> bool:
    """Return True if this node could not reach the run's host just now, after offering the run to others."""
    if leases is None:
        return False
    with Session(database) as session, session.begin():
        orphan = nodes.pass_on_run(session, leases.node, run, epoch)
    if orphan is None:
        return False
    durable.offer_again_blocking(orphan.run, orphan.host, orphan.epoch)
    return True


def create_reach_check(database: Engine, leases: Leases, run: str) -> Callable[[], bool]:
    """Return a function that says whether another node could take the run at the time of the call."""
    with Session(database) as session:
        alone_until = time.monotonic() + nodes.get_seconds_without_other_node(session, leases.node, run)
    return lambda: leases.nodes > 1 and time.monotonic() >= alone_until
