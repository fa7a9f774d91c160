"""Site values for rules, set for every host, a group or one host."""

from collections.abc import Sequence

from sqlmodel import Field, Session, SQLModel, col, select

from app.events.hosts_of_waiver_or_site_value import HostScope
from app.store.host_groups import list_groups_of_host

_NEAREST = ("all", "group", "host")


class ParameterRow(SQLModel, table=True):
    __tablename__ = "parameter"

    skill: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    scope_kind: str = Field(primary_key=True)
    scope_name: str = Field(primary_key=True)
    value: str
    by: str
    at: float

    @property
    def scope(self) -> HostScope:
        return HostScope(self.scope_kind, self.scope_name)  # type: ignore[arg-type]


def list_parameters(session: Session, skill: str | None = None) -> Sequence[ParameterRow]:
    order = col(ParameterRow.skill), col(ParameterRow.name), col(ParameterRow.scope_kind), col(ParameterRow.scope_name)
    query = select(ParameterRow).order_by(*order)
    return session.exec(query if skill is None else query.where(ParameterRow.skill == skill)).all()


def find_effective_parameters(session: Session, skill: str, host: str) -> dict[str, ParameterRow]:
    """Return the values in effect by name: a host's own before a group's (first by name) before all hosts'."""
    groups = list_groups_of_host(session, host)
    rows = [row for row in list_parameters(session, skill) if row.scope.covers_host(host, groups)]
    rows.sort(key=lambda row: row.scope_name, reverse=True)
    rows.sort(key=lambda row: _NEAREST.index(row.scope_kind))
    return {row.name: row for row in rows}


def find_effective_group_parameters(session: Session, skill: str, group: str) -> dict[str, ParameterRow]:
    """Return the values, by name, of a host that is only in this group and has none of its own."""
    rows = [row for row in list_parameters(session, skill) if row.scope.covers_host("", (group,))]
    return {row.name: row for row in sorted(rows, key=lambda row: _NEAREST.index(row.scope_kind))}
