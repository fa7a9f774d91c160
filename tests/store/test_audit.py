"""The audit log: one chain, each line linked to the one before it, and each pack sealed in it once."""

import pytest
from sqlmodel import Session

from app.events.kinds import AuditedRequest
from app.events.record import AUDIT, GENESIS, hash_line
from app.store import audit
from app.store.db import open_and_migrate_database
from app.store.run_queries import read_last_link


@pytest.fixture
def database(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    yield database
    database.dispose()


def ask(did="GET /", status=200):
    return AuditedRequest(who="ada", right="admin", via="session", source="", did=did, status=status)


def test_each_line_follows_from_the_one_before_it_whoever_writes(database):
    lines = [audit.record_audit_event(database, ask(did)) for did in ("a", "b", "c")]
    assert [line.seq for line in lines] == [1, 2, 3]
    for before, line in zip([GENESIS, *(one.hash for one in lines)], lines, strict=False):
        assert line.hash == hash_line(before, line.line)
    with Session(database) as session:
        assert (
            read_last_link(session, AUDIT) == audit.read_recorded_audit_chain_end(session, AUDIT) == (3, lines[-1].hash)
        )
        assert audit.read_recorded_audit_chain_end(session, "another") is None


def test_a_pack_is_sealed_once_and_a_changed_one_anew(database):
    first = audit.append_seal_once(database, ask("seal"), "r1", "d1")
    assert (first.seq, first.event.did) == (1, "seal")
    assert audit.append_seal_once(database, ask("seal"), "r1", "d1") is None
    assert audit.append_seal_once(database, ask("seal"), "r1", "d2").seq == 2
    assert audit.append_seal_once(database, ask("seal"), "r2", "d1").seq == 3
    with Session(database) as session:
        assert audit.has_seal(session, "r1", "d1")
        assert not audit.has_seal(session, "r2", "d2")


def test_the_newest_lines_come_first_and_older_ones_from_a_line_on(database):
    for did in "abcd":
        audit.record_audit_event(database, ask(did))
    with Session(database) as session:
        assert [one.event.did for one in audit.list_audit_events(session, 2)] == ["d", "c"]
        assert [one.event.did for one in audit.list_audit_events(session, 9, before=3)] == ["b", "a"]
        assert audit.list_audit_events(session, 9, before=1) == []
