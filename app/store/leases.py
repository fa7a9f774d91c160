"""Leases: which node owns a run. Checked in the transaction that appends, and under the lock that guards a change."""

from collections.abc import Callable

from sqlalchemy import BigInteger, Engine, cast, func
from sqlalchemy.exc import IntegrityError
from sqlmodel import Field, Session, SQLModel, select

from app.errors import LeaseLost


class LeaseRow(SQLModel, table=True):
    __tablename__ = "lease"

    name: str = Field(primary_key=True)
    """A run's id, or `machine`."""
    host: str
    node: str = Field(index=True)
    """Empty while the run is offered to any node."""
    epoch: int
    """Number of offers so far; queue entries of an earlier epoch are void."""
    asked_at: float
    claim: int = Field(default=0, sa_type=BigInteger)
    """The fencing token, which the host compares; each new owner gets a higher one."""
    place: str = ""
    """The data folder of a local host; empty for hosts that any node reaches."""
    unreached: str = ""
    """Nodes that could not reach the host, each with its time."""


class Leases:
    def __init__(self, engine: Engine, node: str) -> None:
        self._engine = engine
        self.node = node
        self.leads = 0
        """The leadership term if this node leads (machine log, schedules, webhooks), otherwise 0."""
        self.nodes, self.nodes_here = 1, 1
        """Nodes that take runs, in all and on this machine; they divide an engine's capacity."""

    def acquire(self, run: str, host: str, epoch: int, data_folder_id: str = "") -> int:
        """Take the run and return its fencing token. Raises LeaseLost if it is not free for this node and epoch."""
        try:
            with Session(self._engine) as session, session.begin():
                row = session.get(LeaseRow, run, with_for_update=True)
                if row is None:
                    row = LeaseRow(name=run, host=host, node="", epoch=epoch, asked_at=0.0)
                if row.node not in ("", self.node) or row.epoch != epoch or row.place not in ("", data_folder_id):
                    raise LeaseLost(run)
                row.node, row.place = self.node, data_folder_id
                row.claim = _compute_higher_fencing_token_from_clock(session, host)
                session.add(row)
                return row.claim
        except IntegrityError as exc:
            raise LeaseLost(run) from exc

    def create_lease_guard(self, run: str) -> Callable[[Session], None]:
        """Return a check that raises LeaseLost unless this node owns the run until the end of the transaction."""

        def require_lease(session: Session) -> None:
            row = session.get(LeaseRow, run, with_for_update={"read": True})
            if row is None or row.node != self.node:
                raise LeaseLost(run)

        return require_lease

    def create_lease_check_before_change(self, run: str) -> Callable[[], None]:
        """Return a check to call right before a change. It raises LeaseLost unless this node owns the run."""

        def require_lease() -> None:
            with Session(self._engine) as session:
                row = session.get(LeaseRow, run)
                if row is None or row.node != self.node:
                    raise LeaseLost(run)

        return require_lease


def _compute_higher_fencing_token_from_clock(session: Session, host: str) -> int:
    """Return a higher number than any before. It is in milliseconds, so that a restored backup repeats none."""
    highest = session.exec(select(func.max(LeaseRow.claim)).where(LeaseRow.host == host)).one() or 0
    now = session.exec(select(cast(func.extract("epoch", func.clock_timestamp()) * 1000, BigInteger))).one()
    return max(now, highest + 1)
