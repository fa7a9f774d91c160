"""The state of a host's files when a run began, and the drift since then."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, Protocol

import msgspec

from app.events.words import FileChange
from app.syntax.files import Files, FileState
from app.targets.accounts import people
from app.targets.digest import digest
from app.targets.names import spelled
from app.text.clean import clean

_LOGS = "/var/log/"
_SPECIAL = 0o6000
_MOST = 40


Standing = str | tuple[FileState, bool] | None
"""A link's goal; or a state and whether it is a folder's; None for other kinds of files."""


class Whole(Files, Protocol):
    def standing(self) -> Mapping[str, Standing]:
        """Return each path with what it holds, sorted. Links are not followed."""


class OldEntry(msgspec.Struct, frozen=True, array_like=True):
    kind: str
    """file, folder or link."""
    mode: int
    owner: str
    size: int
    digest: str | None


class Baseline(msgspec.Struct, frozen=True):
    entries: dict[str, OldEntry]
    accounts: dict[str, int]
    of: Literal["state", "content"] = "state"
    """What a file's digest covers: content, mode and owner ("state"), or the content alone."""


class Aftermath(msgspec.Struct, frozen=True):
    """What package scripts changed on the host besides the requested change."""

    entries: dict[str, OldEntry | None] = {}
    accounts: dict[str, int] = {}


def after(was: Baseline, noted: Iterable[Aftermath]) -> Baseline:
    """Return the baseline with the known side effects of changes included."""
    entries, accounts = dict(was.entries), dict(was.accounts)
    for one in noted:
        accounts |= one.accounts
        for path, entry in one.entries.items():
            if entry is None:
                entries.pop(path, None)
            else:
                entries[path] = entry
    return msgspec.structs.replace(was, entries=entries, accounts=accounts)


def take(tree: Whole) -> Baseline:
    return Baseline(
        {path: _entry(found) for path, found in tree.standing().items()},
        {spelled(account.name): account.uid for account in people(tree).accounts},
    )


def summary(baseline: Baseline) -> str:
    """Return the sha256 over all paths and their entries."""
    return hashlib.sha256(msgspec.json.encode(baseline.entries, order="sorted")).hexdigest()


def drift(was: Baseline, now: Baseline, announced: Iterable[FileChange]) -> tuple[str, ...]:
    """Return a sentence for each difference that no announced change explains. The last announcement counts."""
    made = {change.path: change.after for change in announced}
    before = was.entries if was.of == now.of else _without_digests(was.entries, now.entries)
    found = [*_people(was, now), *_files(before, now.entries, made)]
    rest = [f"and {len(found) - _MOST} more"] if len(found) > _MOST else []
    return tuple(clean(sentence, 300) for sentence in [*found[:_MOST], *rest])


def _without_digests(was: Mapping[str, OldEntry], now: Mapping[str, OldEntry]) -> dict[str, OldEntry]:
    """Take digests and sizes from `now`: baselines of older versions do not have comparable ones."""
    return {
        path: msgspec.structs.replace(entry, digest=now[path].digest, size=now[path].size)
        for path, entry in was.items()
        if path in now
    }


def _entry(found: Standing) -> OldEntry:
    if isinstance(found, str):
        return OldEntry("link", 0, "", 0, hashlib.sha256(found.encode(errors="surrogateescape")).hexdigest())
    if found is None:
        return OldEntry("other", 0, "", 0, None)
    state, folder = found
    return OldEntry("folder" if folder else "file", state.mode, state.owner, len(state.content), digest(state))


def _people(was: Baseline, now: Baseline) -> Iterator[str]:
    for name, uid in now.accounts.items():
        if name not in was.accounts:
            yield f"there is a new account: {name} (uid {uid})"
        elif uid != was.accounts[name]:
            yield f"the account {name} has uid {uid}, and had {was.accounts[name]}"
    for name in was.accounts.keys() - now.accounts.keys():
        yield f"the account {name} is gone"


def _files(was: Mapping[str, OldEntry], now: Mapping[str, OldEntry], made: Mapping[str, str | None]) -> Iterator[str]:
    for path in sorted(was.keys() | now.keys() | made.keys()):
        before, after = was.get(path), now.get(path)
        if path in made:
            if made[path] != (after.digest if after else None):
                yield f"{path} is not what the change made of it"
        elif before is None and after is not None:
            if not _is_explained(path, after, made):
                yield f"{_special(after)}a new {after.kind} that no action made: {path} ({_rights(after)})"
        elif after is None and before is not None:
            yield f"{path} is gone"
        elif before is not None and after is not None and before != after:
            yield from _difference(path, before, after)


def _is_explained(path: str, entry: OldEntry, made: Mapping[str, str | None]) -> bool:
    """Return True for a folder of an announced file, and for a new log file."""
    if entry.kind == "folder":
        return any(known.startswith(f"{path}/") for known in made)
    return path.startswith(_LOGS) and not _special(entry)


def _difference(path: str, before: OldEntry, after: OldEntry) -> Iterator[str]:
    if before.kind != after.kind:
        yield f"{path} was a {before.kind} and is a {after.kind}"
    elif _rights(before) != _rights(after):
        yield f"{_special(after)}{path} has {_rights(after)}, and had {_rights(before)}"
    elif not path.startswith(_LOGS):
        yield f"the content of {path} changed, and no action did that"
    elif after.size < before.size:
        yield f"the log {path} has become shorter"


def _rights(entry: OldEntry) -> str:
    return f"mode {entry.mode:04o}, owner {entry.owner}"


def _special(entry: OldEntry) -> str:
    return "setuid or setgid: " if entry.kind == "file" and entry.mode & _SPECIAL else ""
