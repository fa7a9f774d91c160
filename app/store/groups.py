"""Named groups of hosts."""

from collections.abc import Sequence

from sqlalchemy import delete
from sqlmodel import Field, Session, SQLModel, col, select


class GroupedRow(SQLModel, table=True):
    __tablename__ = "host_group"

    name: str = Field(primary_key=True)
    host: str = Field(primary_key=True)


def groups(session: Session) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in session.exec(select(GroupedRow).order_by(col(GroupedRow.name), col(GroupedRow.host))):
        found[row.name] = (*found.get(row.name, ()), row.host)
    return found


def groups_of(session: Session, host: str) -> tuple[str, ...]:
    """Return the groups that contain the host."""
    query = select(GroupedRow.name).where(GroupedRow.host == host).order_by(col(GroupedRow.name))
    return tuple(session.exec(query))


def keep(session: Session, name: str, hosts: Sequence[str]) -> None:
    """Replace the hosts of a group. An empty list removes the group."""
    session.execute(delete(GroupedRow).where(col(GroupedRow.name) == name))
    session.add_all(GroupedRow(name=name, host=host) for host in dict.fromkeys(hosts))
