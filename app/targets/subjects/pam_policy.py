"""The policy for PAM stacks: rules keep their place, a few strict modules may be added. Effects: pam_settings.py."""

import re
from collections import Counter

from app.syntax import pam
from app.syntax.host_text import fold_case
from app.syntax.pam import PamRule
from app.targets.host_accounts import read_host_accounts
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection

_STRICTER: dict[str, str] = {
    "pam_unix.so": r"sha512|yescrypt|shadow|use_authtok|try_first_pass|rounds=[1-9][0-9]{3,5}|remember=[1-9][0-9]?",
    "pam_faillock.so": r"silent|audit|even_deny_root|deny=[3-5]|fail_interval=(?:9[0-9]{2}|[1-9][0-9]{3,4})"
    r"|(?:root_)?unlock_time=(?:0|[3-9][0-9]{2}|[1-9][0-9]{3,4})",
    "pam_pwquality.so": r"retry=[1-3]|minlen=(?:1[2-9]|[2-9][0-9])|enforce_for_root"
    r"|[dulo]credit=-[1-9]",
    "pam_pwhistory.so": r"use_authtok|remember=[1-9][0-9]?|retry=[1-3]|enforce_for_root",
    "pam_lastlog.so": r"showfailed",
    "pam_faildelay.so": r"delay=[1-9][0-9]{6}",
}
_PARTS = {"pam_faillock.so": ("preauth", "authfail")}
"""Arguments that select a rule's part: allowed in new rules, not added to existing ones."""
_DIES = "default=die"
_LAXER = ("nullok", "nodelay", "silent")
_NEW: dict[str, tuple[str, ...]] = {
    "pam_faillock.so": ("auth", "account"),
    "pam_pwquality.so": ("password",),
    "pam_pwhistory.so": ("password",),
    "pam_lastlog.so": ("session",),
    "pam_faildelay.so": ("auth",),
}
_MORE = re.compile(r"minlen|remember|fail_interval|rounds|delay")
_LESS = re.compile(r"deny|retry|[dulo]credit")
_UNTIL = ("unlock_time", "root_unlock_time")
_NUMBER = re.compile(r"(-?[0-9]{1,9})([smh]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_EVER = 10**9
_ROOT, _WHEEL_ONLY = "auth sufficient pam_rootok.so", "auth required pam_wheel.so use_uid"
"""Rules of su. With `use_uid` the account that calls su counts, not the one that once logged in."""
_EXECUTES = ("pam_exec.so", "pam_script.so", "pam_python.so", "pam_env.so", "pam_permit.so", "pam_rootok.so")


def judge_pam_edit(edit: FileEdit) -> Objection | None:
    if not edit.has_line_changes:
        return None
    if edit.after is None:
        return Objection("not understood", f"{edit.path}: Temper cannot work out the new stack.")
    old, new = pam.parse_service(edit.before, edit.path), pam.parse_service(edit.after, edit.path)
    for rule in new.rules:
        if rule.module in _EXECUTES and rule.module not in {known.module for known in old.rules}:
            return Objection("privilege", f"{edit.path}: {rule.module} may not be added to a stack.")
    if new.problems or any(line.endswith("\\") for line in edit.added):
        return Objection("not understood", f"{edit.path}: Temper cannot read every line of the new stack.")
    return _judge_rule_changes(edit.path, list(old.rules), list(new.rules))


def judge_su_edit(edit: FileEdit) -> Objection | None:
    """Allow one new rule, behind the one that lets root through: nobody else uses su but the members of wheel."""
    if not edit.has_line_changes:
        return None
    old, new = pam.parse_service(edit.before, edit.path), pam.parse_service(edit.after or "", edit.path)
    place = next((at for at, rule in enumerate(new.rules) if rule.module == "pam_wheel.so"), 0)
    ahead, rest = new.rules[place - 1 : place], [*new.rules[:place], *new.rules[place + 1 :]]
    is_only_change = [*map(_get_rule_text, rest)] == [*map(_get_rule_text, old.rules)] and not new.problems
    if not is_only_change or [*map(_get_rule_text, new.rules[place : place + 1])] != [_WHEEL_ONLY]:
        return Objection("privilege", f"{edit.path}: only `{_WHEEL_ONLY}` may be added to this stack.")
    if [*map(_get_rule_text, ahead)] != [_ROOT]:
        return Objection("protected identity", f"{edit.path}: root would have to be in wheel: it is not let in before.")
    accounts = read_host_accounts(edit.files)
    if not any("wheel" in accounts.list_groups(one.name) for one in accounts.accounts if one.uid):
        reason = f"{edit.path}: nobody is in wheel, so su would be closed to all but root. A person decides."
        return Objection("protected identity", reason)
    return None


def _get_rule_text(rule: PamRule) -> str:
    return " ".join((*_get_rule_identity(rule), *rule.arguments))


def _judge_rule_changes(path: str, old: list[PamRule], new: list[PamRule]) -> Objection | None:
    for kind, control, module in Counter(map(_get_rule_identity, old)) - Counter(map(_get_rule_identity, new)):
        return Objection("weakening", f"{path}: the rule `{kind} {control} {module}` may not change.")
    waiting = list(old)
    ahead: PamRule | None = None
    for place, rule in enumerate(new):
        if waiting and _get_rule_identity(waiting[0]) == _get_rule_identity(rule):
            if not _has_only_stricter_arguments(waiting.pop(0), rule):
                return Objection("weakening", f"{path} line {rule.line}: its arguments may only become stricter.")
        elif not (
            _may_insert_faillock_authfail_or_authsucc(rule, ahead)
            or (_may_insert_rule(rule, ahead) and not _is_inside_jump(rule, new[:place]))
        ):
            return Objection("not understood", f"{path} line {rule.line}: this rule is not allowed here.")
        ahead = rule
    if waiting:
        return Objection("not understood", f"{path}: the order of the rules may not change.")
    return None


def _get_rule_identity(rule: PamRule) -> tuple[str, str, str]:
    return f"-{rule.kind}" if rule.quiet else rule.kind, fold_case(rule.control), rule.module


def _has_only_stricter_arguments(old_rule: PamRule, new_rule: PamRule) -> bool:
    pattern = _STRICTER.get(new_rule.module, "")
    gone = [word for word in old_rule.arguments if word not in new_rule.arguments]
    came = [word for word in new_rule.arguments if word not in old_rule.arguments]
    replaced = dict(word.split("=", 1) for word in came if "=" in word)
    return all(re.fullmatch(pattern, word) for word in came) and all(
        word in _LAXER or _is_replaced_as_strict(word, replaced) for word in gone
    )


def _is_replaced_as_strict(argument: str, new_values: dict[str, str]) -> bool:
    key, mark, value = argument.partition("=")
    if not mark or key not in new_values:
        return False
    was, now = _measure_strictness(key, value), _measure_strictness(key, new_values[key])
    return was is None or now is None or now >= was


def _measure_strictness(key: str, value: str) -> int | None:
    """Return an argument's value as a number, higher is stricter; None if it has no order."""
    found = _NUMBER.fullmatch(value)
    if found is None:
        return None
    number = int(found[1]) * _UNITS[found[2]]
    if key in _UNTIL:
        return number or _EVER
    return number if _MORE.fullmatch(key) else -number if _LESS.fullmatch(key) else None


def _may_insert_rule(rule: PamRule, previous_rule: PamRule | None) -> bool:
    """Return True if the rule may be added here: not after a jump, which would skip it. `authfail` always fails."""
    if previous_rule is not None and "=" in previous_rule.control:
        return False
    previous = (previous_rule.kind, previous_rule.module) if previous_rule else None
    if "authfail" in rule.arguments and previous != ("auth", "pam_unix.so"):
        return False
    strict = fold_case(rule.control) in ("required", "requisite") and rule.kind in _NEW.get(rule.module, ())
    parts = _PARTS.get(rule.module, ()) if rule.kind == "auth" else ()
    return strict and all(word in parts or re.fullmatch(_STRICTER[rule.module], word) for word in rule.arguments)


def _may_insert_faillock_authfail_or_authsucc(rule: PamRule, previous_rule: PamRule | None) -> bool:
    """Return True for a part of pam_faillock behind a pam_unix whose success jumps over the one that counts failures.

    `authsucc` forgets the failures, so it may stand only where nobody comes without the right password.
    """
    if previous_rule is None or (rule.module, rule.kind, previous_rule.kind) != ("pam_faillock.so", "auth", "auth"):
        return False
    jumps = re.search(r"\bsuccess=1\b", previous_rule.control) is not None
    if rule.arguments[:1] == ("authfail",) and rule.control == _DIES:
        placed = previous_rule.module == "pam_unix.so" and jumps
    else:
        placed = (
            rule.arguments[:1] == ("authsucc",)
            and previous_rule.arguments[:1] == ("authfail",)
            and previous_rule.control == _DIES
        )
        placed = placed and fold_case(rule.control) in ("required", "requisite", "sufficient")
    return placed and all(re.fullmatch(_STRICTER[rule.module], word) for word in rule.arguments[1:])


def _is_inside_jump(rule: PamRule, ahead: list[PamRule]) -> bool:
    """Return True if an earlier jump reaches over this place: one more rule would change its goal."""
    same = [one for one in reversed(ahead) if one.kind == rule.kind]
    return any(
        int(number) >= distance
        for distance, one in enumerate(same, 1)
        for number in re.findall(r"=([0-9]{1,9})\b", one.control)
    )
