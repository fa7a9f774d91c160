"""Mode and owner of a folder, or of a file whose content is not ours to change. They only become stricter."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta

from app.resources.kind import ForeseenStates, Objection, ResourceAction, ResourceKind, RuleTexts, ShellCommands

_PLACE = r"/[A-Za-z0-9_.@+-]+(?:/[A-Za-z0-9_.@+-]+)*"
_CHMOD = re.compile(rf"\bchmod (?:-\w+ )?(0?[0-7]{{3,4}}) [\"']?({_PLACE})[\"']?(?![\w/*-])")
_CHOWN = re.compile(rf"\b(ch(?:own|grp)) (?:root|0)(:(?:root|0))? [\"']?({_PLACE})[\"']?(?![\w/*-])")
_STATE = re.compile(
    r"(?P<kind>folder|file) (?P<mode>[0-7]{4}) (?P<user>[^: ]+):(?P<group>[^: ]+)(?P<more>(?: (?:home|program))*)"
)
_ACCOUNT = "[a-z_][a-z0-9_-]*"
_ROOT = "root"
_KERNEL = ("/dev", "/proc", "/sys", "/run")
_CLOSED = (
    *("/root", "/boot", "/etc/sudoers.d", "/etc/cron", "/etc/at.", "/etc/audit", "/etc/aide", "/etc/ssh/"),
    *("/etc/ipsec", "/etc/nftables", "/etc/sysctl", "/etc/modprobe.d", "/etc/crontab", "/etc/selinux"),
    *("/etc/shadow-", "/etc/gshadow-"),
    *("/var/log", "/var/spool/cron", "/var/lib/aide", "/usr/sbin/audit", "/usr/sbin/aureport", "/usr/sbin/ausearch"),
)
"""Nobody but root has to enter or read these."""
_KEEP = (
    "if [ -L {at} ]; then echo {at} is a link; exit 1; fi; "
    'kept="${{TEMPER_KEPT_IN:?}}"{at}.permissions; mkdir -p -- "${{kept%/*}}" && '
    '{{ [ -e "$kept" ] || stat -c "%u:%g %05a" -- {at} >"$kept"; }}'
)
"""Notes the owner and the mode, with the five digits that clear a folder's setgid again. The first note stays."""
_UNDO = 'read -r owner mode <"${{TEMPER_KEPT_IN:?}}"{at}.permissions && chown -h "$owner" {at} && chmod "$mode" {at}'
_WRITE, _SEARCH_OR_READ, _STICKY, _SETUID = 0o022, 0o005, 0o1000, 0o4000


class SetPermissions(ResourceAction, frozen=True, tag="set_permissions"):
    """Set the mode of a folder or a file, and its owner as USER:GROUP, USER or :GROUP; what is left out stays."""

    path: Annotated[str, Meta(max_length=256, pattern=rf"^{_PLACE}$")]
    mode: Annotated[str, Meta(pattern="^(?:[0-7]{4})?$")] = ""
    owner: Annotated[str, Meta(max_length=65, pattern=rf"^(?:{_ACCOUNT})?(?::{_ACCOUNT})?$")] = ""


def find_candidates(rule: RuleTexts) -> Iterator[SetPermissions]:
    """Find the modes and owners that the texts give to paths; those of one path are one action."""
    users, groups = set[str](), set[str]()
    for verb, group, path in _CHOWN.findall(rule.text):
        if verb == "chown":
            users.add(path)
        if verb == "chgrp" or group:
            groups.add(path)
    modes = [(path, mode.zfill(4)) for mode, path in _CHMOD.findall(rule.text)]
    named = {path for path, _ in modes}
    for path, mode in (*modes, *((path, "") for path in sorted((users | groups) - named))):
        owner = (_ROOT if path in users else "") + (f":{_ROOT}" if path in groups else "")
        yield SetPermissions(path=path, mode=mode, owner=owner)


def judge_action(action: SetPermissions) -> Objection | None:
    if action.mode or action.owner:
        return None
    return Objection("not understood", f"{action.path}: the action gives neither a mode nor an owner.")


def judge_permissions(foreseen: ForeseenStates) -> Objection | None:
    ours = foreseen.iterate_names_and_states("permission")
    return next((found for path, one in ours if (found := _judge_permission_change(path, one.before, one.after))), None)


