"""Which value of a site counts: a host's own, else that of its first group, else that of all hosts."""

from sqlmodel import Session

from app.events.hosts_of_waiver_or_site_value import HostScope
from app.store.db import open_and_migrate_database
from app.store.host_groups import replace_group
from app.store.parameters import (
    ParameterRow,
    find_effective_group_parameters,
    find_effective_parameters,
    list_parameters,
)

SET = (("all", ""), ("group", "db"), ("group", "web"), ("host", "web-1"), ("host", "web-2"))


def test_the_nearest_scope_counts_and_of_two_groups_the_first_by_name(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        for group in ("web", "db"):
            replace_group(session, group, ["web-1"])
        for name, scopes in {"a": SET, "b": SET[:3], "c": SET[:1], "d": SET[2:3], "e": SET[4:]}.items():
            for kind, scope in scopes:
                row = {"scope_kind": kind, "scope_name": scope, "value": f"{kind} {scope}", "by": "ada", "at": 1.0}
                session.add(ParameterRow(skill="stig", name=name, **row))
        session.add(ParameterRow(skill="cis", name="f", scope_kind="all", scope_name="", value="x", by="", at=1.0))
        found = {name: row.value for name, row in find_effective_parameters(session, "stig", "web-1").items()}
        assert found == {"a": "host web-1", "b": "group db", "c": "all ", "d": "group web"}
        found = {name: row.value for name, row in find_effective_group_parameters(session, "stig", "web").items()}
        assert found == {"a": "group web", "b": "group web", "c": "all ", "d": "group web"}
        assert [row.name for row in list_parameters(session)] == ["f", *"aaaaabbbcde"]
        assert [row.name for row in list_parameters(session, "cis")] == ["f"]
        assert list_parameters(session, "stig")[1].scope == HostScope("group", "db")
    database.dispose()
