"""Compute the outcome of a PAM stack as libpam does: controls, jumps and substacks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.syntax.pam import PamRule

SUCCESS, REFUSED = "success", "perm_denied"
_ASKS_NOTHING = (
    *("pam_permit.so", "pam_env.so", "pam_faildelay.so", "pam_faillock.so", "pam_nologin.so", "pam_cap.so"),
    *("pam_group.so", "pam_lastlog.so"),
)
"""Modules that accept everyone, and so prove nothing about the user."""
Answer = Callable[[PamRule], str]
"""Returns a module's result in PAM's words, such as success or auth_err."""


def is_user_admitted(rules: Sequence[PamRule], *, has_right_password: bool) -> bool:
    """Return True if the rules admit the user.

    A `has_right_password` user has the right password, others have nothing.
    """

    def answer_rule(rule: PamRule) -> str:
        refuses = rule.module == "pam_deny.so" or "authfail" in rule.arguments
        return SUCCESS if not refuses and (has_right_password or rule.module in _ASKS_NOTHING) else "auth_err"

    return compute_outcome(rules, answer_rule) == SUCCESS


def compute_outcome(rules: Sequence[PamRule], answer: Answer) -> str:
    """Return libpam's result for the calling program. Without any decisive module it is a refusal."""
    return _StackWalk(rules, answer).run()


@dataclass(frozen=True)
class StackRefusal:
    rule: PamRule | None
    """The rule that decided; None if none did."""
    overshoots: bool = False
    """The rule's jump leads past the end of its stack."""


def find_stack_refusal(rules: Sequence[PamRule], answer_rule: Answer) -> StackRefusal | None:
    """Return why the stack refuses; None if it succeeds."""
    walk = _StackWalk(rules, answer_rule)
    return None if walk.run() == SUCCESS else walk.refusal


class _StackWalk:
    refusal = StackRefusal(None)
    """What decided, if the walk ends in a refusal."""

    def __init__(self, rules: Sequence[PamRule], answer: Answer) -> None:
        self._rules = rules
        self._answer = answer
        self._place = 0
        self._held: bool | None = None
        self._status = REFUSED
        self._entered: dict[int, tuple[bool | None, str]] = {0: (None, REFUSED)}

    def run(self) -> str:
        before = 0
        while self._place < len(self._rules):
            rule = self._rules[self._place]
            if before < rule.level:
                self._entered[rule.level] = (self._held, self._status)
            if not rule.opens_substack or rule.broken:
                self._apply_rule(rule)
            # the level of the rule that decided, not of those that were skipped
            before = rule.level
            self._place += 1
        return REFUSED if self._status == SUCCESS and self._held is not True else self._status

    def _apply_rule(self, rule: PamRule) -> None:
        code = REFUSED if rule.broken else self._answer(rule)
        does = rule.actions.get(code) or rule.actions["default"]
        if does.isdecimal():
            self._skip_rules(rule, int(does))
        elif does in ("ok", "done"):
            if self._held is None or (self._held and self._status == SUCCESS):
                self._held, self._status = True, code
                self.refusal = StackRefusal(rule)
            if does == "done" and self._held:
                self._skip_rest_of_stack(rule.level)
        elif does in ("bad", "die"):
            if self._held is not False:
                self._held, self._status = False, REFUSED if code == "ignore" else code
                self.refusal = StackRefusal(rule)
            if does == "die":
                self._skip_rest_of_stack(rule.level)
        elif does == "reset":
            self._held, self._status = self._entered.get(rule.level, (None, REFUSED))
            if self._held is None:
                self.refusal = StackRefusal(None)

    def _skip_rest_of_stack(self, level: int) -> None:
        """Skip the rest of the stack that decided; an outer stack continues."""
        while self._is_next_rule_within(level):
            self._place += 1

    def _is_next_rule_within(self, level: int) -> bool:
        following = self._place + 1
        return following < len(self._rules) and self._rules[following].level >= level

    def _skip_rules(self, rule: PamRule, count: int) -> None:
        """Skip `count` rules of this stack; a substack counts as one. A jump past the end is a refusal."""
        level = rule.level
        while count and self._is_next_rule_within(level):
            self._place += 1
            while self._place + 1 < len(self._rules) and self._rules[self._place + 1].level > level:
                self._place += 1
            count -= 1
        if count:
            self._held, self._status = False, REFUSED
            self.refusal = StackRefusal(rule, overshoots=True)
