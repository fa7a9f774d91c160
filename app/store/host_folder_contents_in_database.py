"""Host folders of SSH hosts, stored for all nodes: registration, baseline and journals.

The folder on a node's disk is a copy. Only the node that holds the host's run changes either.
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, ScalarSelect, delete, func
from sqlmodel import Field, LargeBinary, Session, SQLModel, col, select

PART = 1 << 20
"""Maximum bytes of a file in one row; longer files take several."""
REGISTRATION = ("host.json", "known_hosts")
_SINGLE = (*REGISTRATION, "baseline.json", "alone")
_JOURNALS = "journal"
_SHARED = "shared"
"""Marks a registration that is in the database. If it is gone from there, another node removed the host."""
_HOST = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_PATH = re.compile(r"host\.json|known_hosts|baseline\.json|alone|journal/[A-Za-z0-9][^/]{0,140}/[A-Za-z0-9][^/]{0,60}")
"""The only paths that are written to disk, whatever the database contains."""

OwnershipCheck = Callable[[Session], None]
"""Raises, inside the transaction, if another node owns the host."""


class HostFileRow(SQLModel, table=True):
    __tablename__ = "host_file"

    host: str = Field(primary_key=True)
    path: str = Field(primary_key=True)
    """Relative to the host's folder."""
    part: int = Field(primary_key=True)
    digest: str
    """SHA-256 of the whole file."""
    content: bytes = Field(sa_type=LargeBinary)


_KNOWN = (col(HostFileRow.path) == REGISTRATION[0]) & (col(HostFileRow.part) == 0)


def allow_any_node(_session: Session) -> None:
    """Accept any node, for hosts without a run."""


def select_registrations_checksum() -> ScalarSelect[Any]:
    """Select a checksum that changes when a host is added, removed or reached in another way."""
    one = func.hashtextextended(col(HostFileRow.host) + " " + col(HostFileRow.digest), 0)
    return select(func.coalesce(func.sum(one), 0)).where(_KNOWN).scalar_subquery()


class HostFolders:
    def __init__(self, database: Engine, hosts: Path) -> None:
        self._database = database
        self._hosts = hosts
        self._seen: dict[str, str] = {}
        """Host to digest of its registration at the last sync."""

    def store_folder(self, host: str, require_ownership: OwnershipCheck = allow_any_node) -> None:
        """Store the changed files of the host's folder in one committed transaction."""
        self._replace_stored_files(host, _list_files_to_share(self._hosts / host), require_ownership, lambda _: True)

    def store_registration(self, host: str) -> None:
        """Store the host's registration, or its removal. Journals are not touched."""
        here = {path: at for path, at in _list_files_to_share(self._hosts / host).items() if path in REGISTRATION}
        self._replace_stored_files(host, here, allow_any_node, lambda path: path in REGISTRATION)

    def match_local_folder_to_database(self, host: str) -> None:
        """Update the local folder from the database. A host unknown to the database keeps its local folder."""
        with Session(self._database) as session:
            there = _read_digests(session, host)
            if not there:
                return
            files = _list_files_to_share(self._hosts / host)
            here = {path: hashlib.sha256(at.read_bytes()).hexdigest() for path, at in files.items()}
            new = {path: _read_content(session, host, path) for path in there if here.get(path) != there[path]}
        _write_files(self._hosts / host, new)
        for path in here.keys() - there.keys():
            (self._hosts / host / path).unlink()
        _remove_empty_journal_folders(self._hosts / host / _JOURNALS)

    def apply_registrations_of_other_nodes(self) -> None:
        """Apply registrations that other nodes added, changed or removed since the last sync."""
        with Session(self._database) as session:
            rows = session.exec(select(HostFileRow.host, HostFileRow.digest).where(_KNOWN)).all()
            found = {host: digest for host, digest in rows if _HOST.fullmatch(host)}
            changed = [host for host, digest in found.items() if self._seen.get(host) != digest]
            new = {host: {path: _read_content(session, host, path) for path in REGISTRATION} for host in changed}
        for host, files in new.items():
            _write_files(self._hosts / host, files)
            (self._hosts / host / _SHARED).touch()
        for host in self._seen.keys() - found.keys():
            for path in (*REGISTRATION, _SHARED):
                (self._hosts / host / path).unlink(missing_ok=True)
        self._seen = found

    def sync_on_start(self) -> None:
        """Store hosts known only here, then apply what other nodes changed."""
        own = sorted(at.parent.name for at in self._hosts.glob(f"*/{REGISTRATION[0]}"))
        shared = {host for host in own if (self._hosts / host / _SHARED).exists()}
        with Session(self._database) as session:
            known = set(session.exec(select(HostFileRow.host).distinct()).all())
        for host in own:
            if host not in shared | known:
                self.store_folder(host)
        self._seen = dict.fromkeys(own, "")
        self.apply_registrations_of_other_nodes()

    def _replace_stored_files(
        self,
        host: str,
        local_files: Mapping[str, Path],
        require_ownership: OwnershipCheck,
        is_replaced: Callable[[str], bool],
    ) -> None:
        with Session(self._database) as session, session.begin():
            require_ownership(session)
            there = {path: digest for path, digest in _read_digests(session, host).items() if is_replaced(path)}
            for path in there.keys() - local_files.keys():
                _delete_file(session, host, path)
            for path, at in local_files.items():
                content = at.read_bytes()
                if there.get(path) != (digest := hashlib.sha256(content).hexdigest()):
                    _delete_file(session, host, path)
                    session.add_all(_split_into_rows(host, path, digest, content))


