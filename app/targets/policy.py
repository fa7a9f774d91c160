"""The policy that each change must pass. Pure; unknown actions and lines are refused."""

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import msgspec

from app.events.vocabulary import AnyAction, FileAction, Reload
from app.resources.kind import ResourceAction
from app.syntax.files import Files, FileState
from app.targets import obfuscation
from app.targets.cached_files import CachedFiles
from app.targets.effects.weakening import find_weakening
from app.targets.health_probes import run_health_probes
from app.targets.overlay import Overlay
from app.targets.probe_comparison import compare_probes
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.resources.dry_run import NONE, DryRun
from app.targets.resources.resource_policy import judge_resource_action, judge_whole_change
from app.targets.subjects import banner
from app.targets.subjects.action_edit import compute_edit, list_new_lines
from app.targets.subjects.file_edit import Judge, Objection, is_live
from app.targets.subjects.modes import judge_mode_edit as judge_mode
from app.targets.target import Asks, Refusal
from app.targets.writable_areas import find_judge
from app.text.clean import clean_text

MOST_ACTIONS = 12
_LONGEST_LINE = 1024
SERVICES = frozenset({"sshd", "auditd", "chronyd", "rsyslog", "systemd-sysctl", "mission"})
_PATH = re.compile(r"(?:/\.?[A-Za-z0-9_][A-Za-z0-9_.@+-]*)+", re.ASCII)
_LINE = re.compile(r"[\t\x20-\x7e]*")
_GUARDED = {
    "agent-login": "protected identity",
    "agent-sudo": "protected identity",
    "administrator": "lockout",
    "pam": "lockout",
    "password-login": "lockout",
    "console-login": "lockout",
    "login-shells": "destruction",
    "next-boot": "destruction",
    "selinux-boot": "destruction",
    "audit-panic": "destruction",
    "mission-config": "destruction",
}
_NEVER = 0
"""A day on which no account has expired, so that the date does not influence the policy."""
_PARSES = ("sshd-config", "sudoers", "accounts")


class HostFiles(Files, Protocol):
    def find_first_link(self, path: str) -> str | None:
        """Return the first link on the way to `path`, itself included; None if there is no link."""


def review_actions(
    actions: Sequence[AnyAction],
    allowed_paths: frozenset[str],
    files: HostFiles,
    asks: Asks = frozenset(),
    foreseen: DryRun = NONE,
    recall: ReadTrackingCache | None = None,
) -> list[Refusal]:
    """Return at most one refusal per action, in order. An empty list means that all actions may run.

    `recall` is the cache of this host.
    """
    planned: dict[str, FileState] = {}
    refusals = []
    for number, action in enumerate(actions):
        objection = _check_limits(actions, number) or _judge_action(action, allowed_paths, files, planned, foreseen)
        if objection:
            refusals.append(Refusal(action, objection.clause, clean_text(objection.reason, 400)))
    made = {**planned, **foreseen.files}
    if (
        not refusals
        and actions
        and (whole := judge_whole_change(actions, foreseen) or _review_files(made, files, asks, recall))
    ):
        refusals.append(Refusal(actions[-1], whole.clause, whole.reason))
    return refusals


def _review_files(
    planned: Mapping[str, FileState], files: HostFiles, asks: frozenset[str], recall: ReadTrackingCache | None
) -> Objection | None:
    now = CachedFiles(files)
    return find_effect_objection(planned, now, Overlay(now, planned), asks, recall)


def find_effect_objection(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str], recall: ReadTrackingCache | None = None
) -> Objection | None:
    """Return the objection to the combined effect: a weaker setting of a program, or a lost login."""
    known = recall or ReadTrackingCache()
    return find_weakening(paths, before, after, asks, known) or _find_lockout(before, after, known)


def _check_limits(actions: Sequence[AnyAction], number: int) -> Objection | None:
    if number >= MOST_ACTIONS:
        return Objection("too much", f"an answer may hold {MOST_ACTIONS} actions; split the change.")
    if actions[number] in actions[:number] and not isinstance(actions[number], Reload):
        return Objection("too much", "the same action stands in the answer already.")
    return None


