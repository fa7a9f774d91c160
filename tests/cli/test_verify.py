"""`temper verify`: of a pack, a folder, a run, and the record of what people did."""

import io
import shutil
import sqlite3
import zipfile

import pytest

from app.cli.exit_codes import NOT_PINNED
from app.cli.verify import BROKEN, HOLDS, UnusableOption, verify_by_kind
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import AuditedRequest
from app.store import audit
from app.store.db import open_and_migrate_database
from tests.evidence.played import KEY


def did(what):
    return AuditedRequest(who="ada", right="admin", via="terminal", source="", did=what, status=200)


def broken(capsys, says, *asked):
    assert verify_by_kind(*asked) == BROKEN
    assert says in capsys.readouterr().out


@pytest.fixture
def recorded(tmp_path):
    settings = Settings(data=tmp_path)
    database = open_and_migrate_database(settings.database_path_or_url)
    heads = [audit.record_audit_event(database, did(f"thing {n}")).hash for n in range(5)]
    database.dispose()
    return settings, heads[-1]


def test_a_pack_holds_packed_and_unpacked(tmp_path, archive, log, capsys):
    pack = tmp_path / "given.zip"
    pack.write_bytes(archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        opened.extractall(tmp_path / "folder")
    for path in (pack, tmp_path / "folder"):
        assert verify_by_kind(Settings(), str(path), log[-1].hash) == NOT_PINNED
        said = capsys.readouterr().out
        assert f"chain head {log[-1].hash}" in said
        assert "its documents are identical to those that this Temper makes from these events" in said


def test_a_flipped_byte_is_named(tmp_path, archive, capsys):
    pack = tmp_path / "given.zip"
    at = archive.index(b"Evidence of Temper run")
    pack.write_bytes(archive[:at] + b"e" + archive[at + 1 :])
    assert verify_by_kind(Settings(), str(pack), None) == BROKEN
    assert "does not hold" in (said := capsys.readouterr().out)
    assert "README.txt is not as it was packed" in said


def test_another_head_and_a_pack_that_is_not_there(tmp_path, archive, capsys):
    pack = tmp_path / "given.zip"
    pack.write_bytes(archive)
    broken(capsys, "this is another log", Settings(), str(pack), "0" * 64)
    with pytest.raises(BadInput, match=r"cannot read .*: No such file"):
        verify_by_kind(Settings(), str(tmp_path / "none.zip"), None)


def test_a_run_of_the_data_folder(played, log, capsys):
    data, run = played
    assert verify_by_kind(Settings(data=data), run[:6], log[-1].hash) == HOLDS
    assert f"holds: run {run}" in capsys.readouterr().out
    assert verify_by_kind(Settings(data=data), run, "f" * 64) == BROKEN


def test_the_record_of_what_people_did(recorded, capsys):
    settings, head = recorded
    assert verify_by_kind(settings, "audit", head) == HOLDS
    assert "5 lines" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "update event set line = cast(replace(line, 'thing 2', 'thing 9') as blob) where seq = 3",
            "event 3 is not what was",
        ),
        ("delete from event where seq = 2", "event 2 is missing"),
        ("delete from event where seq = 5", "its own counter says that there are 5"),
        (
            'update event set line = cast(replace(line, \'"run":"audit"\', \'"run":"other"\') as blob)',
            "is not what was",
        ),
    ],
)
def test_what_was_changed_in_the_record_is_named(recorded, capsys, change, said):
    settings, head = recorded
    database = sqlite3.connect(settings.database_path_or_url)
    database.execute(change)
    database.commit()
    database.close()
    broken(capsys, said, settings, "audit", head)


@pytest.fixture
def copied(tmp_path, played):
    """A data folder of its own, whose run a test may cut as somebody would who holds the database."""
    data, run = played
    shutil.copytree(data, tmp_path / "data")
    return Settings(data=tmp_path / "data"), run


def edited(settings, *statements):
    database = sqlite3.connect(settings.database_path_or_url)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


