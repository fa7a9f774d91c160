"""Fetches files of a host as a tar stream and parses it. Odd names stay text; impossible names are skipped."""

import io
import tarfile
from collections.abc import Iterable
from stat import S_IMODE

from app.errors import ConnectionLost, EnvironmentUnusable
from app.syntax.host_files_protocol import FileState
from app.targets.path_walk import spell_out_undecodable_name_bytes
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.fetched_files import Kind, Snapshot, SnapshotEntry
from app.targets.ssh.files_to_fetch import ALWAYS, to_relative_patterns_with_hidden_names
from app.text.clean import clean_text

LARGEST = 8 * 1024 * 1024
"""Content of larger files is not read; judged files are far smaller."""
_FETCH_SECONDS = 120.0
_FINE = (0, 1)
"""1: a file changed while tar read it."""


def fetch_patterns(
    connection: SshConnection, patterns: Iterable[str] = ALWAYS, rule_paths: Iterable[str] = ()
) -> Snapshot:
    """Fetch the files that match `patterns`, and the world-readable files in `rule_paths`."""
    asked = (
        "all",
        *to_relative_patterns_with_hidden_names(patterns),
        "--",
        *to_relative_patterns_with_hidden_names(rule_paths),
    )
    return _fetch_snapshot(connection, asked, _FETCH_SECONDS)


def fetch_paths(connection: SshConnection, paths: Iterable[str]) -> Snapshot:
    wanted: dict[str, None] = {}
    for path in paths:
        names = path.split("/")[1:]
        wanted.update(dict.fromkeys("/".join(names[: depth + 1]) for depth in range(len(names))))
    return _fetch_snapshot(connection, ("some", *wanted))


def _fetch_snapshot(connection: SshConnection, script_arguments: Iterable[str], seconds: float = 30.0) -> Snapshot:
    said = connection.run("fetch", *script_arguments, seconds=seconds)
    if said.code not in _FINE:
        raise EnvironmentUnusable(f"{connection.end}: its files cannot be fetched: {said.reason}.")
    return Snapshot(parse_archive(said.out))


def parse_archive(stream: bytes) -> dict[str, SnapshotEntry]:
    found: dict[str, SnapshotEntry] = {}
    if not stream:
        return found
    try:
        # Uncompressed only: a few compressed bytes can expand to any size.
        with tarfile.open(fileobj=io.BytesIO(stream), mode="r:", errors="surrogateescape", encoding="utf-8") as archive:
            for member in archive:
                _require_plausible_size(member, len(stream))
                path = _parse_member_path(member.name)
                if path is not None:
                    found[path] = _read_snapshot_entry(archive, member)
    except (tarfile.TarError, EOFError) as exc:
        raise ConnectionLost(f"the files of the host came in part: {exc}.") from exc
    return found


def _require_plausible_size(member: tarfile.TarInfo, stream_size: int) -> None:
    """Raise EnvironmentUnusable for a sparse or oversized member: it can claim any number of zero bytes."""
    if member.issparse() or member.size > stream_size:
        sent = f"the host sent {clean_text(member.name, 100)!a} as {member.size} bytes in {stream_size}"
        raise EnvironmentUnusable(f"{sent}: Temper does not read sparse files. Check the file, and tar on the host.")


def _parse_member_path(name: str) -> str | None:
    names = name.removeprefix("./").rstrip("/").split("/")
    return (
        None
        if any(one in ("", ".", "..") for one in names)
        else "/" + spell_out_undecodable_name_bytes("/".join(names))
    )


def _read_snapshot_entry(archive: tarfile.TarFile, member: tarfile.TarInfo) -> SnapshotEntry:
    owner = spell_out_undecodable_name_bytes(f"{member.uname or member.uid}:{member.gname or member.gid}")
    content = b""
    readable = member.isfile() and member.size <= LARGEST
    if readable and (held := archive.extractfile(member)):
        content = held.read()
    kind: Kind = "other"
    if member.isdir():
        kind = "folder"
    elif member.issym():
        kind = "link"
    elif readable:
        kind = "file"
    state = FileState(content, S_IMODE(member.mode), owner, int(member.mtime * 1e9))
    return SnapshotEntry(kind, state, spell_out_undecodable_name_bytes(member.linkname) if member.issym() else "")
