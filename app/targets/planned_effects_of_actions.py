"""What actions would do to a host: each is parsed once into its effect, and the policy judges the effects."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from app.errors import ActionFailed, find_storage_fault
from app.events.event_field_types import AnyAction, Chmod, FileAction, Reload, WriteFile
from app.resources.kind import ResourceAction
from app.syntax import host_text
from app.syntax.host_files_protocol import Files, FileState
from app.targets.overlay import Overlay
from app.targets.planned_file_states import compute_state_after_action, list_stated_added_and_removed_lines
from app.targets.resources.resource_dry_run import DryRun
from app.targets.rule_scope import RuleScope
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Judge, Objection, list_added_and_removed_lines
from app.targets.writable_areas import find_judge_or_objection
from app.text.clean import clean_text

IMPOSSIBLE = "impossible here"
"""The clause of what no change can do on this host."""
MOST_ACTIONS = 12
_AUTHSELECT_STACKS = ("fingerprint-auth", "password-auth", "postlogin", "smartcard-auth", "system-auth")
_KEPT_BY_AUTHSELECT = ("/etc/nsswitch.conf", *(f"/etc/pam.d/{name}" for name in _AUTHSELECT_STACKS))
_PATH = re.compile(r"(?:/\.?[A-Za-z0-9_][A-Za-z0-9_.@+-]*)+", re.ASCII)

Actions = Sequence[AnyAction]
Paths = frozenset[str]
Asks = frozenset[str]
"""Settings that the rule itself wants, even if they count as weaker (Rule.asks)."""
Effect = FileEdit | Reload | ResourceAction | Objection
"""What one action does. The dry run has the effect of a resource action; an objection: nothing that can be read."""


class HostFiles(Files, Protocol):
    def find_first_link(self, path: str) -> str | None:
        """Return the first link on the way to `path`, itself included; None if there is no link."""


@dataclass(frozen=True)
class ProposedChange:
    actions: tuple[AnyAction, ...]
    allowed_paths: frozenset[str]
    """The files and resources that the plan names."""
    asks: Asks = frozenset()
    scope: RuleScope | None = None
    """What the rule names. None for a person's own change, which is judged by plan and policy alone."""


@dataclass(frozen=True)
class Refusal:
    action: AnyAction
    clause: str
    reason: str


@dataclass(frozen=True)
class ChangePlan:
    effects: tuple[Effect, ...]
    """One per action, each on top of the earlier ones."""
    after: Mapping[str, FileState]
    """The new state of each file that the actions change."""
    made: Mapping[str, FileState]
    """The same, with the files that a vendor's script changes."""
    obstacle: str
    """Why the change can be neither made nor shown; empty if it can."""


def build_change_plan(actions: Sequence[AnyAction], files: HostFiles, foreseen: DryRun) -> ChangePlan:
    planned: dict[str, FileState] = {}
    effects = tuple(
        _find_count_or_repetition_objection(actions, number) or _plan_action_effect(action, files, planned)
        for number, action in enumerate(actions)
    )
    after = {path: state for path, state in planned.items() if state != files.state(path)}
    obstacles = [effect.reason for effect in effects if isinstance(effect, Objection)]
    obstacles += [f"{foreseen.obstacle}."] if foreseen.obstacle else []
    obstacles += [effect.failure for effect in effects if isinstance(effect, FileEdit) and effect.failure]
    return ChangePlan(effects, after, {**after, **foreseen.files}, next(iter(obstacles), ""))


def _find_count_or_repetition_objection(actions: Sequence[AnyAction], index: int) -> Objection | None:
    if index >= MOST_ACTIONS:
        return Objection("too much", f"an answer may have at most {MOST_ACTIONS} actions; split the change.")
    if actions[index] in actions[:index] and not isinstance(actions[index], Reload):
        return Objection("too much", "the answer has the same action twice.")
    return None


def _plan_action_effect(action: AnyAction, files: HostFiles, planned_states: dict[str, FileState]) -> Effect:
    try:
        msgspec.convert(msgspec.to_builtins(action), AnyAction)
    except (msgspec.ValidationError, TypeError) as exc:
        return Objection("not understood", f"the action is not well formed: {exc}.")
    if not isinstance(action, FileAction):
        return action
    judge = _find_path_judge_or_objection(action.path, files)
    if isinstance(judge, Objection):
        return judge
    edit, state = _compute_edit_and_state_unless_action_fails(action, judge, Overlay(files, planned_states))
    if state is not None:
        planned_states[action.path] = state
    return edit


def _find_path_judge_or_objection(path: str, files: HostFiles) -> Judge | Objection:
    """Return the judge of a path that may be read, or the objection to it."""
    if not _PATH.fullmatch(path):
        reason = f"{path!a} is not a plain absolute path: no '..', no doubled slashes, no odd characters."
        return Objection("escape", reason)
    judge = find_judge_or_objection(path)
    if not isinstance(judge, Objection) and (link := files.find_first_link(path)):
        if profile := _read_authselect_profile(link, files):
            return Objection(
                IMPOSSIBLE,
                f"{link} is written by authselect from the profile {profile}, and would be overwritten: enable a "
                "feature with `authselect enable-feature`, or change your own profile in /etc/authselect/custom.",
            )
        return Objection("escape", f"{link} is a link; a change through a link could end anywhere.")
    return judge


def _read_authselect_profile(link: str, files: Files) -> str:
    """Return the name of the profile by which authselect keeps this link; empty if it does not."""
    if link not in _KEPT_BY_AUTHSELECT:
        return ""
    state = files.state("/etc/authselect/authselect.conf")
    first = host_text.decode_bytes(state.content).partition("\n")[0] if state else ""
    return clean_text(first.strip(), 80)


def _compute_edit_and_state_unless_action_fails(
    action: FileAction, judge: Judge, files: Files
) -> tuple[FileEdit, FileState | None]:
    """Return the edit and the new state of the file; None if the action fails."""
    state = files.state(action.path)
    before, mode = (host_text.decode_bytes(state.content), state.mode) if state else ("", None)
    lines, lost = list_stated_added_and_removed_lines(action)
    try:
        after = compute_state_after_action(action, files)
    except (ActionFailed, UnicodeError) as exc:
        if find_storage_fault(exc):
            raise
        new_mode = int(action.mode, 8) if isinstance(action, Chmod | WriteFile) else mode
        edit = FileEdit(action.path, before, None, lines, lost, mode, new_mode, files, lines, judge, str(exc))
        return edit, None
    text = host_text.decode_bytes(after.content)
    changed = list_added_and_removed_lines(before, text)
    return FileEdit(action.path, before, text, *changed, mode, after.mode, files, lines, judge), after