def _judge_permission_change(changed_path: str, before: str, after: str) -> Objection | None:
    was, now = _STATE.fullmatch(before), _STATE.fullmatch(after)
    if was is None or now is None:
        return Objection("not understood", f"{changed_path} is not a folder or file with readable permissions.")
    if _is_within(changed_path, _KERNEL):
        return Objection("destruction", f"{changed_path} belongs to the kernel or to running programs.")
    old, new = int(was["mode"], 8), int(now["mode"], 8)
    if (more := new & ~old) and not (more == _STICKY and was["kind"] == "folder"):
        return Objection("privilege", f"{changed_path}: mode {new:04o} is more open than {old:04o}.")
    if old & ~new & 0o6000:
        return Objection("destruction", f"{changed_path}: its programs need setuid or setgid; a person decides.")
    return _judge_lost_access(changed_path, was, old & ~new) or _judge_owner(changed_path, was, now, new)


def _judge_lost_access(path: str, old_state: re.Match[str], lost_mode_bits: int) -> Objection | None:
    """Return the objection to a mode that shuts out somebody who has to read or enter."""
    if lost_mode_bits & 0o700 and old_state["user"] != _ROOT:
        return Objection("destruction", f"{path}: its owner must keep all rights to it.")
    if path.startswith(_CLOSED) or "home" in old_state["more"]:
        return None
    user, group = old_state["user"], old_state["group"]
    if lost_mode_bits & _SEARCH_OR_READ:
        if int(old_state["mode"], 8) & _SETUID and lost_mode_bits & 0o001:
            return Objection("lockout", f"{path}: only {user} and the group {group} could still run it.")
        is_program = "program" in old_state["more"] and not lost_mode_bits & 0o001
        if not is_program:
            return Objection("destruction", f"{path}: other accounts and services must be able to read it.")
    if lost_mode_bits & 0o050 and group != _ROOT:
        return Objection("destruction", f"{path}: the group {group} must be able to read it.")
    return None


def _judge_owner(path: str, old_state: re.Match[str], new_state: re.Match[str], new_mode: int) -> Objection | None:
    for kind in ("user", "group"):
        if new_state[kind] not in (old_state[kind], _ROOT):
            return Objection("privilege", f"{path}: the {kind} {new_state[kind]} would own it.")
    is_given_away = (new_state["user"], new_state["group"]) != (old_state["user"], old_state["group"])
    if old_state["kind"] == "file" and new_mode & 0o6000 and is_given_away:
        return Objection("destruction", f"{path}: with another owner it loses setuid or setgid; a person decides.")
    if new_state["user"] != old_state["user"] and "home" in old_state["more"]:
        return Objection("lockout", f"{path}: {old_state['user']} must own it.")
    needs_its_group = new_mode & 0o050 and not new_mode & 0o005 and not path.startswith(_CLOSED)
    if old_state["group"] != new_state["group"] and needs_its_group:
        return Objection("destruction", f"{path}: the group {old_state['group']} could no longer read it.")
    return None


def _is_within(path: str, folders: Sequence[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in folders)


def _has_exact_mode_and_owner(action: SetPermissions, state: str) -> bool:
    found = _STATE.fullmatch(state)
    user, _, group = action.owner.partition(":")
    wanted = (("mode", action.mode), ("user", user), ("group", group))
    return found is not None and all(value in ("", found[name]) for name, value in wanted)


def _build_commands(action: SetPermissions, _: Sequence[str]) -> tuple[ShellCommands]:
    at = shlex.quote(action.path)
    looks, steps = [], [_KEEP.format(at=at)]
    if action.owner:
        user, colon, _ = action.owner.partition(":")
        words = ("%U" if user else "") + (":%G" if colon else "")
        looks.append(f'[ "$(stat -c {words} {at})" = {action.owner} ]')
        steps.append(f"chown -h {action.owner} {at}")
    if action.mode:
        looks.append(f'[ "$(stat -c %04a {at})" = {action.mode} ]')
        steps.append(f"chmod {action.mode} {at}")
    return (ShellCommands(" && ".join(looks), " && ".join(steps), _UNDO.format(at=at)),)


KIND = ResourceKind(
    name="permission",
    actions=(SetPermissions,),
    find_candidates=find_candidates,
    is_possible=lambda action, host: bool(host.text) and not _has_exact_mode_and_owner(action, host.text),
    list_words=lambda action: (action.mode or "-", action.owner or "-"),
    judge_action=judge_action,
    list_touched=lambda action: (action.path,),
    judge_states=judge_permissions,
    build_commands=_build_commands,
    hazard="file permissions",
)
