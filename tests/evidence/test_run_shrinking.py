"""A run is shrunk to its evidence: what goes, what stays, and that all of it still holds."""

import shutil
import time

import pytest
from sqlalchemy import delete, update
from sqlmodel import Session, col, select

from app.cli.verify import BROKEN, HOLDS, verify_run
from app.config import Settings
from app.errors import EnvironmentUnusable
from app.events.record import AUDIT
from app.evidence.document_catalog import PAPERS
from app.evidence.run_record import read_run_record
from app.evidence.run_shrinking import read_evidence, store_evidence_and_delete_deltas_unless_shrunk
from app.store import shrunk_runs
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import EventRow, EvidenceRow, RunRow
from tests.evidence.played import KEY


@pytest.fixture
def whole(tmp_path, played):
    """A data folder of its own, with the run as it was played."""
    data, run = played
    settings = Settings(data=tmp_path / "data")
    shutil.copytree(data, settings.data)
    database = open_and_migrate_database(settings.database_path_or_url)
    yield settings, database, run
    database.dispose()


@pytest.fixture
def shrunk(whole):
    settings, database, run = whole
    return (
        settings,
        database,
        run,
        store_evidence_and_delete_deltas_unless_shrunk(database, run, KEY, "ada", time.time()),
    )


def kinds(database, run):
    with Session(database) as session:
        return list(session.exec(select(EventRow.kind).where(EventRow.run == run)))


def test_the_pieces_of_finished_turns_go_and_nothing_else(whole, log):
    _, database, run = whole
    pieces = [one.seq for one in log if one.event.__struct_config__.tag == "turn.delta"]
    done = store_evidence_and_delete_deltas_unless_shrunk(database, run, KEY, "ada", 1000.0)
    assert done.gone == len(pieces) > 10
    assert [seq for seq, _, _ in EventStore(database).read_lines(run)] == [
        one.seq for one in log if one.seq not in set(pieces)
    ]
    with Session(database) as session:
        assert session.get_one(RunRow, run).shrunk_at == 1000.0
        assert session.get_one(EvidenceRow, run).swept


def test_evidence_and_papers_are_the_same_bytes_as_before(shrunk, log, archive):
    _, database, run, done = shrunk
    assert read_evidence(database, run, KEY) == archive
    assert done.kept < len(archive) / 3
    case, before = read_run_record(EventStore(database).read_events(run)), read_run_record(log)
    for paper in PAPERS:
        assert paper.build(case) == paper.build(before), paper.file


def test_verify_goes_through_the_evidence(shrunk, log, capsys):
    settings, _, run, _ = shrunk
    assert verify_run(settings, run, log[-1].hash) == HOLDS
    said = capsys.readouterr().out
    assert f"all {len(log)} events" in said
    assert f"chain head {log[-1].hash}" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (delete(EventRow).where(col(EventRow.kind) == "plan"), "is missing, and it is no piece of a turn"),
        (delete(EventRow).where(col(EventRow.kind) == "run.finished"), "is missing, and it is no piece of a turn"),
        (
            update(EventRow).where(col(EventRow.kind) == "plan").values(line=b'{"kind":"plan"}'),
            "is not the one that the evidence has",
        ),
        (update(EventRow).where(col(EventRow.kind) == "run.finished").values(hash="0" * 64), "is not the one that"),
    ],
)
def test_what_was_changed_in_a_shrunk_run_is_named(shrunk, capsys, change, said):
    settings, database, run, _ = shrunk
    with database.begin() as connection:
        connection.execute(change)
    assert verify_run(settings, run, "") == BROKEN
    assert said in capsys.readouterr().out


def test_evidence_that_was_damaged_is_not_handed_out(shrunk):
    _, database, run, _ = shrunk
    with Session(database) as session, session.begin():
        row = session.get_one(EvidenceRow, run)
        row.pack = row.pack[:-9] + b"x" * 9
    with pytest.raises(EnvironmentUnusable, match="Restore the database from a backup"):
        read_evidence(database, run, KEY)


def test_it_is_on_record_who_shrank_what_and_to_which_bytes(shrunk):
    _, database, run, _ = shrunk
    row = EventStore(database).read_lines(AUDIT)[-1]
    assert b'"who":"ada"' in row[1]
    assert f"shrink run {run}".encode() in row[1]
    assert b"evidence.zip sha256 " in row[1]


def test_the_text_of_a_turn_that_was_cut_off_stays(whole):
    """Its pieces are all that is left of it."""
    _, database, run = whole
    turns = list(EventStore(database).read_events(run, kinds=("turn.finished",)))
    cut = turns[3]
    with database.begin() as connection:
        connection.execute(
            update(EventRow)
            .where(col(EventRow.run) == run, col(EventRow.seq) == cut.seq)
            .values(
                kind="turn.interrupted",
                line=cut.line.split(b'"kind":')[0]
                + b'"kind":"turn.interrupted","turn":"%s","reason":"killed"}' % cut.event.turn.encode(),
            )
        )
    before = kinds(database, run).count("turn.delta")
    gone = shrunk_runs.delete_finished_turn_deltas(database, run)
    assert 0 < kinds(database, run).count("turn.delta") == before - gone


def test_a_run_that_goes_on_is_never_shrunk(whole):
    _, database, run = whole
    with Session(database) as session, session.begin():
        row = session.get_one(RunRow, run)
        row.state, row.ended_at = "running", None
    before = kinds(database, run)
    with Session(database) as session, session.begin():
        assert not shrunk_runs.list_runs_to_shrink(session, time.time())
        assert not shrunk_runs.mark_shrunk_and_store_pack(session, run, b"", 1.0)
    assert kinds(database, run) == before


def test_of_two_that_shrink_a_run_one_does(shrunk):
    _, database, run, _ = shrunk
    with Session(database) as session, session.begin():
        assert not shrunk_runs.mark_shrunk_and_store_pack(session, run, b"other", 2.0)
    with Session(database) as session:
        assert shrunk_runs.read_evidence_pack(session, run) != b"other"
