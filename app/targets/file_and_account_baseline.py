"""The state of a host's files when a run began, and the drift since then."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from app.errors import EnvironmentUnusable
from app.events.event_field_types import FileChange
from app.syntax.host_files_protocol import Files, FileState
from app.targets.host_accounts import read_host_accounts
from app.targets.path_walk import spell_out_undecodable_name_bytes
from app.text.clean import clean_text


def compute_file_state_digest(state: FileState | None) -> str | None:
    if state is None:
        return None
    return hashlib.sha256(f"{state.mode:04o} {state.owner}\n".encode() + state.content).hexdigest()


def build_file_change(path: str, before: FileState | None, after: FileState | None) -> FileChange:
    return FileChange(path, compute_file_state_digest(before), compute_file_state_digest(after))


_LOGS = "/var/log/"
_SPECIAL = 0o6000
_MOST = 40


FoundEntry = str | tuple[FileState, bool] | None
"""A link's goal; or a state and whether it is a folder's; None for other kinds of files."""


class ListableFiles(Files, Protocol):
    def list_entries(self) -> Mapping[str, FoundEntry]:
        """Return each path with what it holds, sorted. Links are not followed."""


class BaselineEntry(msgspec.Struct, frozen=True, array_like=True):
    kind: str
    """file, folder or link."""
    mode: int
    owner: str
    size: int
    digest: str | None


class Baseline(msgspec.Struct, frozen=True):
    entries: dict[str, BaselineEntry]
    accounts: dict[str, int]
    of: Literal["state", "content"] = "state"
    """What a file's digest covers: content, mode and owner ("state"), or the content alone."""


class SideEffects(msgspec.Struct, frozen=True):
    """What package scripts changed on the host besides the requested change."""

    entries: dict[str, BaselineEntry | None] = {}
    accounts: dict[str, int] = {}


Entries = Mapping[str, BaselineEntry]


def apply_side_effects(baseline: Baseline, side_effects: Iterable[SideEffects]) -> Baseline:
    entries, accounts = dict(baseline.entries), dict(baseline.accounts)
    for one in side_effects:
        accounts |= one.accounts
        for path, entry in one.entries.items():
            if entry is None:
                entries.pop(path, None)
            else:
                entries[path] = entry
    return msgspec.structs.replace(baseline, entries=entries, accounts=accounts)


def take_baseline(tree: ListableFiles) -> Baseline:
    return Baseline(
        {path: _to_entry(found) for path, found in tree.list_entries().items()},
        {spell_out_undecodable_name_bytes(account.name): account.uid for account in read_host_accounts(tree).accounts},
    )


def load_baseline(file: Path) -> Baseline:
    """Load the baseline stored when the host was prepared; raise EnvironmentUnusable if there is none."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Baseline)
    except (OSError, msgspec.DecodeError) as exc:
        raise EnvironmentUnusable(f"{file.parent} has no baseline to compare with; prepare the host first.") from exc


def hash_baseline_entries(baseline: Baseline) -> str:
    return hashlib.sha256(msgspec.json.encode(baseline.entries, order="sorted")).hexdigest()


def describe_drift(was: Baseline, now: Baseline, announced: Iterable[FileChange]) -> tuple[str, ...]:
    """Return a sentence for each difference that no announced change explains. The last announcement counts."""
    made = {change.path: change.after for change in announced}
    before = was.entries if was.of == now.of else _replace_digests_with_current(was.entries, now.entries)
    found = [*_compare_accounts(was, now), *_compare_files(before, now.entries, made)]
    rest = [f"and {len(found) - _MOST} more"] if len(found) > _MOST else []
    return tuple(clean_text(sentence, 300) for sentence in [*found[:_MOST], *rest])


def exclude_paths(baseline: Baseline, paths: Collection[str]) -> Baseline:
    entries = {path: entry for path, entry in baseline.entries.items() if path not in paths}
    return msgspec.structs.replace(baseline, entries=entries)


def is_root_file_closed_to_other_accounts(baseline: Baseline, path: str) -> bool:
    """Return True for a file of root's that nobody else reads or writes, but for its group."""
    entry = baseline.entries.get(path)
    return entry is not None and (entry.kind, entry.owner) == ("file", "root:root") and not entry.mode & 0o027


def _replace_digests_with_current(was: Entries, now: Entries) -> Entries:
    """Take digests and sizes from `now`: baselines of older versions do not have comparable ones."""
    pairs = ((path, entry, now.get(path, entry)) for path, entry in was.items())
    return {path: msgspec.structs.replace(entry, digest=new.digest, size=new.size) for path, entry, new in pairs}


def _to_entry(found: FoundEntry) -> BaselineEntry:
    if isinstance(found, str):
        return BaselineEntry("link", 0, "", 0, hashlib.sha256(found.encode(errors="surrogateescape")).hexdigest())
    if found is None:
        return BaselineEntry("other", 0, "", 0, None)
    state, folder = found
    kind = "folder" if folder else "file"
    return BaselineEntry(kind, state.mode, state.owner, len(state.content), compute_file_state_digest(state))


def _compare_accounts(was: Baseline, now: Baseline) -> Iterator[str]:
    for name, uid in now.accounts.items():
        if name not in was.accounts:
            yield f"there is a new account: {name} (uid {uid})"
        elif uid != was.accounts[name]:
            yield f"the account {name} has uid {uid}, and had {was.accounts[name]}"
    for name in sorted(was.accounts.keys() - now.accounts.keys()):
        yield f"the account {name} is gone"


def _compare_files(was: Entries, now: Entries, announced_digests: Mapping[str, str | None]) -> Iterator[str]:
    for path in sorted(was.keys() | now.keys() | announced_digests.keys()):
        before, after = was.get(path), now.get(path)
        if path in announced_digests:
            if announced_digests[path] != (after.digest if after else None):
                yield f"{path} is not what the change made of it"
        elif before is None and after is not None:
            if not _is_new_log_or_announced_files_folder(path, after, announced_digests):
                new = f"{_get_setuid_label(after)}a new {after.kind} that no action made"
                yield f"{new}: {path} ({_describe_rights(after)})"
        elif after is None and before is not None:
            yield f"{path} is gone"
        elif before is not None and after is not None and before != after:
            yield from _describe_difference(path, before, after)


def _is_new_log_or_announced_files_folder(
    path: str, entry: BaselineEntry, announced_digests: Mapping[str, str | None]
) -> bool:
    """Return True for a folder of an announced file, and for a new log file."""
    if entry.kind == "folder":
        return any(known.startswith(f"{path}/") for known in announced_digests)
    return path.startswith(_LOGS) and not _get_setuid_label(entry)


def _describe_difference(path: str, before: BaselineEntry, after: BaselineEntry) -> Iterator[str]:
    if before.kind != after.kind:
        yield f"{path} was a {before.kind} and is a {after.kind}"
    elif _describe_rights(before) != _describe_rights(after):
        yield f"{_get_setuid_label(after)}{path} has {_describe_rights(after)}, and had {_describe_rights(before)}"
    elif not path.startswith(_LOGS):
        yield f"the content of {path} changed, and no action did that"
    elif after.size < before.size:
        yield f"the log {path} has become shorter"


def _describe_rights(entry: BaselineEntry) -> str:
    return f"mode {entry.mode:04o}, owner {entry.owner}"


def _get_setuid_label(entry: BaselineEntry) -> str:
    return "setuid or setgid: " if entry.kind == "file" and entry.mode & _SPECIAL else ""
