"""Reading what a host's tar sends. Names are the host's words: odd ones are kept as text, impossible ones left out."""

import io
import tarfile
from collections.abc import Iterable
from stat import S_IMODE

from app.errors import LineCut, Unusable
from app.events.clean import clean
from app.files import FileState
from app.targets.ssh.line import Line
from app.targets.ssh.snapshot import Entry, Kind, Snapshot

NOT_FETCHED = (
    "etc/ssh/ssh_host_*_key",
    "etc/ssl/private",
    "etc/pki/tls/private",
    "etc/pki/ca-trust/extracted",
    "etc/udev/hwdb.bin",
    "etc/selinux/*/policy",
    ".temper-trial",
    "*.temper-new",
)
"""Private keys are nobody's business here; the others are large and made by programs."""

_FETCH_SECONDS = 120.0
_FINE = (0, 1)
"""1: a file changed while it was read."""


def everything(line: Line) -> Snapshot:
    said = line.run("fetch", "all", *NOT_FETCHED, seconds=_FETCH_SECONDS)
    if said.code not in _FINE:
        raise Unusable(f"{line.end}: its files cannot be fetched: {clean(said.err.strip(), 200)}.")
    return Snapshot(entries(said.out))


def these(line: Line, paths: Iterable[str]) -> Snapshot:
    """The paths, and every folder on the way to them."""
    wanted: dict[str, None] = {}
    for path in paths:
        names = path.split("/")[1:]
        wanted.update(dict.fromkeys("/".join(names[: depth + 1]) for depth in range(len(names))))
    said = line.run("fetch", "some", *wanted)
    if said.code not in _FINE:
        raise Unusable(f"{line.end}: files cannot be looked at: {clean(said.err.strip(), 200)}.")
    return Snapshot(entries(said.out))


def entries(stream: bytes) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    if not stream:
        return found
    try:
        # Never unpacked on the way: a few bytes of a compressed stream may stand for any number.
        with tarfile.open(fileobj=io.BytesIO(stream), mode="r:", errors="surrogateescape", encoding="utf-8") as archive:
            for member in archive:
                _check_size(member, len(stream))
                path = _path(member.name)
                if path is not None:
                    found[path] = _entry(archive, member)
    except (tarfile.TarError, EOFError) as exc:
        raise LineCut(f"the files of the host came in part: {exc}.") from exc
    return found


def _check_size(member: tarfile.TarInfo, came: int) -> None:
    """A sparse member is a few bytes that say how many zeros they stand for; ours are sent as they are."""
    if member.issparse() or member.size > came:
        raise Unusable(
            f"the host sent {clean(member.name, 100)!a} as {member.size} bytes in {came}: a sparse file is not taken. "
            "Look at its tar, and at that file."
        )


def _path(name: str) -> str | None:
    names = name.removeprefix("./").rstrip("/").split("/")
    return None if any(one in ("", ".", "..") for one in names) else "/" + "/".join(names)


def _entry(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Entry:
    owner = f"{member.uname or member.uid}:{member.gname or member.gid}"
    content = b""
    if member.isfile() and (held := archive.extractfile(member)):
        content = held.read()
    kind: Kind = "other"
    if member.isdir():
        kind = "folder"
    elif member.issym():
        kind = "link"
    elif member.isfile():
        kind = "file"
    return Entry(kind, FileState(content, S_IMODE(member.mode), owner), member.linkname if member.issym() else "")