def _write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files. A new journal appears as a whole; other files are replaced one by one, each atomically."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    begun: dict[str, Path] = {}
    for path, content in sorted(files.items()):
        at = folder / path
        if not at.parent.is_dir():
            new = at.parent.with_name(f".{at.parent.name}.new")
            if at.parent.name not in begun:
                shutil.rmtree(new, ignore_errors=True)
                new.mkdir(parents=True, mode=0o700)
                begun[at.parent.name] = new
            at = new / at.name
        _write_private_file_in_existing_folder(at, content)
    for name, new in begun.items():
        new.rename(new.with_name(name))


def _write_private_file_in_existing_folder(path: Path, content: bytes) -> None:
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(content)
    new.chmod(0o600)
    new.replace(path)


def _remove_empty_journal_folders(journals_folder: Path) -> None:
    for folder in journals_folder.glob("*/"):
        if not any(folder.iterdir()):
            folder.rmdir()


def _list_files_to_share(folder: Path) -> dict[str, Path]:
    """Return the files that another node needs: no locks, no partial files."""
    journals = (at for at in folder.glob(f"{_JOURNALS}/[!.]*/[!.]*") if at.is_file())
    single = (folder / name for name in _SINGLE if (folder / name).is_file())
    return {str(at.relative_to(folder)): at for at in (*single, *journals)}


def _read_digests(session: Session, host: str) -> dict[str, str]:
    query = select(HostFileRow.path, HostFileRow.digest).where(HostFileRow.host == host, HostFileRow.part == 0)
    return {path: digest for path, digest in session.exec(query).all() if _PATH.fullmatch(path)}


def _read_content(session: Session, host: str, path: str) -> bytes:
    query = select(HostFileRow).where(HostFileRow.host == host, HostFileRow.path == path)
    return b"".join(row.content for row in session.exec(query.order_by(col(HostFileRow.part))))


def _delete_file(session: Session, host: str, path: str) -> None:
    session.execute(delete(HostFileRow).where(col(HostFileRow.host) == host, col(HostFileRow.path) == path))


def _split_into_rows(host: str, path: str, digest: str, content: bytes) -> Iterator[HostFileRow]:
    for part, at in enumerate(range(0, max(1, len(content)), PART)):
        yield HostFileRow(host=host, path=path, part=part, digest=digest, content=content[at : at + PART])
