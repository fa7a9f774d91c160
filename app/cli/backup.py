"""`temper backup` and `temper restore`: one file with the database and the data folder, checked when it is restored."""

import getpass
import hashlib
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path, PurePosixPath

import msgspec
from sqlalchemy import Engine, MetaData, create_engine, inspect, make_url
from sqlmodel import Session, col, select

from app import __version__
from app.cli.database_access import record_action, require_existing_database
from app.cli.verify import print_lines, read_valid_audit_log_with_chain_head
from app.config import Settings
from app.errors import BadInput, EnvironmentUnusable
from app.events.record import BrokenChain, check_chain_and_get_head
from app.evidence.log_checks_against_audit_seals import check_run_seal
from app.evidence.notary import KEYS
from app.runtime.data_folder import create_parent
from app.store.backup_times import record_backup
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import RunRow
from app.text.clean import clean_line

FORMAT = 1
MANIFEST, SQLITE, POSTGRES = "manifest.json", "database.sqlite", "database.dump"
LEFT_OUT = ("temper.sqlite", "dbos.sqlite", "worker.lock")
"""The database is copied by its own means; the queue is filled again from the log; a lock belongs to a process."""


class BackupManifest(msgspec.Struct, frozen=True):
    """The first member of the file."""

    format: int
    version: str
    made_at: float
    database: str
    files: dict[str, str]
    """The sha256 of each regular file, by its name in the archive."""


def back_up(settings: Settings, backup_file: Path) -> None:
    """Write the database and the data folder to one file of mode 0600, also while runs are at work.

    The keys are copied before the database and the hosts' journals after it: the log may have grown since its head
    was signed, and every change that the log announces has its pre-image.
    """
    require_existing_database(settings)
    if backup_file.resolve().is_relative_to(settings.data.resolve()):
        raise BadInput(f"{backup_file} is in the data folder, which is copied as a whole: give a file outside of it.")
    with tempfile.TemporaryDirectory(prefix="temper-backup-", dir=backup_file.absolute().parent) as folder:
        copied = Path(folder)
        _copy_tree(settings.data / KEYS, copied / "data" / KEYS)
        name = _copy_database(settings, copied)
        _copy_data_except_keys_and_database(settings.data, copied / "data")
        files = {str(path.relative_to(copied)): _compute_digest(path) for path in _list_files(copied)}
        made = BackupManifest(FORMAT, __version__, time.time(), name, files)
        (copied / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(made)))
        part = copied / "backup.tar.gz"
        with tarfile.open(part, "x:gz", compresslevel=4) as archive:
            for member in (MANIFEST, name, "data"):
                archive.add(copied / member, member)
        part.chmod(0o600)
        part.replace(backup_file)
    database = open_and_migrate_database(settings.database_path_or_url)
    record_backup(database, made.made_at, getpass.getuser())
    record_action(database, "temper backup", right="admin", detail=backup_file.name)
    database.dispose()
    size = f"{len(files)} files, {backup_file.stat().st_size} bytes"
    print_lines(f"backed up to {backup_file}: {size}. It contains keys: protect it.")


def restore_backup(settings: Settings, file: Path) -> None:
    """Restore a backup to an empty data folder (and an empty PostgreSQL), or change nothing and say why."""
    _require_empty(settings.data)
    create_parent(settings.data.absolute())
    with tempfile.TemporaryDirectory(prefix="temper-restore-", dir=settings.data.absolute().parent) as folder:
        unpacked = Path(folder)
        made = _unpack_archive(file, unpacked)
        _check_digests(made, unpacked)
        _check_kind_and_restore_postgres(settings, made, unpacked)
        if made.database == SQLITE:
            (unpacked / SQLITE).rename(unpacked / "data" / "temper.sqlite")
        try:
            held = _check_logs_and_describe(settings, unpacked / "data")
            if settings.data.exists():
                settings.data.rmdir()
            (unpacked / "data").rename(settings.data)
        except BaseException:  # pg_restore has committed
            _drop_postgres_tables_of_failed_restore(settings)
            raise
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(made.made_at))
    print_lines(f"restored the backup of {when} UTC to {settings.data}: {held}")


