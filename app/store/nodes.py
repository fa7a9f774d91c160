"""The nodes that share a database. All times are the database's, so the nodes' clocks may differ."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ScalarSelect, delete, func, update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, Session, SQLModel, col, select

from app.errors import LeaseLost
from app.events.record import MACHINE
from app.store.database_clock import TOO_FAR_OFF, database_time, select_database_time
from app.store.host_folder_contents_in_database import select_registrations_checksum
from app.store.leases import LeaseRow
from app.store.models import RunRow, ScheduleRow
from app.store.rollouts import RolloutRow
from app.store.run_queries import UNENDED
from app.store.webhooks import WebhookRow

DEAD_AFTER = 5.0
"""Seconds without a heartbeat after which a node counts as dead."""
FORGOTTEN_AFTER = 7 * 24 * 3600.0
GIVEN_UP_FOR = 3600.0
"""Seconds for which a node is named that fell silent, was given up and did not come back."""
MOST_LEFT = 100
"""Ended runs of a dead node handled at a time: it may leave thousands, and the leader must keep its heartbeat."""
ASK_AGAIN_AFTER = 10.0
"""Seconds after which an offered run that no node took is offered again."""
TRIED_FOR = 240.0
"""Seconds for which a node leaves a host that it could not reach to others; longer than a host's own rollback takes."""


Queued = Callable[[Sequence[tuple[str, int]]], Collection[str]]
"""Given (run, epoch) pairs, returns the runs that are still queued under that epoch."""


def report_none_queued(_offered: Sequence[tuple[str, int]]) -> Collection[str]:
    return ()


class NodeRow(SQLModel, table=True):
    __tablename__ = "node"

    name: str = Field(primary_key=True)
    kind: str
    machine: str
    """The machine or container in which `pid` counts."""
    pid: int
    began: float
    """Start time of the process, which tells a reused pid apart."""
    started_at: float
    seen_at: float
    ended_at: float | None = None
    place: str = ""
    """Its data folder, by a name that is the same for all that share it."""
    clock_off: float = 0.0
    """Seconds that its own clock is ahead of the database's, as of its last sign of life."""


@dataclass(frozen=True)
class Orphan:
    """A run without an owner, and how often it was offered."""

    run: str
    host: str
    epoch: int


@dataclass(frozen=True)
class Overview:
    """The cluster as read with each heartbeat."""

    at: float
    living: Sequence[NodeRow]
    leader: str
    turn: int
    """The leadership term: how often the leader has changed."""
    unended: int
    """Number of unended runs."""
    registrations: Any
    kept: tuple[int, ...]
    """Numbers of unended rollouts, of schedules and of webhooks."""

    @property
    def responsive_nodes(self) -> Sequence[NodeRow]:
        return [node for node in self.living if node.kind != "run" and node.seen_at >= self.at - DEAD_AFTER]

    @property
    def computed_max_runs_per_node(self) -> int | None:
        return _compute_run_limit_with_one_spare(self.unended, len(self.responsive_nodes))


@dataclass(frozen=True)
class NodeStatus:
    name: str
    kind: str
    started_at: float
    silent_seconds: float
    leads: bool
    runs: tuple[str, ...]
    clock_off: float = 0.0

    @property
    def needs_its_clock_set(self) -> bool:
        return abs(self.clock_off) > TOO_FAR_OFF


_ALIVE = col(NodeRow.ended_at).is_(None)
_OLDEST_FIRST = col(NodeRow.started_at), col(NodeRow.name)
_UNENDED_RUN = col(RunRow.state).in_(UNENDED)


def list_unended_nodes(session: Session) -> Sequence[NodeRow]:
    return session.exec(select(NodeRow).where(_ALIVE).order_by(*_OLDEST_FIRST)).all()


def list_responsive_nodes(session: Session) -> Sequence[NodeRow]:
    """Return the nodes with a recent heartbeat, which can take over runs."""
    fresh = col(NodeRow.seen_at) >= select_database_time() - DEAD_AFTER
    query = select(NodeRow).where(_ALIVE, fresh, NodeRow.kind != "run")
    return session.exec(query.order_by(*_OLDEST_FIRST)).all()


def compute_max_runs_per_node(session: Session) -> int | None:
    """Return the maximum of runs per node (None if only one lives); it grows with runs that wait for a person."""
    runs = session.exec(select(_select_count_of_all_unended_runs())).one()
    return _compute_run_limit_with_one_spare(runs, len(list_responsive_nodes(session)))


