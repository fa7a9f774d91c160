"""The policy for password ageing: stricter only, no expiry at once, none for accounts that log in by key."""

from app.targets.resources.dry_run import ACCOUNT, DryRun, ResourceState
from app.targets.subjects.file_edit import Objection

_UNSET = "-"
_SMALLER_IS_STRICTER = ("max", "inactive")
_NEVER = 99_999


def judge_ageing(foreseen: DryRun) -> Objection | None:
    ours = (one for one in foreseen.states if one.name.startswith(ACCOUNT))
    return next((found for one in ours if (found := _judge_account(one, foreseen))), None)


def _judge_account(one: ResourceState, foreseen: DryRun) -> Objection | None:
    name, was, now = one.name.removeprefix(ACCOUNT), _parse_days(one.before), _parse_days(one.after)
    for setting in now:
        if now[setting] != was.get(setting) and _is_weaker(setting, was.get(setting), now[setting]):
            return Objection("weakening", f"{name}: {setting} would be {now[setting]}, and is {was.get(setting)}.")
    if one.name in foreseen.needed and _find_expiry_day(now) and _find_expiry_day(now) != _find_expiry_day(was):
        return Objection("lockout", f"{name} logs in by a key, and its password's end would shut it out one day.")
    end, before = _find_expiry_day(now), _find_expiry_day(was)
    if end and end <= foreseen.today and not (before and before <= foreseen.today):
        return Objection("lockout", f"{name} would be expired at once: its password is of day {now['changed']}.")
    least, most = now.get("min"), now.get("max")
    if least is not None and most is not None and least > most:
        return Objection("lockout", f"{name} could never change its password: min {least} is more than max {most}.")
    return None


def _parse_days(state: str) -> dict[str, int | None]:
    pairs = (part.split(" ", 1) for part in state.split(", "))
    return {name: int(days) if days.lstrip("-").isdecimal() and days != _UNSET else None for name, days in pairs}


def _find_expiry_day(days: dict[str, int | None]) -> int:
    """Return the day on which the password expires; 0 if it never does."""
    most, changed = days.get("max"), days.get("changed")
    return changed + most if most is not None and 0 <= most < _NEVER and changed is not None else 0


def _is_weaker(setting: str, was: int | None, now: int | None) -> bool:
    if was is None or was < 0 or now is None:
        return now is None
    return now > was if setting in _SMALLER_IS_STRICTER else now < was
