"""auditd.conf: whether the daemon starts, what it keeps, and what it does when the disk fills."""

import re
from collections.abc import Mapping

from app.syntax import keyvalue, source
from app.syntax.files import Files
from app.syntax.setting import Setting
from app.targets.effects.auditd_words import ACTIONS, DEFAULTS, takes
from app.targets.effects.daemon import Ask
from app.targets.effects.scales import by_key, less, more, number
from app.targets.effects.strength import Compare, Strength, equal_or_not, ranked

PATH = "/etc/audit/auditd.conf"
STARTS, ROOM = "starts", "room for logs"
_ENDS = "ends the host at "
_ENDING = ("single", "halt")
_NEVER = "never"
_MOST_ROOM = 8192
"""In MB. More fills an ordinary disk, which can halt the host."""
_MOST_PERCENT, _MOST_MB = 5, 100
"""A host may be halted below this free space: a working disk is far from it."""
_SPACE = re.compile(r"([0-9]{1,9})(%?)")


def _room(was: str, now: str) -> Strength:
    return Strength.INCOMPARABLE if (number(now) or 0) > _MOST_ROOM else more(was, now)


def _space(was: str, now: str) -> Strength:
    """Compare thresholds: an earlier warning is stricter."""
    old, new = _SPACE.fullmatch(was), _SPACE.fullmatch(now)
    if old is None or new is None or old[2] != new[2]:
        return equal_or_not(was, now)
    return more(old[1], new[1])


def _ending(was: str, now: str) -> Strength:
    """Compare halt thresholds: halting a host that still has room is weaker."""
    if now == _NEVER:
        return Strength.STRONGER
    old, new = _SPACE.fullmatch(was), _SPACE.fullmatch(now)
    if new is None:
        return equal_or_not(was, now)
    if old is not None and old[2] == new[2] and int(new[1]) <= int(old[1]):
        return Strength.STRONGER
    return Strength.STRONGER if int(new[1]) <= (_MOST_PERCENT if new[2] else _MOST_MB) else Strength.WEAKER


def _early_ending(was: str, now: str) -> Strength:
    """Compare halt actions of space_left, which should only warn."""
    return Strength.STRONGER if now == _NEVER else equal_or_not(was, now)


def _rotation(was: str, now: str) -> Strength:
    """Compare log actions. Rotation loses old records and keeping fills the disk, so neither is stricter."""
    kept = ("rotate", "keep_logs")
    return Strength.STRONGER if was not in kept and now in kept else equal_or_not(was, now)


_WARNING = ranked(*ACTIONS[: ACTIONS.index("email") + 1])


def _warning(was: str, now: str) -> Strength:
    """Compare warning actions; halting is compared under a key of its own."""
    if now in _ENDING:
        return Strength.STRONGER
    return Strength.WEAKER if was in _ENDING else _WARNING(was, now)


_SCALES: Mapping[str, Compare] = {
    STARTS: ranked("no", "yes"),
    ROOM: _room,
    f"{_ENDS}space_left": _early_ending,
    f"{_ENDS}admin_space_left": _ending,
    "write_logs": ranked("no", "yes"),
    "local_events": ranked("no", "yes"),
    "verify_email": ranked("no", "yes"),
    "disk_full_action": ranked(*ACTIONS),
    "disk_error_action": ranked(*ACTIONS),
    "space_left_action": _warning,
    "admin_space_left_action": _warning,
    # Any user can cause a burst of records, so it may be logged and no more.
    "overflow_action": ranked("ignore", "syslog"),
    "space_left": _space,
    "admin_space_left": _space,
    "max_log_file": more,
    "num_logs": more,
    "max_log_file_action": _rotation,
    "freq": less,
    "flush": ranked("none", "incremental_async", "incremental", "data", "sync"),
    "log_format": ranked("raw", "enriched"),
    "use_libwrap": equal_or_not,
    "q_depth": more,
}


class Auditd:
    name = "auditd"
    areas: tuple[str, ...] = (PATH,)

    def settings(self, files: Files) -> Mapping[str, str]:
        stated, problems = keyvalue.auditd(source.text(files, PATH) or "", PATH)
        found = {**DEFAULTS, **{setting.key: _word(setting) for setting in stated}}
        sound = not problems and all(takes(setting.key, setting.value) for setting in stated) and starts(found)
        return {**found, **_derived(found), STARTS: "yes" if sound else "no"}

    def said(self, files: Files, ask: Ask) -> None:
        """Not available: auditd has no dry run."""

    def order(self, key: str, was: str, now: str) -> Strength:
        if key == "name_format":
            return Strength.STRONGER if was == "none" else equal_or_not(was, now)
        return by_key(_SCALES, key, was, now)


def starts(settings: Mapping[str, str]) -> bool:
    """Return True if auditd accepts this combination of keys; otherwise it exits and nothing is audited."""
    if settings["flush"] in ("incremental", "incremental_async") and not number(settings["freq"]):
        return False
    early, late = (_SPACE.fullmatch(settings[key]) for key in ("space_left", "admin_space_left"))
    if early is None or late is None:
        return False
    (share, least), (late_share, late_least) = (_least(one) for one in (early, late))
    return share != late_share or least > late_least


def _least(found: re.Match[str]) -> tuple[bool, int]:
    """Return whether the threshold is a percentage, and its number. 0 % counts as an absolute value."""
    return bool(found[2]) and int(found[1]) > 0, int(found[1])


def _word(setting: Setting) -> str:
    """Return the value in lower case; for an action without its arguments."""
    value = source.fold(setting.value) if setting.key in _SCALES else setting.value
    action = setting.key.endswith("_action") and not value.startswith("exec ")
    return value.partition(" ")[0] if action else value


def _derived(settings: Mapping[str, str]) -> dict[str, str]:
    ends = {
        f"{_ENDS}{key}": settings[key] if settings[f"{key}_action"] in _ENDING else _NEVER
        for key in ("space_left", "admin_space_left")
    }
    logs, size = number(settings["num_logs"]), number(settings["max_log_file"])
    return {**ends, ROOM: str((logs or 0) * (size or 0))}
