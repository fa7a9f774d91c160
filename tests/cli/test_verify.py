"""`temper verify`: of a pack, a folder, a run, and the record of what people did."""

import io
import sqlite3
import zipfile

import pytest

from app.cli.verify import BROKEN, HOLDS, verify_what
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import PersonDid
from app.store import audit
from app.store.db import open_database


def did(what):
    return PersonDid(who="ada", right="admin", via="terminal", source="", did=what, status=200)


@pytest.fixture
def recorded(tmp_path):
    settings = Settings(data=tmp_path)
    database = open_database(settings.database)
    heads = [audit.note(database, did(f"thing {n}")).hash for n in range(5)]
    database.dispose()
    return settings, heads[-1]


def test_a_pack_holds_packed_and_unpacked(tmp_path, archive, log, capsys):
    pack = tmp_path / "given.zip"
    pack.write_bytes(archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        opened.extractall(tmp_path / "folder")
    for path in (pack, tmp_path / "folder"):
        assert verify_what(Settings(), str(path), log[-1].hash) == HOLDS
        said = capsys.readouterr().out
        assert f"chain head {log[-1].hash}" in said
        assert "its papers are what this Temper makes of these events" in said


def test_a_flipped_byte_is_named(tmp_path, archive, capsys):
    pack = tmp_path / "given.zip"
    at = archive.index(b"Evidence of Temper run")
    pack.write_bytes(archive[:at] + b"e" + archive[at + 1 :])
    assert verify_what(Settings(), str(pack), "") == BROKEN
    assert "does not hold" in (said := capsys.readouterr().out)
    assert "README.txt is not as it was packed" in said


def test_another_head_and_a_pack_that_is_not_there(tmp_path, archive, capsys):
    pack = tmp_path / "given.zip"
    pack.write_bytes(archive)
    assert verify_what(Settings(), str(pack), "0" * 64) == BROKEN
    assert "this is another log" in capsys.readouterr().out
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        verify_what(Settings(), str(tmp_path / "none.zip"), "")


def test_a_run_of_the_data_folder(played, log, capsys):
    data, run = played
    assert verify_what(Settings(data=data), run[:6], log[-1].hash) == HOLDS
    assert f"holds: run {run}" in capsys.readouterr().out
    assert verify_what(Settings(data=data), run, "f" * 64) == BROKEN


def test_the_record_of_what_people_did(recorded, capsys):
    settings, head = recorded
    assert verify_what(settings, "audit", head) == HOLDS
    assert "5 lines" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "update event set line = cast(replace(line, 'thing 2', 'thing 9') as blob) where seq = 3",
            "event 3 is not what was",
        ),
        ("delete from event where seq = 2", "event 2 is missing"),
        ("delete from event where seq = 5", "its chain head is"),
    ],
)
def test_what_was_changed_in_the_record_is_named(recorded, capsys, change, said):
    settings, head = recorded
    database = sqlite3.connect(settings.database)
    database.execute(change)
    database.commit()
    database.close()
    assert verify_what(settings, "audit", head) == BROKEN
    assert said in capsys.readouterr().out