def _copy_database(settings: Settings, folder: Path) -> str:
    place = settings.database_path_or_url
    if isinstance(place, Path):
        with closing(sqlite3.connect(place)) as source, closing(sqlite3.connect(folder / SQLITE)) as copy:
            source.backup(copy)
        return SQLITE
    _run_postgres_program("pg_dump", place, "--format=custom", "--exclude-schema=dbos", f"--file={folder / POSTGRES}")
    return POSTGRES


def _check_kind_and_restore_postgres(settings: Settings, manifest: BackupManifest, unpacked: Path) -> None:
    place = settings.database_path_or_url
    if isinstance(place, Path) != (manifest.database == SQLITE):
        kind, way = ("SQLite", "unset") if manifest.database == SQLITE else ("PostgreSQL", "set")
        raise BadInput(f"the backup is of a {kind} database: {way} TEMPER_DATABASE_URL and restore it again.")
    if isinstance(place, Path):
        return
    database = _create_engine_with_postgres_driver(place)
    try:
        if inspect(database).get_table_names():
            raise BadInput("the database in TEMPER_DATABASE_URL is not empty: create a new one for the restore.")
    finally:
        database.dispose()
    dump = str(unpacked / POSTGRES)
    _run_postgres_program("pg_restore", place, "--exit-on-error", "--no-owner", "--single-transaction", dump)


def _create_engine_with_postgres_driver(database_url: str) -> Engine:
    """Open the database without creating any tables."""
    return create_engine(make_url(database_url).set(drivername="postgresql+psycopg"))


def _drop_postgres_tables_of_failed_restore(settings: Settings) -> None:
    """Empty the database again, which had no tables before the restore."""
    place = settings.database_path_or_url
    if isinstance(place, str):
        database, restored = _create_engine_with_postgres_driver(place), MetaData()
        restored.reflect(database)
        restored.drop_all(database)
        database.dispose()


