"""The policy for non-file resources, based on the dry run and not on the request."""

from collections.abc import Sequence
from dataclasses import replace

from app.events.event_field_types import AnyAction, FileAction
from app.resources import account
from app.resources.kind import Objection, ResourceAction, ResourceState
from app.resources.registry import get_kind, get_prefixed_name_of_changed_resource, judge_states
from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.targets.resources.resource_dry_run import DryRun
from app.text.clean import clean_text


def judge_resource_action(action: ResourceAction, allowed: frozenset[str], foreseen: DryRun) -> Objection | None:
    name = get_prefixed_name_of_changed_resource(action)
    if name not in allowed:
        return Objection("outside the plan", f"the plan does not name {name}.")
    if objection := get_kind(action).judge_action(action):
        return objection
    if foreseen.obstacle:
        return Objection("not understood", f"{name}: {clean_text(foreseen.obstacle, 300).rstrip('.')}.")
    asked = next((one for one in foreseen.states if one.name == name), None)
    if asked is None or asked.before == asked.after:
        return Objection("not understood", f"{name} is already in that state.")
    return None


def judge_whole_change(actions: Sequence[AnyAction], foreseen: DryRun) -> Objection | None:
    """Judge the change as a whole, with everything that it adds and removes."""
    ours = [action for action in actions if isinstance(action, ResourceAction)]
    kinds = {get_kind(action).name: get_kind(action) for action in ours}
    if len(ours) > 1 and (alone := next((kind.alone for kind in kinds.values() if kind.alone), "")):
        return Objection("too much", alone)
    if ours and (len(kinds) > 1 or any(isinstance(action, FileAction) for action in actions)):
        reason = "a package or unit makes its own changes: change it alone, and files in another change."
        return Objection("too much", reason)
    asked = frozenset(map(get_prefixed_name_of_changed_resource, ours))
    if len(asked) < len(ours):
        return Objection("too much", "the answer names one resource twice.")
    return judge_states(replace(foreseen, asked=asked))


_AGES = ("changed", "min", "max", "warn", "inactive")


def judge_shadow_ageing_for_weakening_and_lockout(before: Files, after: Files, foreseen: DryRun) -> Objection | None:
    """Judge password ageing that a change of /etc/shadow brings as if chage had been asked for it."""
    was, now = _read_password_ageing_by_account(before), _read_password_ageing_by_account(after)
    changed = tuple(
        ResourceState(f"{account.KIND.prefix}{name}", was[name], ages)
        for name, ages in now.items()
        if name in was and was[name] != ages
    )
    return account.judge_ageing_for_weakening_and_lockout(replace(foreseen, states=changed)) if changed else None


def _read_password_ageing_by_account(files: Files) -> dict[str, str]:
    records = [line.split(":") for line in (host_text.read_text(files, "/etc/shadow") or "").split("\n")]
    return {
        record[0]: ", ".join(f"{name} {days or '-'}" for name, days in zip(_AGES, record[2:7], strict=True))
        for record in records
        if len(record) == 9
    }