def _judge_action(
    action: AnyAction,
    allowed_paths: frozenset[str],
    files: HostFiles,
    planned: dict[str, FileState],
    foreseen: DryRun,
) -> Objection | None:
    try:
        msgspec.convert(msgspec.to_builtins(action), AnyAction)
    except (msgspec.ValidationError, TypeError) as exc:
        return Objection("not understood", f"the action is not well formed: {exc}.")
    if isinstance(action, Reload):
        if action.service.removesuffix(".service") not in SERVICES:
            return Objection("protected identity", f"{action.service} is not among the services that may be reloaded.")
        return None
    if isinstance(action, ResourceAction):
        return judge_resource_action(action, allowed_paths, foreseen)
    place = _judge_path(action.path, allowed_paths, files)
    if isinstance(place, Objection):
        return place
    return _judge_characters(action, place) or _judge_content(action, place, files, planned)


def _judge_path(path: str, allowed_paths: frozenset[str], files: HostFiles) -> Judge | Objection:
    if not _PATH.fullmatch(path):
        return Objection(
            "escape", f"{path!a} is not a plain absolute path: no '..', no doubled slashes, no odd characters."
        )
    judge = find_judge(path)
    if isinstance(judge, Objection):
        return judge
    link = files.find_first_link(path)
    if link:
        return Objection("escape", f"{link} is a link; a change through a link could end anywhere.")
    if path not in allowed_paths:
        return Objection("outside the plan", f"the plan does not name {path}.")
    return judge


def _judge_characters(action: FileAction, judge: Judge) -> Objection | None:
    """Refuse characters that an editor and a daemon would read differently."""
    for line in list_new_lines(action):
        if len(line) > _LONGEST_LINE:
            return Objection("too much", f"{action.path}: a line of {len(line)} characters is none of configuration.")
        hidden = clean_text(line, len(line) + 1) != line or "\n" in line
        if hidden or (judge is not banner.judge_banner_edit and not _LINE.fullmatch(line)):
            return Objection("obfuscation", "it holds control characters, or letters that look like others.")
        if obfuscation.has_modeline(line):
            return Objection("obfuscation", f"{action.path}: an editor would obey {line.strip()!r} when it opens it.")
    return None


def _judge_content(action: FileAction, judge: Judge, files: Files, planned: dict[str, FileState]) -> Objection | None:
    edit, state = compute_edit(action, Overlay(files, planned))
    if state is not None:
        planned[action.path] = state
    if judge is not banner.judge_banner_edit:
        for line in edit.added:
            clause = obfuscation.find_forbidden_clause(line) if is_live(line) else None
            if clause:
                return Objection(clause, f"{edit.path}: {line.strip()!r} does more than configure.")
            if line.endswith("\\"):
                return Objection("obfuscation", f"{edit.path}: a backslash at the end would take in the next line.")
        if edit.after is not None and not _list_continuations(edit.after) <= _list_continuations(edit.before):
            return Objection("obfuscation", f"{edit.path}: a line would come to continue the one above it.")
    return judge(edit) or judge_mode(edit)


def _list_continuations(text: str) -> set[tuple[str, str]]:
    """Return the lines that end with a backslash, each with its next line."""
    return {(line, below) for line, below in itertools.pairwise(text.split("\n")) if line.endswith("\\")}


def _find_lockout(files: Files, planned: Files, recall: ReadTrackingCache) -> Objection | None:
    """Return the objection if a health probe would fail after the change. Parse errors are left to the validators."""
    before = {probe.name: probe for probe in run_health_probes(files, _NEVER, recall=recall)}
    now = compare_probes(before.values(), run_health_probes(planned, _NEVER, recall=recall))
    after = {probe.name: probe for probe in now}
    broken = [name for name in before if before[name].ok and not after[name].ok]
    if any(name in broken for name in _PARSES):
        return None
    return next((Objection(clause, after[name].detail) for name, clause in _GUARDED.items() if name in broken), None)
