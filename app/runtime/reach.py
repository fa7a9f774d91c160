"""A host that does not answer this node may answer another: its run is handed on. All of it blocks."""

import logging
import time
from collections.abc import Callable

from sqlalchemy import Engine
from sqlmodel import Session

from app.loop.durable import Durable
from app.store import nodes
from app.store.leases import Leases

log = logging.getLogger("temper")


def given_away(database: Engine, leases: Leases, durable: Durable, run: str) -> bool:
    """Whether there is another node, which has not tried just now."""
    with Session(database) as session, session.begin():
        orphan = nodes.give_away(session, leases.node, run)
    if orphan is None:
        return False
    log.warning("run %s is offered to the other nodes: its host %s does not answer this one", run, orphan.host)
    durable.offer_here(orphan.run, orphan.host, orphan.epoch)
    return True


def passed_on(database: Engine, leases: Leases | None, durable: Durable, run: str, epoch: int) -> bool:
    """Whether the queue gave the run to a node that could not reach its host just now."""
    if leases is None:
        return False
    with Session(database) as session, session.begin():
        orphan = nodes.passed_on(session, leases.node, run, epoch)
    if orphan is None:
        return False
    durable.offer_here(orphan.run, orphan.host, orphan.epoch)
    return True


def others_may_reach(database: Engine, leases: Leases, run: str) -> Callable[[], bool]:
    """Whether the run could be given to another node, as it stands whenever that is asked."""
    with Session(database) as session:
        alone_until = time.monotonic() + nodes.nobody_else_for(session, leases.node, run)
    return lambda: leases.nodes > 1 and time.monotonic() >= alone_until
