"""Packages, units, mounts and accounts over SSH: dry run, perform, then verify the result."""

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from app.errors import ActionFailed
from app.events.event_field_types import AnyAction, FileChange
from app.resources import account, package, registry
from app.resources.kind import NOT_FORESEEN, ResourceAction, ResourceState
from app.syntax.host_files_protocol import FileState
from app.targets.file_and_account_baseline import Baseline, SideEffects
from app.targets.path_walk import spell_out_undecodable_name_bytes
from app.targets.resources.available_actions import Offer, build_offers
from app.targets.resources.resource_dry_run import NONE, DryRun, PerformedChange, Permissions, build_resource_changes
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
        logins = ("root", line.end.user, *(one.user for one in line.end.watched))
        self._who = frozenset(f"{account.KIND.prefix}{name}" for name in logins)

    def predict_changes(self, actions: Sequence[AnyAction]) -> DryRun:
        ours = [one for one in actions if isinstance(one, ResourceAction)]
        if not ours:
            return NONE
        if objection := next((found for one in ours if (found := registry.get_kind(one).judge_action(one))), None):
            return DryRun(lacking=objection.reason)
        try:
            lines = _encode_actions_as_plain_lines(ours)
        except ValueError as exc:
            return DryRun(lacking=str(exc))
        said = self._line.run("foresee", data=lines, seconds=SECONDS)
        if said.code:
            return DryRun(lacking=get_last_line(said.err, _LONGEST) or _NO_REASON)
        return _parse_dry_run(said.report, self._who)

    def perform_actions(self, journal: str, actions: Sequence[AnyAction], foreseen: DryRun) -> PerformedChange:
        ours = [one for one in actions if isinstance(one, ResourceAction)]
        if not ours:
            return PerformedChange()
        was = self._listed()
        said = self._line.run("perform", journal, data=_encode_actions_as_plain_lines(ours), seconds=SECONDS)
        if said.code:
            raise ActionFailed(f"It was not seen through: {get_last_line(said.err, _LONGEST) or _NO_REASON}")
        rows = said.report
        now = dict(rows.get_rows("state"))
        for one in foreseen.states:
            if not registry.is_wanted_state_reached(one.name, one.after, now.get(one.name, "")):
                raise ActionFailed(f"{one.name} came out otherwise: {now.get(one.name) or 'absent'}.")
        _, outcome = rows.find_row("outcome") or ("", "")
        if outcome != foreseen.outcome:
            raise ActionFailed("The vendor's script made something else of the files than it did on a copy of them.")
        foreseen = _fill_in_unforeseen_states(foreseen, now)
        if weaker := registry.judge_states(foreseen):
            raise ActionFailed(f"It is done and cannot stay ({weaker.clause}): {weaker.reason}")
        touched = [path for path, _ in rows.get_rows("touched")]
        touched += [path for one in ours for path in registry.get_kind(one).list_touched(one) if path not in touched]
        return _build_performed(foreseen, was, self._listed(), touched)

    def list_resources_with_possible_actions(self, proposed: Sequence[ResourceAction]) -> tuple[Offer, ...]:
        """Return the resources of the proposed actions that the host has, with the actions possible on each."""
        names = dict.fromkeys(
            registry.get_prefixed_name_of_changed_resource(action).replace(":", " ", 1) for action in proposed
        )
        lines = "".join(f"{name}\n" for name in names)
        if not lines:
            return ()
        rows = self._line.run("offers", data=lines.encode(), seconds=SECONDS).report
        could = dict(rows.get_rows("could"))
        return build_offers(rows.get_rows("state"), could, proposed, has_systemd=rows.find_row("systemd") is not None)


def _encode_actions_as_plain_lines(actions: Sequence[ResourceAction]) -> bytes:
    return "".join(f"{registry.format_action_as_input_line_for_host_script(one)}\n" for one in actions).encode()


def _parse_dry_run(report: HostReport, login_resource_names: frozenset[str]) -> DryRun:
    before, after = dict(report.get_rows("before")), dict(report.get_rows("after"))
    states = tuple(ResourceState(name, before.get(name, ""), state) for name, state in after.items())
    lacking = next((clean_text(why, _LONGEST) for _, why in report.get_rows("lacking")), "")
    _, day = report.find_row("today") or ("", "0")
    today = int(day) if day.isascii() and day.isdecimal() else 0
    files = {path: _parse_file_state(said) for path, said in report.get_rows("file")}
    _, outcome = report.find_row("outcome") or ("", "")
    needed = login_resource_names | {f"{package.KIND.prefix}{name}" for name, _ in report.get_rows("need")}
    return DryRun(states, needed, today, lacking, files, outcome, _parse_planned_permission_changes(report))


def _parse_planned_permission_changes(dry_run_report: HostReport) -> dict[str, Permissions]:
    """Return what a script would do to permissions; an owner that is given first may be followed by a mode."""
    modes, owners = dict(dry_run_report.get_rows("mode")), dict(dry_run_report.get_rows("owner"))
    return {path: Permissions(modes.get(path, ""), owners.get(path, "")) for path in sorted(modes | owners)}


def _parse_file_state(encoded_state: str) -> FileState:
    try:
        mode, owner, content = encoded_state.split(" ", 2)
        return FileState(b64decode(content, validate=True), int(mode, 8), spell_out_undecodable_name_bytes(owner))
    except ValueError as exc:
        raise ActionFailed("The host does not say what the script made of a file.") from exc


def _fill_in_unforeseen_states(foreseen: DryRun, actual_states: Mapping[str, str]) -> DryRun:
    """Replace unforeseen states by the actual ones and drop unchanged states."""
    states = (
        replace(one, after=actual_states.get(one.name, "")) if one.after == NOT_FORESEEN else one
        for one in foreseen.states
    )
    return replace(foreseen, states=tuple(one for one in states if one.before != one.after))


def _build_performed(
    foreseen: DryRun, baseline_before: Baseline, baseline_after: Baseline, touched_paths: Sequence[str]
) -> PerformedChange:
    """Build the result. The aftermath covers all paths for drift; the record names only files."""
    paths = [path for path in touched_paths if baseline_before.entries.get(path) != baseline_after.entries.get(path)]
    accounts = {name: uid for name, uid in baseline_after.accounts.items() if baseline_before.accounts.get(name) != uid}
    if shown := [name for name, uid in accounts.items() if uid == 0]:
        raise ActionFailed(f"It made an account with uid 0: {shown[0]}.")
    sides = {path: (baseline_before.entries.get(path), baseline_after.entries.get(path)) for path in paths}
    changes = (
        FileChange(path, *(entry.digest if entry else None for entry in entries))
        for path, entries in sides.items()
        if any(entry and entry.kind == "file" for entry in entries)
    )
    after = {path: entry for path, (_, entry) in sides.items()}
    return PerformedChange(SideEffects(after, accounts), (*build_resource_changes(foreseen), *changes))
