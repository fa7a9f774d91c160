"""Reads a baseline of the host as digests that the host computes, so that no file content is sent."""

import hashlib
from collections.abc import Iterable

import msgspec

from app.errors import ConnectionLost, EnvironmentUnusable
from app.events.event_field_types import FileChange
from app.targets.file_and_account_baseline import Baseline, BaselineEntry, compute_file_state_digest
from app.targets.host_accounts import read_host_accounts
from app.targets.path_walk import spell_out_undecodable_name_bytes
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.fetched_files import Snapshot

NOT_LISTED = ("etc/pki/ca-trust/extracted", "etc/udev/hwdb.bin", "etc/selinux/*/policy")
"""Excluded: large files that programs generate."""
_SECONDS = 120.0
_KINDS = {"d": "folder", "f": "file", "l": "link"}
_FIELDS = 3


def take_host_baseline(connection: SshConnection, snapshot: Snapshot) -> Baseline:
    said = connection.run("listed", *NOT_LISTED, seconds=_SECONDS)
    if said.code:
        raise EnvironmentUnusable(f"{connection.end}: its files cannot be listed: {said.reason}.")
    try:
        entries = _parse_entries(said.out.split(b"\0"))
    except (ValueError, IndexError) as exc:
        raise ConnectionLost(f"{connection.end}: what stands on it came in part or in another form: {exc}.") from exc
    accounts = {
        spell_out_undecodable_name_bytes(account.name): account.uid for account in read_host_accounts(snapshot).accounts
    }
    return Baseline(entries, accounts, "content")


def recompute_announced_digests(
    current: Baseline, snapshot: Snapshot, announced_changes: Iterable[FileChange]
) -> Baseline:
    """Replace digests of announced paths by the digest over content, mode and owner that announcements use."""
    entries = dict(current.entries)
    for path in {change.path for change in announced_changes} & entries.keys():
        entries[path] = msgspec.structs.replace(entries[path], digest=compute_file_state_digest(snapshot.state(path)))
    return msgspec.structs.replace(current, entries=entries)


def _parse_entries(fields: list[bytes]) -> dict[str, BaselineEntry]:
    found: dict[str, BaselineEntry] = {}
    at = 0
    while fields[at]:
        about, goal, name = fields[at : at + _FIELDS]
        letter, mode, owner, size = about.decode("utf-8", "replace").split(" ")
        kind = _KINDS.get(letter, "other")
        if kind == "link":
            found[_decode_path(name)] = BaselineEntry(kind, 0, "", 0, hashlib.sha256(goal).hexdigest())
        else:
            length = int(size) if kind == "file" else 0
            found[_decode_path(name)] = BaselineEntry(kind, int(mode, 8), owner, length, None)
        at += _FIELDS
    for one in filter(None, fields[at:]):
        told, _, name = one.partition(b"  ")
        if entry := found.get(_decode_path(name)):
            found[_decode_path(name)] = msgspec.structs.replace(entry, digest=told.decode("ascii"))
    return found


def _decode_path(name: bytes) -> str:
    return "/" + spell_out_undecodable_name_bytes(name.decode("utf-8", "surrogateescape"))
