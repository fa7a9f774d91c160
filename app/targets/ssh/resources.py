"""Packages, units, mounts and accounts over SSH: dry run, perform, then verify the result."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from app.errors import ActionFailed
from app.events import words
from app.events.words import AnyAction, ResourceAction
from app.syntax.files import FileState
from app.targets.baseline import Aftermath, Baseline
from app.targets.names import spelled
from app.targets.resources import units, vendor
from app.targets.resources.foreseen import (
    ACCOUNT,
    NONE,
    NOT_FORESEEN,
    PACKAGE,
    DryRun,
    Performed,
    ResourceState,
    came,
    recorded,
)
from app.targets.resources.offer import Offer, WantedResources, offered
from app.targets.ssh.line import SshLine
from app.targets.ssh.told import Told, told
from app.text.clean import clean

SECONDS = 300.0
"""Time limit for a package manager and its scripts."""
_LONGEST = 300

Listed = Callable[[], Baseline]


class SshResources:
    def __init__(self, line: SshLine, listed: Listed) -> None:
        self._line = line
        self._listed = listed
        us = line.end
        self._who = frozenset(f"{ACCOUNT}{name}" for name in ("root", us.user, *(one.user for one in us.watched)))

    def foresee(self, actions: Sequence[AnyAction]) -> DryRun:
        lines = _lines(actions)
        if not lines:
            return NONE
        scripts = (one for one in actions if isinstance(one, words.RunVendorScript))
        if hidden := next((found for one in scripts if (found := vendor.objection(one))), None):
            return DryRun(lacking=hidden.reason)
        said = self._line.run("foresee", data=lines, seconds=SECONDS)
        if said.code:
            return DryRun(lacking=_reason(said.err))
        return _foreseen(told(said.text.splitlines()), self._who)

    def perform(self, journal: str, actions: Sequence[AnyAction], foreseen: DryRun) -> Performed:
        lines = _lines(actions)
        if not lines:
            return Performed()
        was = self._listed()
        said = self._line.run("perform", journal, data=lines, seconds=SECONDS)
        if said.code:
            raise ActionFailed(f"It was not seen through: {_reason(said.err)}")
        rows = told(said.text.splitlines())
        now = dict(rows.of("state"))
        for one in foreseen.states:
            if not came(one.after, now.get(one.name, "")):
                raise ActionFailed(f"{one.name} came out otherwise: {now.get(one.name) or 'absent'}.")
        _, outcome = rows.one("outcome") or ("", "")
        if outcome != foreseen.outcome:
            raise ActionFailed("The vendor's script made something else of the files than it did on a copy of them.")
        foreseen = _came_of(foreseen, now)
        if weaker := units.judge(foreseen):
            raise ActionFailed(f"It is done and cannot stay ({weaker.clause}): {weaker.reason}")
        return _performed(foreseen, was, self._listed(), [path for path, _ in rows.of("touched")])

    def offers(self, wanted: WantedResources) -> tuple[Offer, ...]:
        """Return the wanted resources that the host has, with the possible actions on each."""
        lines = "".join(f"{kind} {name}\n" for kind, name in wanted.names)
        if not lines:
            return ()
        rows = told(self._line.run("offers", data=lines.encode(), seconds=SECONDS).text.splitlines())
        could = dict(rows.of("could"))
        return offered(rows.of("state"), could, wanted, runs=rows.one("systemd") is not None)


def _lines(actions: Sequence[AnyAction]) -> bytes:
    """Encode resource actions, one a line; no word of an action contains a blank."""
    return "".join(f"{_line(one)}\n" for one in actions if isinstance(one, ResourceAction)).encode()


def _line(action: ResourceAction) -> str:
    match action:
        case words.InstallPackage():
            return f"install {action.package}"
        case words.RemovePackage():
            return f"remove {action.package}"
        case words.SetUnit():
            return f"{action.to} {action.unit}"
        case words.AddMountOptions():
            return f"options {action.mount} {','.join(action.options)}"
        case words.SetAgeing():
            return f"age {action.account} {action.setting} {action.days}"
        case words.RunVendorScript():
            return f"vendor {action.rule} {action.sha256} {b64encode(action.script.encode()).decode()}"


def _foreseen(rows: Told, who: frozenset[str]) -> DryRun:
    before, after = dict(rows.of("before")), dict(rows.of("after"))
    states = tuple(ResourceState(name, before.get(name, ""), state) for name, state in after.items())
    lacking = next((clean(why, _LONGEST) for _, why in rows.of("lacking")), "")
    _, day = rows.one("today") or ("", "0")
    today = int(day) if day.isascii() and day.isdecimal() else 0
    files = {path: _state(said) for path, said in rows.of("file")}
    _, outcome = rows.one("outcome") or ("", "")
    needed = who | {f"{PACKAGE}{name}" for name, _ in rows.of("need")}
    return DryRun(states, needed, today, lacking, files, outcome)


def _state(said: str) -> FileState:
    try:
        mode, owner, content = said.split(" ", 2)
        return FileState(b64decode(content, validate=True), int(mode, 8), spelled(owner))
    except ValueError as exc:
        raise ActionFailed("The host does not say what the script made of a file.") from exc


def _came_of(foreseen: DryRun, now: Mapping[str, str]) -> DryRun:
    """Replace unforeseen states by the actual ones and drop unchanged states."""
    states = (
        replace(one, after=now.get(one.name, "")) if one.after == NOT_FORESEEN else one for one in foreseen.states
    )
    return replace(foreseen, states=tuple(one for one in states if one.before != one.after))


def _performed(foreseen: DryRun, was: Baseline, now: Baseline, touched: Sequence[str]) -> Performed:
    """Build the result. The aftermath covers all paths for drift; the record names only files."""
    paths = [path for path in touched if was.entries.get(path) != now.entries.get(path)]
    accounts = {name: uid for name, uid in now.accounts.items() if was.accounts.get(name) != uid}
    if shown := [name for name, uid in accounts.items() if uid == 0]:
        raise ActionFailed(f"It made an account with uid 0: {shown[0]}.")
    files = [path for path in paths if "file" in _kinds(path, was, now)]
    changes = (words.FileChange(path, _digest(was, path), _digest(now, path)) for path in files)
    return Performed(
        Aftermath({path: now.entries.get(path) for path in paths}, accounts), (*recorded(foreseen), *changes)
    )


def _kinds(path: str, *sides: Baseline) -> set[str]:
    return {entry.kind for side in sides if (entry := side.entries.get(path))}


def _digest(side: Baseline, path: str) -> str | None:
    entry = side.entries.get(path)
    return entry.digest if entry else None


def _reason(err: str) -> str:
    lines = [line for line in err.strip().splitlines() if line.strip()]
    return clean(lines[-1], _LONGEST) if lines else "the host gives no reason"
