"""Packages, units, mounts and accounts over SSH: dry run, perform, then verify the result."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from app.errors import ActionFailed
from app.events import vocabulary
from app.events.vocabulary import AnyAction, ResourceAction
from app.syntax.files import FileState
from app.targets.baseline import Baseline, SideEffects
from app.targets.path_walk import encode_name
from app.targets.resources import units, vendor_script
from app.targets.resources.dry_run import (
    ACCOUNT,
    NONE,
    NOT_FORESEEN,
    PACKAGE,
    DryRun,
    PerformedChange,
    ResourceState,
    state_matches,
    to_file_changes,
)
from app.targets.resources.offer import Offer, WantedResources, build_offers
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.host_script_output import HostReport
from app.text.clean import clean_text, get_last_line

SECONDS = 300.0
"""Time limit for a package manager and its scripts."""
_LONGEST = 300
_NO_REASON = "the host gives no reason"

Listed = Callable[[], Baseline]


class SshResources:
    def __init__(self, line: SshConnection, listed: Listed) -> None:
        self._line = line
        self._listed = listed
        us = line.end
        self._who = frozenset(f"{ACCOUNT}{name}" for name in ("root", us.user, *(one.user for one in us.watched)))

    def predict_changes(self, actions: Sequence[AnyAction]) -> DryRun:
        lines = _encode_actions(actions)
        if not lines:
            return NONE
        scripts = (one for one in actions if isinstance(one, vocabulary.RunVendorScript))
        if hidden := next((found for one in scripts if (found := vendor_script.judge_vendor_script(one))), None):
            return DryRun(lacking=hidden.reason)
        said = self._line.run("foresee", data=lines, seconds=SECONDS)
        if said.code:
            return DryRun(lacking=get_last_line(said.err, _LONGEST) or _NO_REASON)
        return _parse_dry_run(said.report, self._who)

    def perform_actions(self, journal: str, actions: Sequence[AnyAction], foreseen: DryRun) -> PerformedChange:
        lines = _encode_actions(actions)
        if not lines:
            return PerformedChange()
        was = self._listed()
        said = self._line.run("perform", journal, data=lines, seconds=SECONDS)
        if said.code:
            raise ActionFailed(f"It was not seen through: {get_last_line(said.err, _LONGEST) or _NO_REASON}")
        rows = said.report
        now = dict(rows.get_rows("state"))
        for one in foreseen.states:
            if not state_matches(one.after, now.get(one.name, "")):
                raise ActionFailed(f"{one.name} came out otherwise: {now.get(one.name) or 'absent'}.")
        _, outcome = rows.get_row("outcome") or ("", "")
        if outcome != foreseen.outcome:
            raise ActionFailed("The vendor's script made something else of the files than it did on a copy of them.")
        foreseen = _resolve_unforeseen(foreseen, now)
        if weaker := units.judge_units(foreseen):
            raise ActionFailed(f"It is done and cannot stay ({weaker.clause}): {weaker.reason}")
        return _build_performed(foreseen, was, self._listed(), [path for path, _ in rows.get_rows("touched")])

    def list_offers(self, wanted: WantedResources) -> tuple[Offer, ...]:
        lines = "".join(f"{kind} {name}\n" for kind, name in wanted.names)
        if not lines:
            return ()
        rows = self._line.run("offers", data=lines.encode(), seconds=SECONDS).report
        could = dict(rows.get_rows("could"))
        return build_offers(rows.get_rows("state"), could, wanted, runs=rows.get_row("systemd") is not None)


def _encode_actions(actions: Sequence[AnyAction]) -> bytes:
    """Encode resource actions, one a line; no word of an action contains a blank."""
    return "".join(f"{_format_action(one)}\n" for one in actions if isinstance(one, ResourceAction)).encode()


def _format_action(action: ResourceAction) -> str:
    match action:
        case vocabulary.InstallPackage():
            return f"install {action.package}"
        case vocabulary.RemovePackage():
            return f"remove {action.package}"
        case vocabulary.SetUnit():
            return f"{action.to} {action.unit}"
        case vocabulary.AddMountOptions():
            return f"options {action.mount} {','.join(action.options)}"
        case vocabulary.SetAgeing():
            return f"age {action.account} {action.setting} {action.days}"
        case vocabulary.RunVendorScript():
            return f"vendor {action.rule} {action.sha256} {b64encode(action.script.encode()).decode()}"


def _parse_dry_run(rows: HostReport, who: frozenset[str]) -> DryRun:
    before, after = dict(rows.get_rows("before")), dict(rows.get_rows("after"))
    states = tuple(ResourceState(name, before.get(name, ""), state) for name, state in after.items())
    lacking = next((clean_text(why, _LONGEST) for _, why in rows.get_rows("lacking")), "")
    _, day = rows.get_row("today") or ("", "0")
    today = int(day) if day.isascii() and day.isdecimal() else 0
    files = {path: _parse_file_state(said) for path, said in rows.get_rows("file")}
    _, outcome = rows.get_row("outcome") or ("", "")
    needed = who | {f"{PACKAGE}{name}" for name, _ in rows.get_rows("need")}
    return DryRun(states, needed, today, lacking, files, outcome)


def _parse_file_state(said: str) -> FileState:
    try:
        mode, owner, content = said.split(" ", 2)
        return FileState(b64decode(content, validate=True), int(mode, 8), encode_name(owner))
    except ValueError as exc:
        raise ActionFailed("The host does not say what the script made of a file.") from exc


def _resolve_unforeseen(foreseen: DryRun, now: Mapping[str, str]) -> DryRun:
    """Replace unforeseen states by the actual ones and drop unchanged states."""
    states = (
        replace(one, after=now.get(one.name, "")) if one.after == NOT_FORESEEN else one for one in foreseen.states
    )
    return replace(foreseen, states=tuple(one for one in states if one.before != one.after))


def _build_performed(foreseen: DryRun, was: Baseline, now: Baseline, touched: Sequence[str]) -> PerformedChange:
    """Build the result. The aftermath covers all paths for drift; the record names only files."""
    paths = [path for path in touched if was.entries.get(path) != now.entries.get(path)]
    accounts = {name: uid for name, uid in now.accounts.items() if was.accounts.get(name) != uid}
    if shown := [name for name, uid in accounts.items() if uid == 0]:
        raise ActionFailed(f"It made an account with uid 0: {shown[0]}.")
    sides = {path: (was.entries.get(path), now.entries.get(path)) for path in paths}
    changes = (
        vocabulary.FileChange(path, *(entry.digest if entry else None for entry in entries))
        for path, entries in sides.items()
        if any(entry and entry.kind == "file" for entry in entries)
    )
    after = {path: entry for path, (_, entry) in sides.items()}
    return PerformedChange(SideEffects(after, accounts), (*to_file_changes(foreseen), *changes))
