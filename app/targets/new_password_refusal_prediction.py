"""Whether a new password gets through a password stack: both passes of libpam, and what its modules want of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.syntax.pam import PamRule
from app.targets.effects.pam_module_answers import GOOD_CHOICE, create_module_responder
from app.targets.pam_outcome import SUCCESS, Answer, StackRefusal, find_stack_refusal

COMMON = ("common-password", "system-auth")
"""The stacks that the families' services include."""
_QUALITY = ("pam_pwquality.so", "pam_cracklib.so", "pam_passwdqc.so")
_STORES = "pam_unix.so"
_TAKES = (*_QUALITY, "pam_pwhistory.so", _STORES)
"""Modules that ask for the new password, unless `use_authtok` leaves that to an earlier one."""
_TAKES_SHORT = tuple(f"minlen={number}" for number in range(5))
"""Options by which pam_unix takes a password of four characters; without one it takes none below six."""
_LEAVES_ASKING = ("use_authtok", "use_first_pass")
_FAILS = "authtok_err"


def predict_password_change_refusal(
    rules: Sequence[PamRule] | None, *, password_is_short: bool = False, unknown_modules_succeed: bool = True
) -> str:
    """Return why a new password of a local account would not be set; an empty string if it would be.

    `unknown_modules_succeed` says what unknown modules do.
    """
    if rules is None:
        return "PAM gives the service up"
    walk = _PasswordChange(
        password_is_short,
        create_module_responder(GOOD_CHOICE, "password", unknown_modules_accept=unknown_modules_succeed),
    )
    refusal = find_stack_refusal(rules, walk.answer_first_pass) or find_stack_refusal(rules, walk.answer_second_pass)
    if refusal:
        return _describe_refusal(refusal, walk)
    return "" if walk.is_stored else "no rule stores the new password: pam_unix.so is missing or skipped"


@dataclass
class _PasswordChange:
    is_short: bool
    answer: Answer
    is_typed: bool = False
    is_stored: bool = False
    faults: dict[PamRule, str] = field(default_factory=dict)

    def answer_first_pass(self, rule: PamRule) -> str:
        """Answer the first pass, in which nobody asks for the new password."""
        return SUCCESS if rule.module in _TAKES else self.answer(rule)

    def answer_second_pass(self, rule: PamRule) -> str:
        if rule.module not in _TAKES:
            return self.answer(rule)
        if not self.is_typed and (word := next((one for one in _LEAVES_ASKING if one in rule.arguments), "")):
            self.faults[rule] = f"{word} leaves the asking to an earlier rule, and none asks for the new password"
            return _FAILS
        self.is_typed = True
        if self.is_short and _refuses_short(rule):
            return _FAILS
        self.is_stored |= rule.module == _STORES
        return SUCCESS


def _refuses_short(rule: PamRule) -> bool:
    """Return True if the module refuses a password of four characters. pam_pwquality takes none below six."""
    if rule.module != _STORES:
        return rule.module in _QUALITY
    given = next((word for word in rule.arguments if word.startswith("minlen=")), "")
    return "obscure" in rule.arguments or given not in _TAKES_SHORT


def _describe_refusal(refusal: StackRefusal, walk: _PasswordChange) -> str:
    rule, why = next(iter(walk.faults.items()), (refusal.rule, "it refuses every new password"))
    if rule is None:
        return "no rule decides"
    if refusal.overshoots:
        why = "its jump leads past the end of the stack"
    elif rule.broken:
        why = "libpam cannot read it"
    return f"{rule.path} line {rule.line}: {rule.module or 'the rule'}: {why}"
