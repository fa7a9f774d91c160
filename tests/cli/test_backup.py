"""`temper backup` and `temper restore`: what comes back whole, and what is refused."""

import io
import shutil
import tarfile

import httpx
import msgspec
import psycopg
import pytest
from sqlmodel import Session, select

from app.cli.backup import SQLITE, back_up, restore_backup
from app.cli.postgresql_copy_and_node_list import copy_database
from app.cli.verify import HOLDS, verify_audit, verify_run
from app.config import Settings
from app.errors import BadInput
from app.runtime.backup_age import find_backup_time
from app.store.audit import list_audit_events
from app.store.db import open_and_migrate_database
from app.store.models import RunRow
from tests.postgres import empty_database, new_database
from tests.served import served


@pytest.fixture
def settings(tmp_path, played):
    shutil.copytree(played[0], tmp_path / "data", symlinks=True)
    return Settings(data=tmp_path / "data")


@pytest.fixture
def backup(settings, tmp_path):
    back_up(settings, tmp_path / "backup.tgz")
    return tmp_path / "backup.tgz"


def repacked(backup, change):
    """The archive with each member as `change` makes it: its bytes, or None to leave it out."""
    into = backup.with_name("repacked.tgz")
    with tarfile.open(backup) as old, tarfile.open(into, "w:gz") as new:
        for member in old:
            content = old.extractfile(member).read() if member.isfile() else None
            changed = change(member, content)
            if changed is not None or content is None:
                member.size = len(changed or b"")
                new.addfile(member, io.BytesIO(changed) if changed is not None else None)
    return into


def run_of(settings):
    database = open_and_migrate_database(settings.database_path_or_url)
    try:
        with Session(database) as session:
            return session.exec(select(RunRow.id)).one()
    finally:
        database.dispose()


def test_a_backup_leaves_its_time_in_the_database_and_a_line_in_the_audit_log(settings, backup):
    with tarfile.open(backup) as archive:
        made = msgspec.json.decode(archive.extractfile("manifest.json").read())
    database = open_and_migrate_database(settings.database_path_or_url)
    with Session(database) as session:
        assert find_backup_time(session, settings.data) == made["made_at"]
        (line,) = [one.event for one in list_audit_events(session, 50) if one.event.did == "temper backup"]
    database.dispose()
    assert (line.right, line.via, line.detail) == ("admin", "terminal", backup.name)


def test_what_is_restored_verifies_as_the_original_did(settings, backup, tmp_path, capsys):
    new = Settings(data=tmp_path / "of others" / "new")
    new.data.parent.mkdir()
    new.data.parent.chmod(0o755)
    restore_backup(new, backup)
    assert new.data.parent.stat().st_mode & 0o777 == 0o755
    assert "the audit log and 1 runs hold" in capsys.readouterr().out
    assert backup.stat().st_mode & 0o777 == 0o600
    assert verify_audit(new, "") == verify_run(new, run_of(settings), "") == HOLDS
    tree, copy = settings.hosts_folder / "fixture" / "root", new.hosts_folder / "fixture" / "root"
    assert [path.relative_to(tree) for path in sorted(tree.rglob("*"))] == [
        path.relative_to(copy) for path in sorted(copy.rglob("*"))
    ]
    assert not (new.data / "dbos.sqlite").exists(), "the queue is filled from the log"


def test_a_backup_within_the_folder_that_it_copies_is_refused(settings):
    before = sorted(settings.data.rglob("*"))
    with pytest.raises(BadInput, match="give a file outside of it"):
        back_up(settings, settings.data / "hosts" / "backup.tgz")
    assert sorted(settings.data.rglob("*")) == before


def test_a_folder_that_is_in_use_is_left_alone(settings, backup):
    before = sorted(settings.data.rglob("*"))
    with pytest.raises(BadInput, match="is not empty: a restore needs a new folder"):
        restore_backup(settings, backup)
    assert sorted(settings.data.rglob("*")) == before


def flipped(member, content):
    return content[:-1] + bytes([content[-1] ^ 1]) if member.name == SQLITE else content


def without_keys(member, content):
    return None if "/keys/" in member.name else content


@pytest.mark.parametrize(("change", "told"), [(flipped, "database.sqlite has changed"), (without_keys, "is missing")])
def test_a_damaged_backup_and_a_part_of_one_are_refused_and_leave_nothing(backup, tmp_path, change, told):
    with pytest.raises(BadInput, match=told):
        restore_backup(Settings(data=tmp_path / "new"), repacked(backup, change))
    assert not (tmp_path / "new").exists()
    assert list(tmp_path.glob("temper-restore-*")) == []


def test_a_cut_file_and_a_foreign_one_are_refused(backup, tmp_path):
    cut, foreign = tmp_path / "cut.tgz", tmp_path / "foreign.tgz"
    cut.write_bytes(backup.read_bytes()[:-500])
    foreign.write_text("not an archive")
    for file in (cut, foreign):
        with pytest.raises(BadInput, match="is not a complete backup"):
            restore_backup(Settings(data=tmp_path / "new"), file)
    with pytest.raises(BadInput, match="there is no backup in"):
        restore_backup(Settings(data=tmp_path / "new"), tmp_path / "missing.tgz")


