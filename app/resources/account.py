"""Password ageing of accounts: stricter only, no expiry at once, none for accounts that log in by key."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from app.resources import kind

AgeSetting = Literal["min", "max", "warn", "inactive"]
_NAMED: tuple[tuple[AgeSetting, re.Pattern[str]], ...] = (
    ("max", re.compile(r"(?:chage\b[^\n]{0,80}?(?:-M|--maxdays)|passwd -x)[ =]+(\d{1,5})")),
    ("min", re.compile(r"(?:chage\b[^\n]{0,80}?(?:-m|--mindays)|passwd -n)[ =]+(\d{1,5})")),
    ("warn", re.compile(r"chage\b[^\n]{0,80}?(?:-W|--warndays)[ =]+(\d{1,5})")),
    ("inactive", re.compile(r"chage\b[^\n]{0,80}?(?:-I|--inactive)[ =]+(\d{1,5})")),
)
_KEYS = {"min": ("-m", 4), "max": ("-M", 5), "warn": ("-W", 6), "inactive": ("-I", 7)}
"""The option of chage and the field of /etc/shadow."""
_UNSET = "-"
_SMALLER_IS_STRICTER = ("max", "inactive")
_NEVER = 99_999


class SetAgeing(kind.ResourceAction, frozen=True, tag="set_ageing"):
    """Set password ageing of an account in /etc/shadow, in days."""

    account: Annotated[str, Meta(max_length=32, pattern="^[A-Za-z_][A-Za-z0-9_.-]*$")]
    setting: AgeSetting
    days: Annotated[int, Meta(ge=0, le=99999)]


def find_candidates(rule: kind.RuleTexts) -> Iterator[SetAgeing]:
    ages = [(setting, int(days)) for setting, named in _NAMED for days in named.findall(rule.text)]
    return (SetAgeing(account=name, setting=setting, days=days) for name in rule.accounts for setting, days in ages)


def judge_ageing_for_weakening_and_lockout(foreseen: kind.ForeseenStates) -> kind.Objection | None:
    ours = foreseen.iterate_names_and_states("account")
    return next((found for name, one in ours if (found := _judge_account(name, one, foreseen))), None)


def _judge_account(name: str, state: kind.ResourceState, foreseen: kind.ForeseenStates) -> kind.Objection | None:
    was, now = _parse_days(state.before), _parse_days(state.after)
    for setting, days in now.items():
        if days != was.get(setting) and is_weaker_age(setting, was.get(setting), days):
            reason = f"{name}: {setting} is {was.get(setting)}, and would become {days}."
            return kind.Objection("weakening", reason)
    end, before = _compute_password_expiry_day_or_zero(now), _compute_password_expiry_day_or_zero(was)
    if state.name in foreseen.needed and end and end != before:
        return kind.Objection("lockout", f"{name} logs in with a key, and an expired password would lock it out.")
    if end and end <= foreseen.today and not (before and before <= foreseen.today):
        return kind.Objection("lockout", f"{name} would expire at once: its password dates from day {now['changed']}.")
    least, most = now.get("min"), now.get("max")
    if least is not None and most is not None and least > most:
        reason = f"{name} could never change its password: min {least} is more than max {most}."
        return kind.Objection("lockout", reason)
    return None


def _parse_days(state: str) -> dict[str, int | None]:
    pairs = (part.split(" ", 1) for part in state.split(", "))
    return {name: int(days) if days.lstrip("-").isdecimal() and days != _UNSET else None for name, days in pairs}


def _compute_password_expiry_day_or_zero(days: dict[str, int | None]) -> int:
    """Return the day on which the password expires; 0 if it never does."""
    most, changed = days.get("max"), days.get("changed")
    return changed + most if most is not None and 0 <= most < _NEVER and changed is not None else 0


def is_weaker_age(setting: str, old_days: int | None, new_days: int | None) -> bool:
    """Return True if `new_days` days are weaker than `old_days` days; None and a negative number are no limit."""
    if old_days is None or old_days < 0 or new_days is None or new_days < 0:
        return old_days is not None and old_days >= 0
    return new_days > old_days if setting in _SMALLER_IS_STRICTER else new_days < old_days


def _build_commands(action: SetAgeing, _: Sequence[str]) -> tuple[kind.ShellCommands]:
    (key, field), name = _KEYS[action.setting], shlex.quote(action.account)
    look = f'[ "$(getent shadow {name} | cut -d: -f{field})" = {action.days} ]'
    return (kind.ShellCommands(look, f"chage {key} {action.days} {name}", ":", ("/etc/shadow",)),)


KIND = kind.ResourceKind(
    name="account",
    actions=(SetAgeing,),
    find_candidates=find_candidates,
    is_possible=lambda action, host: f" {action.setting} {action.days}," not in f" {host.text},",
    list_words=lambda action: (action.setting, str(action.days)),
    judge_states=judge_ageing_for_weakening_and_lockout,
    build_commands=_build_commands,
)
