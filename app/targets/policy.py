"""The policy that each change must pass. Pure; unknown actions and lines are refused."""

import itertools
import re
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path

from app.events.event_field_types import AnyAction, Reload
from app.resources.kind import ResourceAction
from app.syntax.host_files_protocol import Files
from app.targets.effects.mode_and_owner_change_objections import (
    find_objection_to_too_open_or_too_narrow_mode,
    find_too_open_or_narrow_access_objection,
)
from app.targets.effects.weakened_setting_search import find_weakening_or_excess_objection
from app.targets.files_read_once_and_recorded import CachedFiles
from app.targets.health_probes import HEALTH_PROBES, run_health_probes
from app.targets.overlay import Overlay
from app.targets.planned_effects_of_actions import (
    Asks,
    ChangePlan,
    Effect,
    HostFiles,
    Paths,
    Refusal,
    build_change_plan,
)
from app.targets.probe_comparison import mark_worsened_probes
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.resources.resource_dry_run import NONE, DryRun
from app.targets.resources.resource_policy import (
    judge_resource_action,
    judge_shadow_ageing_for_weakening_and_lockout,
    judge_whole_change,
)
from app.targets.rule_scope import RuleScope, judge_action_scope, judge_edit_scope
from app.targets.subjects import audit_rule_policy, banner_policy, shell_profile_policy
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection, is_content_line
from app.targets.subjects.stated_setting_file_families import find_stated_family
from app.targets.subjects.stated_setting_policy import find_objection_to_unstated_settings
from app.text.clean import clean_text

_LONGEST_LINE = 1024
SERVICES = frozenset({"sshd", "auditd", "chronyd", "rsyslog", "systemd-sysctl", "grub", "mission"})
_LINE = re.compile(r"[\t\x20-\x7e]*")
_PATTERNS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("forbidden_line_patterns.toml").read_text())
_FORBIDDEN = {clause: re.compile("|".join(patterns)) for clause, patterns in _PATTERNS.items()}
"""What no configuration line may contain, by clause. Each subject's grammar refuses it too, without that clause."""
_MODELINE = re.compile(r"(?:^|\s)(?:[Vv]im?[<=>]?[0-9]{0,4}|ex):\s*(?:set?\s|[a-z]+[=:])|-\*-|\bLocal Variables:")
"""An editor executes it, even in a comment."""
_NEVER = 0
"""A day on which no account has expired, so that the date does not influence the policy."""


def list_action_refusals(
    actions: Sequence[AnyAction],
    allowed_paths: Paths,
    files: HostFiles,
    asks: Asks = frozenset(),
    foreseen: DryRun = NONE,
    read_cache: ReadTrackingCache | None = None,
    plan: ChangePlan | None = None,
    scope: RuleScope | None = None,
) -> list[Refusal]:
    """Return at most one refusal per action, in order. An empty list means that all actions may run.

    `read_cache` is the cache of this host; `plan` has the effects of the actions, if they are parsed already; `scope`
    has what the rule names, and None leaves that to the plan.
    """
    plan = plan or build_change_plan(actions, files, foreseen)
    candidates = scope.list_candidate_resource_actions(files) if scope else ()
    refusals = [
        _create_refusal(action, objection)
        for action, effect in zip(actions, plan.effects, strict=True)
        if (
            objection := _judge_effect(effect, allowed_paths, asks, foreseen)
            or _judge_scope(action, effect, scope, candidates)
        )
    ]
    if refusals or not actions:
        return refusals
    now = CachedFiles(files)
    after = Overlay(now, plan.made)
    whole = judge_whole_change(actions, foreseen)
    if not whole and "/etc/shadow" in plan.made:
        whole = judge_shadow_ageing_for_weakening_and_lockout(now, after, foreseen)
    whole = whole or find_effect_objection(plan.made, now, after, asks, read_cache or ReadTrackingCache())
    return [_create_refusal(actions[-1], whole)] if whole else []


def _create_refusal(action: AnyAction, objection: Objection) -> Refusal:
    return Refusal(action, objection.clause, clean_text(objection.reason, 400))


def find_effect_objection(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str], read_cache: ReadTrackingCache
) -> Objection | None:
    """Return the objection to the combined effect: an open file, a weaker setting of a program, or a lost login."""
    return (
        find_too_open_or_narrow_access_objection(paths, before, after, asks)
        or find_weakening_or_excess_objection(paths, before, after, asks, read_cache)
        or _find_probe_failure_objection(before, after, read_cache)
    )