def _compute_run_limit_with_one_spare(runs: int, nodes: int) -> int | None:
    return -(-runs // nodes) + 1 if nodes > 1 else None


def _select_count_of_all_unended_runs() -> ScalarSelect[int]:
    return select(func.count()).select_from(RunRow).where(_UNENDED_RUN).scalar_subquery()


def list_unended_node_statuses(session: Session) -> list[NodeStatus]:
    at, leader = database_time(session), session.get(LeaseRow, MACHINE)
    runs: dict[str, list[str]] = {}
    held = select(LeaseRow.node, RunRow.id).join(RunRow, col(RunRow.id) == col(LeaseRow.name)).where(_UNENDED_RUN)
    for node, run in session.exec(held):
        runs.setdefault(node, []).append(run)
    return [
        _to_status(row, at, leads=leader is not None and leader.node == row.name, runs=sorted(runs.get(row.name, ())))
        for row in list_unended_nodes(session)
    ]


def _to_status(row: NodeRow, at: float, *, leads: bool = False, runs: Sequence[str] = ()) -> NodeStatus:
    return NodeStatus(row.name, row.kind, row.started_at, max(0.0, at - row.seen_at), leads, tuple(runs), row.clock_off)


def list_given_up_nodes(session: Session) -> list[NodeStatus]:
    """Return the nodes that fell silent and did not come back: frozen, cut off from the database, or lost."""
    at, back = database_time(session), {(row.machine, row.pid, row.began) for row in list_unended_nodes(session)}
    silent = col(NodeRow.ended_at) - col(NodeRow.seen_at) >= DEAD_AFTER
    lately = col(NodeRow.ended_at) > at - GIVEN_UP_FOR
    rows = session.exec(select(NodeRow).where(silent, lately).order_by(col(NodeRow.ended_at))).all()
    return [_to_status(row, at) for row in rows if (row.machine, row.pid, row.began) not in back]


def send_heartbeat_and_read_overview(session: Session, name: str, clock_seconds_ahead: float = 0.0) -> Overview | None:
    """A sign of life and a look at everything, in one statement; None when the others have given this node up."""
    mine = update(NodeRow).where(col(NodeRow.name) == name, _ALIVE)
    beat = mine.values(seen_at=select_database_time(), clock_off=clock_seconds_ahead)
    seen = beat.returning(col(NodeRow.seen_at)).cte("beat")
    query = select(NodeRow).add_columns(
        select(seen.c.seen_at).scalar_subquery(),
        select(LeaseRow.node).where(LeaseRow.name == MACHINE).scalar_subquery(),
        select(LeaseRow.epoch).where(LeaseRow.name == MACHINE).scalar_subquery(),
        _select_count_of_all_unended_runs(),
        select_registrations_checksum(),
        select(func.count()).select_from(RolloutRow).where(col(RolloutRow.ended_at).is_(None)).scalar_subquery(),
        select(func.count()).select_from(ScheduleRow).scalar_subquery(),
        select(func.count()).select_from(WebhookRow).scalar_subquery(),
    )
    rows = session.execute(query.where(_ALIVE).order_by(*_OLDEST_FIRST)).all()
    if not rows or rows[0][1] is None:
        return None
    _, at, leader, turn, unended, hosts, *kept = rows[0]
    return Overview(at, [row[0] for row in rows], leader or "", turn or 0, unended, hosts, tuple(kept))


def mark_nodes_ended(session: Session, names: Collection[str]) -> None:
    if not names:
        return
    session.execute(update(NodeRow).where(col(NodeRow.name).in_(names), _ALIVE).values(ended_at=select_database_time()))


def delete_long_ended_nodes_and_run_leases(session: Session) -> None:
    """Delete nodes and leases that ended long ago."""
    before = database_time(session) - FORGOTTEN_AFTER
    over = select(RunRow.id).where(col(RunRow.ended_at) < before)
    session.execute(delete(NodeRow).where(col(NodeRow.ended_at) < before))
    session.execute(delete(LeaseRow).where(col(LeaseRow.name).in_(over)))


def mark_orphaned_runs_as_offered_and_list_them(
    session: Session,
    own_node: str,
    own_runs: Collection[str],
    nodes: Sequence[NodeRow],
    at: float,
    find_still_queued: Queued = report_none_queued,
) -> list[Orphan]:
    """Offer orphaned runs again and return them, oldest first.

    `own_runs`: this node's runs; `nodes`: living nodes; `find_still_queued`: finds offered runs still in the queue,
    which keep their place.
    """
    alive, places = {node.name for node in nodes}, {"", *(node.place for node in nodes)}
    query = (
        select(RunRow.id, RunRow.host, LeaseRow)
        .outerjoin(LeaseRow, col(LeaseRow.name) == col(RunRow.id))
        .where(_UNENDED_RUN, col(RunRow.queued_at) < at - 1)
        .order_by(col(RunRow.queued_at))
    )
    rows = session.exec(query).all()
    busy = {host for _, host, lease in rows if lease and lease.node in alive}
    late = [lease for _, _, lease in rows if lease and lease.node == "" and at - lease.asked_at >= ASK_AGAIN_AFTER]
    kept = {*own_runs, *find_still_queued([(lease.name, lease.epoch) for lease in late])} if late else own_runs
    found, behind = [], set[str]()
    for run, host, lease in rows:
        follows = host in behind
        behind.add(host)
        if lease is None:
            if not follows and _insert_first_offer(session, run, host, at):
                found.append(Orphan(run, host, 1))
            continue
        worked_on = lease.node in alive and (lease.node != own_node or run in own_runs)
        waits = lease.node == "" and (host in busy or run in kept or at - lease.asked_at < ASK_AGAIN_AFTER)
        if worked_on or waits or lease.place not in places:
            continue
        if _free_lease_if_unchanged(session, lease, at):
            found.append(Orphan(run, host, lease.epoch + 1))
    return found


def _insert_first_offer(session: Session, run: str, host: str, at: float) -> bool:
    """Return False if another node offered it first."""
    row = LeaseRow(name=run, host=host, node="", epoch=1, asked_at=at)
    new = insert(LeaseRow).values(row.model_dump()).on_conflict_do_nothing().returning(col(LeaseRow.name))
    return session.execute(new).first() is not None


def _free_lease_if_unchanged(session: Session, read: LeaseRow, at: float) -> bool:
    """Return False if the lease changed since it was read."""
    same = (col(LeaseRow.name) == read.name, col(LeaseRow.node) == read.node, col(LeaseRow.epoch) == read.epoch)
    free = update(LeaseRow).where(*same).values(node="", epoch=read.epoch + 1, asked_at=at)
    changed = session.execute(free.returning(col(LeaseRow.name)), execution_options={"synchronize_session": False})
    return changed.first() is not None


def hand_over_unreachable_run(session: Session, own_node: str, run: str) -> Orphan | None:
    """Offer an unreachable host's run to other nodes; None if each has tried recently. Raises LeaseLost."""
    lease = session.get(LeaseRow, run, with_for_update=True)
    if lease is None or lease.node != own_node:
        raise LeaseLost(run)
    at = database_time(session)
    unreached = find_failed_reach_time_by_node(lease, at) | {own_node: at}
    lease.unreached = " ".join(f"{node}@{when:.3f}" for node, when in unreached.items())
    if not _has_untried_node(session, unreached):
        return None
    lease.node, lease.epoch, lease.asked_at = "", lease.epoch + 1, at
    return Orphan(run, lease.host, lease.epoch)


def reoffer_run_tried_here(session: Session, own_node: str, run: str, epoch: int) -> Orphan | None:
    """Offer the run again if `own_node` could not reach its host recently and another node has not tried; else None."""
    lease = session.get(LeaseRow, run, with_for_update=True)
    if lease is None or lease.node or lease.epoch != epoch or not lease.unreached:
        return None
    tried = find_failed_reach_time_by_node(lease, at := database_time(session))
    if own_node not in tried or not _has_untried_node(session, tried):
        return None
    lease.epoch, lease.asked_at = epoch + 1, at
    return Orphan(run, lease.host, lease.epoch)


def get_seconds_until_another_node_may_retry_unreachable_host(session: Session, own_node: str, run: str) -> float:
    """Return for how many seconds each other node has recently tried the host, so that none can take the run."""
    lease = session.get(LeaseRow, run)
    if lease is None or not lease.unreached:
        return 0.0
    tried = find_failed_reach_time_by_node(lease, at := database_time(session))
    since = [tried.get(node.name, 0.0) for node in list_responsive_nodes(session) if node.name != own_node]
    return max(0.0, min(since, default=0.0) + TRIED_FOR - at)


def _has_untried_node(session: Session, tried: Collection[str]) -> bool:
    return any(node.name not in tried for node in list_responsive_nodes(session))


def find_failed_reach_time_by_node(lease: LeaseRow, at: float) -> dict[str, float]:
    """Return the nodes that could not reach the run's host within TRIED_FOR seconds before `at`, each with its time."""
    pairs = (one.rpartition("@") for one in lease.unreached.split())
    return {node: float(when) for node, _, when in pairs if at - float(when) < TRIED_FOR}


def list_ended_runs_of_dead_nodes(session: Session) -> list[Orphan]:
    """Return runs that ended while their node died: the queue may still hold their places."""
    alive = [node.name for node in list_unended_nodes(session)]
    query = (
        select(LeaseRow)
        .join(RunRow, col(RunRow.id) == col(LeaseRow.name))
        .where(col(RunRow.ended_at).is_not(None), col(LeaseRow.node).not_in(["", *alive]))
        .order_by(col(RunRow.ended_at).desc())
        .limit(MOST_LEFT)
    )
    return [Orphan(lease.name, lease.host, lease.epoch) for lease in session.exec(query)]


def release_runs(session: Session, runs: Collection[str]) -> None:
    session.execute(update(LeaseRow).where(col(LeaseRow.name).in_(runs)).values(node=""))


def claim_leadership_getting_term_or_zero(session: Session, name: str, alive: Collection[str]) -> int:
    """Become leader (machine log, schedules, webhooks) if none is alive. Return the term, or 0 if another leads."""
    row = session.get(LeaseRow, MACHINE, with_for_update=True)
    if row is None:
        row = LeaseRow(name=MACHINE, host="", node="", epoch=0, asked_at=0.0)
    if row.node != name and row.node not in alive:
        row.node, row.epoch, row.asked_at = name, row.epoch + 1, database_time(session)
        session.add(row)
    return row.epoch if row.node == name else 0
