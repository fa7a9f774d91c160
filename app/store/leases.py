"""Which node a run belongs to. Asked where it counts: in the transaction that appends, under the lock that changes."""

from collections.abc import Callable, Collection

from sqlalchemy import BigInteger, Engine, cast, func
from sqlalchemy.exc import IntegrityError
from sqlmodel import Field, Session, SQLModel, col, select

from app.errors import Fenced


class LeaseRow(SQLModel, table=True):
    __tablename__ = "lease"

    name: str = Field(primary_key=True)
    """A run, or `machine`."""
    host: str
    node: str = Field(index=True)
    """Empty: it is offered to whoever takes it."""
    epoch: int
    """How often it was offered: a queue's entry of an earlier time means nothing any more."""
    asked_at: float
    claim: int = Field(default=0, sa_type=BigInteger)
    """What the host knows its owner by: whoever takes the run next has a higher one."""
    place: str = ""
    """The data folder that has the host, where it is no host that others reach."""
    unreached: str = ""
    """The nodes that the host did not answer, each with when."""


class Leases:
    def __init__(self, engine: Engine, node: str) -> None:
        self._engine = engine
        self.node = node
        self.leads = 0
        """This node keeps the machine's log, the schedules and the webhooks for all: by which turn at that; or 0."""
        self.nodes, self.nodes_here = 1, 1
        """How many take runs, and how many of them on this machine: an engine's room is divided among them."""

    def take(self, run: str, host: str, epoch: int, place: str = "") -> int:
        """What the host is claimed by.

        Fenced where the run is another's, was offered again since, or its host lies in another data folder.
        """
        try:
            with Session(self._engine) as session, session.begin():
                row = session.get(LeaseRow, run, with_for_update=True)
                if row is None:
                    row = LeaseRow(name=run, host=host, node="", epoch=epoch, asked_at=0.0)
                if row.node not in ("", self.node) or row.epoch != epoch or row.place not in ("", place):
                    raise Fenced(run)
                row.node, row.place = self.node, place
                row.claim = _claim(session, host)
                session.add(row)
                return row.claim
        except IntegrityError as exc:
            raise Fenced(run) from exc

    def lost(self, session: Session, runs: Collection[str]) -> frozenset[str]:
        """Those of `runs` that are not ours; until the transaction ends nobody can take the others from us."""
        theirs = select(LeaseRow.name, LeaseRow.node).where(col(LeaseRow.name).in_(runs)).with_for_update(read=True)
        return frozenset(name for name, node in session.exec(theirs) if node != self.node)

    def held(self, run: str) -> Callable[[Session], None]:
        """Fenced, inside a transaction, where the run is not ours; else nobody takes it until the transaction ends."""

        def ours(session: Session) -> None:
            if self.lost(session, [run]):
                raise Fenced(run)

        return ours

    def fence(self, run: str) -> Callable[[], None]:
        """To be asked right before something is done that could harm if the run is not ours any more."""

        def ours() -> None:
            with Session(self._engine) as session:
                row = session.get(LeaseRow, run)
                if row is None or row.node != self.node:
                    raise Fenced(run)

        return ours


def _claim(session: Session, host: str) -> int:
    """Milliseconds, so that a database that was put back from yesterday does not give a number twice."""
    highest = session.exec(select(func.max(LeaseRow.claim)).where(LeaseRow.host == host)).one() or 0
    now = session.exec(select(cast(func.extract("epoch", func.clock_timestamp()) * 1000, BigInteger))).one()
    return max(now, highest + 1)
