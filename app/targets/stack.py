"""Whom a PAM stack lets in, worked out as libpam does: each rule's control, jumps too, and what is left at the end."""

from collections.abc import Sequence

from app.syntax.pam import PamRule
from app.syntax.source import fold

_CONTROLS = {
    "required": "success=ok new_authtok_reqd=ok ignore=ignore default=bad",
    "requisite": "success=ok new_authtok_reqd=ok ignore=ignore default=die",
    "sufficient": "success=done new_authtok_reqd=done default=ignore",
    "optional": "success=ok new_authtok_reqd=ok default=ignore",
}
_ASKS_NOTHING = (
    "pam_permit.so",
    "pam_env.so",
    "pam_faildelay.so",
    "pam_faillock.so",
    "pam_nologin.so",
    "pam_cap.so",
    "pam_group.so",
    "pam_lastlog.so",
)
"""They are content with whoever comes, and so no proof of anybody."""


def lets_in(rules: Sequence[PamRule], *, known: bool) -> bool:
    """One kind of a stack's rules. `known` is somebody with the right password; nobody else has anything to show."""
    held: bool | None = None
    place = 0
    while place < len(rules):
        content = _content(rules[place], known=known)
        does = _does(rules[place], content=content)
        place += 1
        if does.isdecimal():
            place += int(does)
        elif does in ("bad", "die"):
            held = False
        elif does in ("ok", "done"):
            held = content if held is None else held and content
        elif does == "reset":
            held = None
        if does == "die" or (does == "done" and held):
            break
    return held is True


def _content(rule: PamRule, *, known: bool) -> bool:
    if rule.module == "pam_deny.so" or "authfail" in rule.arguments:
        return False
    return known or rule.module in _ASKS_NOTHING


def _does(rule: PamRule, *, content: bool) -> str:
    control = _CONTROLS.get(fold(rule.control), rule.control)
    said = dict(word.split("=", 1) for word in control.split() if "=" in word)
    named = said.get("success" if content else "auth_err")
    return named or said.get("default", "bad")