def _judge_effect(effect: Effect, allowed_paths: Paths, asks: Asks, foreseen: DryRun) -> Objection | None:
    match effect:
        case Objection():
            return effect
        case Reload():
            return _judge_reload(effect)
        case FileEdit():
            if effect.path not in allowed_paths:
                return Objection("outside the plan", f"the plan does not name {effect.path}.")
            judges = (_judge_characters, _judge_commands, _judge_added_line_continuations, effect.judge, _judge_mode)
            found = next((found for judge in judges if (found := judge(effect))), None)
            return found or find_objection_to_unstated_settings(effect, asks)
        case _:
            return judge_resource_action(effect, allowed_paths, foreseen)


def _judge_scope(
    action: AnyAction, effect: Effect, scope: RuleScope | None, candidates: Collection[ResourceAction]
) -> Objection | None:
    """Refuse what the rule does not name. Checked last, so that a more specific refusal is reported first."""
    if scope is None:
        return None
    foreign = judge_action_scope(scope, action, candidates)
    if foreign or action in scope.proposed or not isinstance(effect, FileEdit):
        return foreign
    return judge_edit_scope(scope, effect)


def _judge_reload(action: Reload) -> Objection | None:
    if action.service.removesuffix(".service") in SERVICES:
        return None
    return Objection("protected identity", f"{action.service} is not among the services that may be reloaded.")


def _judge_characters(edit: FileEdit) -> Objection | None:
    """Refuse characters that an editor and a daemon would read differently."""
    family = find_stated_family(edit.path)
    longest = family.longest if family else _LONGEST_LINE
    for line in edit.lines:
        if len(line) > longest:
            return Objection("too much", f"{edit.path}: a line of {len(line)} characters is too long for a setting.")
        hidden = clean_text(line, len(line) + 1) != line or "\n" in line
        if hidden or not (_is_banner_edit(edit) or _LINE.fullmatch(line)):
            return Objection("obfuscation", "it has control characters, or letters that look like others.")
        if _MODELINE.search(line):
            reason = f"{edit.path}: an editor that opens the file would execute {line.strip()!r}."
            return Objection("obfuscation", reason)
    return None


def _judge_commands(edit: FileEdit) -> Objection | None:
    for line in () if _is_banner_edit(edit) else edit.added:
        # An audit rule may name a program, such as `passwd`: its grammar has no way to run one.
        plain = edit.judge is audit_rule_policy.judge_audit_edit and audit_rule_policy.is_permitted_rule(line)
        if edit.judge is shell_profile_policy.judge_profile_edit:
            plain = shell_profile_policy.only_tightens_umasks(edit)
        elif family := find_stated_family(edit.path):
            # A family permits no key that runs a program, so that a program's name in such a line is only named.
            plain = family.is_permitted_line(line)
        clauses = (clause for clause, pattern in _FORBIDDEN.items() if pattern.search(line))
        if is_content_line(line) and not plain and (clause := next(clauses, "")):
            return Objection(clause, f"{edit.path}: {line.strip()!r} does more than set a value.")
        if line.endswith("\\"):
            return Objection("obfuscation", f"{edit.path}: a backslash at the end would join the next line.")
    return None


def _judge_added_line_continuations(edit: FileEdit) -> Objection | None:
    if _is_banner_edit(edit) or _list_continuations(edit.after or "") <= _list_continuations(edit.before):
        return None
    return Objection("obfuscation", f"{edit.path}: a line would become part of the line above it.")


def _judge_mode(edit: FileEdit) -> Objection | None:
    return (
        None
        if edit.mode_after is None
        else find_objection_to_too_open_or_too_narrow_mode(edit.path, edit.mode_before, edit.mode_after)
    )


def _is_banner_edit(edit: FileEdit) -> bool:
    """Return True for a file that no program executes, in which any text may stand."""
    return edit.judge is banner_policy.judge_invisible_characters_in_banner


def _list_continuations(text: str) -> set[tuple[str, str]]:
    """Return the lines that end with a backslash, each with its next line."""
    return {(line, below) for line, below in itertools.pairwise(text.split("\n")) if line.endswith("\\")}


def _find_probe_failure_objection(before: Files, after: Files, read_cache: ReadTrackingCache) -> Objection | None:
    """Return the objection if a health probe would fail after the change. Parse errors are left to the validators."""
    was = run_health_probes(before, _NEVER, cache=read_cache)
    now = mark_worsened_probes(was, run_health_probes(after, _NEVER, cache=read_cache))
    broken = [(new, HEALTH_PROBES[new.name]) for old, new in zip(was, now, strict=True) if old.ok and not new.ok]
    if any(probe.is_syntax for _, probe in broken):
        return None
    return next((Objection(probe.clause, new.detail) for new, probe in broken if probe.clause), None)