def _run_postgres_program(name: str, database_url: str, *arguments: str) -> None:
    """Run a PostgreSQL client program. The password goes through the environment, which other users cannot read."""
    if shutil.which(name) is None:
        raise EnvironmentUnusable(f"{name} is not installed: install Debian's postgresql-client or its equivalent.")
    url = make_url(database_url).set(drivername="postgresql")
    env = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    address = url._replace(password=None).render_as_string()
    command = [name, f"--dbname={address}", *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EnvironmentUnusable(f"{name} failed: {clean_line(last, 300)}")


def _copy_data_except_keys_and_database(data: Path, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    for path in sorted(data.iterdir()):
        if path.name == KEYS or path.name.startswith(LEFT_OUT) or path.suffix == ".log":
            continue
        if path.is_dir() and not path.is_symlink():
            _copy_tree(path, into / path.name)
        elif path.is_file():
            shutil.copy2(path, into / path.name, follow_symlinks=False)


def _copy_tree(tree: Path, into: Path) -> None:
    """Copy what there is; a file that a run removes meanwhile is left out, and sockets and pipes are."""
    if tree.is_dir():
        shutil.copytree(
            tree,
            into,
            symlinks=True,
            ignore=_list_sockets_pipes_and_devices,
            ignore_dangling_symlinks=True,
            dirs_exist_ok=True,
            copy_function=_copy_unless_missing,
        )


def _list_sockets_pipes_and_devices(folder: str, names: list[str]) -> list[str]:
    paths = ((name, Path(folder, name)) for name in names)
    return [name for name, path in paths if not (path.is_symlink() or path.is_file() or path.is_dir())]


def _copy_unless_missing(source: str, into: str) -> None:
    with suppress(FileNotFoundError):
        shutil.copy2(source, into, follow_symlinks=False)


def _list_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _compute_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _require_empty(data: Path) -> None:
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise BadInput(
            f"{data} is not empty: a restore needs a new folder, so move this one away or choose another --data."
        )


def _unpack_archive(file: Path, into: Path) -> BackupManifest:
    """Unpack the archive and return its manifest. Raise BadInput for a part of a backup or for another file."""
    try:
        with tarfile.open(file, "r:gz") as archive:
            # extract(filter=) is newer than Debian 12's Python 3.11.2
            archive.extraction_filter = lambda member, _into: member
            unpacked: dict[PurePosixPath, tarfile.TarInfo] = {}
            for member in archive:
                _require_safe_path_and_add_archive_member(member, unpacked)
                archive.extract(member, into)
        made = msgspec.json.decode((into / MANIFEST).read_bytes(), type=BackupManifest)
    except FileNotFoundError as exc:
        missing = file if not file.exists() else f"{file} without {MANIFEST}"
        raise BadInput(f"there is no backup in {missing}.") from exc
    except (tarfile.TarError, EOFError, OSError, msgspec.DecodeError) as exc:
        problem = clean_line(str(exc), 200)
        raise BadInput(f"{file} is not a complete backup: {problem}. Use another copy of it.") from exc
    if made.format > FORMAT:
        raise BadInput(f"{file} was made by Temper {made.version}, which is newer: restore it with that version.")
    return made


def _require_safe_path_and_add_archive_member(
    member: tarfile.TarInfo, unpacked_so_far: dict[PurePosixPath, tarfile.TarInfo]
) -> None:
    """Refuse what could be written outside of the folder, and add the rest to `unpacked_so_far`.

    A member is written through a link of its own name, so each name may come once, and only below folders. A link
    leads anywhere, so the parts that Temper itself opens are none.
    """
    path = PurePosixPath(member.name)
    outside = path.is_absolute() or ".." in path.parts
    through_another = path in unpacked_so_far or not all(
        unpacked_so_far[one].isdir() for one in path.parents if one in unpacked_so_far
    )
    is_known_kind = member.isfile() or member.isdir() or (member.issym() and len(path.parts) > 1)
    if outside or through_another or not is_known_kind:
        raise BadInput(f"{clean_line(member.name, 100)!r} does not belong in a backup. Use another file.")
    unpacked_so_far[path] = member


def _check_digests(manifest: BackupManifest, unpacked: Path) -> None:
    found = {str(path.relative_to(unpacked)): path for path in _list_files(unpacked)}
    if left := sorted(set(manifest.files) ^ (set(found) - {MANIFEST})):
        problem = "missing" if left[0] in manifest.files else "not on its list"
        raise BadInput(f"the backup is incomplete: {left[0]} is {problem}.")
    for name, digest in manifest.files.items():
        if _compute_digest(found[name]) != digest:
            raise BadInput(f"the backup is damaged: the content of {name} has changed. Use another copy.")


def _check_logs_and_describe(settings: Settings, data: Path) -> str:
    """Check the audit log, its signed head and each run's chain; return what holds. Raise BadInput if one fails."""
    place = settings.database_path_or_url
    database = open_and_migrate_database(data / "temper.sqlite" if isinstance(place, Path) else place)
    try:
        found = read_valid_audit_log_with_chain_head(data, database)[2]
        with Session(database) as session:
            runs = session.exec(select(RunRow.id, RunRow.shrunk_at).order_by(col(RunRow.queued_at))).all()
        for run, shrunk_at in runs:
            rows = EventStore(database).read_lines(run)
            if shrunk_at is None:
                check_chain_and_get_head(rows, run)
            check_run_seal(run, found.seals.get(run), {seq: digest for seq, _, digest in rows})
    except BrokenChain as exc:
        raise BadInput(f"the backup is not valid: {exc}") from exc
    finally:
        database.dispose()
    return f"the audit log and {len(runs)} runs hold, {len(found.seals)} of them sealed."