LAST = "(select max(seq) from event where run = '{run}')"
AUDIT_LAST = LAST.format(run="audit")
NO_END = "update run set ended_at = null, state = 'running', tokens = 0, passed = 0, escalated = 0"
LAST_HASH = f"(select hash from event where run = 'audit' and seq = {AUDIT_LAST})"
BACK = f"update chain_end set seq = {AUDIT_LAST}, hash = {LAST_HASH}"


def test_a_run_without_its_end_does_not_hold(copied, capsys):
    settings, run = copied
    cut = f"delete from event where run = '{run}' and seq = {LAST.format(run=run)}"
    edited(settings, cut)
    broken(capsys, "its row says that it has finished, and the log goes on", settings, run, None)
    edited(settings, NO_END)
    broken(capsys, "of the record sealed, is missing", settings, run, None)
    broken(capsys, f"of run {run}, which line", settings, "audit", None)


def test_a_run_whose_row_was_written_anew_does_not_hold(copied, capsys):
    settings, run = copied
    edited(settings, "update run set passed = passed + 1")
    broken(capsys, "passed, and the log has", settings, run, None)


def test_lines_of_another_run_do_not_hold(copied, capsys):
    """The chain of a run under the name of another; and a whole run gone, which the record still seals."""
    settings, run = copied
    edited(settings, "update event set run = 'ffffffff' where run <> 'audit'", "update run set id = 'ffffffff'")
    broken(
        capsys, f"event 1 is of another run: it says of itself that it belongs to '{run}'", settings, "ffffffff", None
    )
    edited(settings, "delete from event where run = 'audit'", "update event set run = 'audit'", "delete from chain_end")
    broken(capsys, "event 1 is of another run", settings, "audit", None)


def test_a_run_that_is_gone_is_missed_in_the_record(copied, capsys):
    settings, run = copied
    edited(settings, "delete from event where run <> 'audit'", "delete from run")
    broken(capsys, f"of run {run}, which line", settings, "audit", None)


def test_a_record_without_its_end_does_not_hold(copied, capsys):
    settings, run = copied
    assert verify_by_kind(settings, "audit", None) == HOLDS
    capsys.readouterr()
    edited(settings, f"delete from event where run = 'audit' and seq = {AUDIT_LAST}")
    broken(capsys, "its own counter says", settings, "audit", None)
    broken(capsys, "the audit log that seals it is not valid", settings, run, None)
    edited(settings, BACK)
    broken(capsys, "the newest signed head is that of line", settings, "audit", None)
    (settings.data / "keys" / "audit.head").unlink()
    broken(capsys, "somebody took it away", settings, "audit", None)


def test_a_pack_by_the_key_that_is_given(tmp_path, archive, capsys):
    (tmp_path / "given.zip").write_bytes(archive)
    assert verify_by_kind(Settings(), str(tmp_path / "given.zip"), None, KEY.public) == HOLDS
    assert f"signed by {KEY.public}, the key that you gave" in capsys.readouterr().out
    broken(capsys, "not by the one that you gave", Settings(), str(tmp_path / "given.zip"), None, "0" * 64)
    assert verify_by_kind(Settings(), str(tmp_path / "given.zip"), None) == NOT_PINNED
    said = capsys.readouterr().out
    assert "a key that nobody vouched for here" in said
    assert "not pinned: the papers could have been replaced by the maker of the pack" in said


@pytest.mark.parametrize(
    ("head", "key", "ca"),
    [("", None, False), ("abc", None, False), (None, "", False), (None, "0" * 63, False), (None, None, True)],
)
def test_an_option_that_it_does_not_understand_is_refused(played, head, key, ca):
    data, run = played
    with pytest.raises(UnusableOption):
        verify_by_kind(Settings(data=data), run, head, key, data if ca else None)


def test_a_run_by_a_key_that_never_signed_its_record(played, capsys):
    data, run = played
    assert verify_by_kind(Settings(data=data), run, None, KEY.public) == HOLDS
    broken(capsys, "no line signed with the key", Settings(data=data), run, None, "0" * 64)
