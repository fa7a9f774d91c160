"""Named groups of hosts."""

from collections.abc import Sequence

from sqlalchemy import delete
from sqlmodel import Field, Session, SQLModel, col, select


class HostGroupRow(SQLModel, table=True):
    __tablename__ = "host_group"

    name: str = Field(primary_key=True)
    host: str = Field(primary_key=True)


def read_groups(session: Session) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in session.exec(select(HostGroupRow).order_by(col(HostGroupRow.name), col(HostGroupRow.host))):
        found[row.name] = (*found.get(row.name, ()), row.host)
    return found


def list_groups_of_host(session: Session, host: str) -> tuple[str, ...]:
    query = select(HostGroupRow.name).where(HostGroupRow.host == host).order_by(col(HostGroupRow.name))
    return tuple(session.exec(query))


def replace_group(session: Session, name: str, hosts: Sequence[str]) -> None:
    """Replace the hosts of a group. An empty list removes the group."""
    session.execute(delete(HostGroupRow).where(col(HostGroupRow.name) == name))
    session.add_all(HostGroupRow(name=name, host=host) for host in dict.fromkeys(hosts))