def test_nothing_is_written_outside_of_the_folder(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    for name, link in (("../outside/x", ""), ("data/way/x", "data/way"), ("/tmp/temper-x", "")):
        file = tmp_path / "hostile.tgz"
        with tarfile.open(file, "w:gz") as archive:
            if link:
                way = tarfile.TarInfo(link)
                way.type, way.linkname = tarfile.SYMTYPE, str(outside)
                archive.addfile(way)
            member = tarfile.TarInfo(name)
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
        with pytest.raises(BadInput, match="does not belong in a backup"):
            restore_backup(Settings(data=tmp_path / "new"), file)
    assert list(outside.iterdir()) == []


def hostile_archive(file, *members):
    """An archive of (name, type, target of the link); what is no link has a byte in it."""
    with tarfile.open(file, "w:gz") as archive:
        for name, kind, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, target, int(kind == tarfile.REGTYPE)
            archive.addfile(member, io.BytesIO(b"x"))
    return file


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("data/way", tarfile.SYMTYPE), ("data/way", tarfile.REGTYPE)),
        (("data/way", tarfile.SYMTYPE), ("data/./way", tarfile.REGTYPE)),
        (("data/way", tarfile.SYMTYPE), ("data/way", tarfile.DIRTYPE)),
        (("data/way", tarfile.LNKTYPE), ("data/way", tarfile.REGTYPE)),
        (("data/way", tarfile.REGTYPE), ("data/way", tarfile.REGTYPE)),
        (("data", tarfile.SYMTYPE), ("manifest.json", tarfile.REGTYPE)),
        (("database.sqlite", tarfile.SYMTYPE), ("manifest.json", tarfile.REGTYPE)),
    ],
)
def test_no_file_of_others_is_written_through_a_name_that_comes_twice_or_a_link(tmp_path, first, second):
    (theirs := tmp_path / "theirs").write_text("theirs")
    theirs.chmod(0o640)
    file = hostile_archive(tmp_path / "hostile.tgz", (*first, str(theirs)), (*second, ""))
    with pytest.raises(BadInput, match="does not belong in a backup"):
        restore_backup(Settings(data=tmp_path / "new"), file)
    assert (theirs.read_text(), theirs.stat().st_mode & 0o777) == ("theirs", 0o640)
    assert not (tmp_path / "new").exists()


def test_a_run_that_was_at_work_at_the_backup_goes_on_where_it_was_restored(tmp_path):
    with served(tmp_path / "data", "--speed", "20") as server:
        asked = {"host": "fixture", "rules": ["V-257985"], "mode": "auto"}
        run = httpx.post(f"{server.url}/api/v1/runs", json=asked).json()["id"]
        server.wait_for_kind("action.applied")
        back_up(Settings(data=tmp_path / "data"), tmp_path / "backup.tgz")
    restore_backup(Settings(data=tmp_path / "new"), tmp_path / "backup.tgz")
    with served(tmp_path / "new", "--speed", "0") as server:
        server.wait_for_kind("run.finished")
        assert server.runs() == [run]
    assert verify_run(Settings(data=tmp_path / "new"), run, "") == HOLDS


def test_a_postgresql_database_comes_back_into_an_empty_one_only(tmp_path, settings, postgres_server, capsys):
    copy_database(shared := Settings(data=settings.data, database_url=new_database(postgres_server)))
    back_up(shared, tmp_path / "backup.tgz")
    with pytest.raises(BadInput, match="is not empty: create a new one"):
        restore_backup(Settings(data=tmp_path / "new", database_url=shared.database_url), tmp_path / "backup.tgz")
    with pytest.raises(BadInput, match="the backup is of a PostgreSQL database: set TEMPER_DATABASE_URL"):
        restore_backup(Settings(data=tmp_path / "new", database_url=""), tmp_path / "backup.tgz")
    empty = Settings(data=tmp_path / "new", database_url=empty_database(postgres_server))
    capsys.readouterr()
    restore_backup(empty, tmp_path / "backup.tgz")
    assert "the audit log and 1 runs hold" in capsys.readouterr().out


def test_a_broken_chain_leaves_postgresql_empty(tmp_path, settings, postgres_server):
    copy_database(shared := Settings(data=settings.data, database_url=new_database(postgres_server)))
    database = open_and_migrate_database(shared.database_url)
    with database.begin() as connection:
        connection.exec_driver_sql("update event set hash = repeat('0', 64) where seq = 2")
    database.dispose()
    back_up(shared, tmp_path / "backup.tgz")
    empty = Settings(data=tmp_path / "new", database_url=empty_database(postgres_server))
    for _ in range(2):
        with pytest.raises(BadInput, match="the backup is not valid"):
            restore_backup(empty, tmp_path / "backup.tgz")
        with psycopg.connect(empty.database_url) as connection:
            left = "select relname from pg_class where relnamespace = 'public'::regnamespace"
            assert connection.execute(left).fetchall() == []
    assert not empty.data.exists()
