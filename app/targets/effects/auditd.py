"""auditd.conf: whether the daemon starts, what it keeps, and what it does when the disk fills."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.syntax.setting import Setting
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.daemon_base import Daemon
from app.targets.effects.strictness_comparison import Compare, Strength, compare_unranked, create_ranked_comparison

PATH = "/etc/audit/auditd.conf"
ACTIONS = ("ignore", "suspend", "rotate", "syslog", "email", "single", "halt")
"""Weakest first. `exec` depends on its program and is not ranked."""
_TABLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
_VALUES, DEFAULTS = _TABLES["values"], _TABLES["defaults"]
STARTS, ROOM = "starts", "room for logs"
_ENDS = "ends the host at "
_ENDING = ("single", "halt")
_NEVER = "never"
_MOST_ROOM = 8192
"""In MB. More fills an ordinary disk, which can halt the host."""
_MOST_PERCENT, _MOST_MB = 5, 100
"""A host may be halted below this free space: a working disk is far from it."""
_SPACE = re.compile(r"([0-9]{1,9})(%?)")


def _compare_warning_thresholds(was: str, now: str) -> Strength:
    """Compare thresholds: an earlier warning is stricter."""
    old, new = _SPACE.fullmatch(was), _SPACE.fullmatch(now)
    if old is None or new is None or old[2] != new[2]:
        return compare_unranked(was, now)
    return strictness.compare_higher(old[1], new[1])


def _compare_halt_thresholds(was: str, now: str) -> Strength:
    """Compare halt thresholds: halting a host that still has room is weaker."""
    if now == _NEVER:
        return Strength.STRONGER
    old, new = _SPACE.fullmatch(was), _SPACE.fullmatch(now)
    if new is None:
        return compare_unranked(was, now)
    if old is not None and old[2] == new[2] and int(new[1]) <= int(old[1]):
        return Strength.STRONGER
    return Strength.STRONGER if int(new[1]) <= (_MOST_PERCENT if new[2] else _MOST_MB) else Strength.WEAKER


def _compare_max_log_file_actions(was: str, now: str) -> Strength:
    """Compare log actions. Rotation loses old records and keeping fills the disk, so neither is stricter."""
    kept = ("rotate", "keep_logs")
    return Strength.STRONGER if was not in kept and now in kept else compare_unranked(was, now)


_WARNING = create_ranked_comparison(*ACTIONS[: ACTIONS.index("email") + 1])


def _compare_warning_actions(was: str, now: str) -> Strength:
    """Compare warning actions; halting is compared under a key of its own."""
    if now in _ENDING:
        return Strength.STRONGER
    return Strength.WEAKER if was in _ENDING else _WARNING(was, now)


_SCALES: Mapping[str, Compare] = {
    **dict.fromkeys((STARTS, "write_logs", "local_events", "verify_email"), create_ranked_comparison("no", "yes")),
    ROOM: strictness.create_capped_higher_comparison(_MOST_ROOM),
    # It should only warn.
    f"{_ENDS}space_left": lambda was, now: Strength.STRONGER if now == _NEVER else compare_unranked(was, now),
    f"{_ENDS}admin_space_left": _compare_halt_thresholds,
    **dict.fromkeys(("disk_full_action", "disk_error_action"), create_ranked_comparison(*ACTIONS)),
    **dict.fromkeys(("space_left_action", "admin_space_left_action"), _compare_warning_actions),
    # Any user can cause a burst of records, so it may be logged and no more.
    "overflow_action": create_ranked_comparison("ignore", "syslog"),
    **dict.fromkeys(("space_left", "admin_space_left"), _compare_warning_thresholds),
    **dict.fromkeys(("max_log_file", "num_logs", "q_depth"), strictness.compare_higher),
    "max_log_file_action": _compare_max_log_file_actions,
    "freq": strictness.compare_lower,
    "flush": create_ranked_comparison("none", "incremental_async", "incremental", "data", "sync"),
    "log_format": create_ranked_comparison("raw", "enriched"),
    "use_libwrap": compare_unranked,
}


class Auditd(Daemon):
    """Not asked: auditd has no dry run."""

    name = "auditd"
    areas = (PATH,)
    scales = _SCALES
    paired = True

    def __init__(self, *, arrives: bool = False) -> None:
        """`arrives`: the change brings its configuration along, as its package does; nothing was set before."""
        self._arrives = arrives

    def create_settings_reader_for_change(self, before: Files, after: Files) -> Daemon:  # noqa: ARG002
        return Auditd(arrives=before.state(PATH) is None)

    def read_settings(self, files: Files) -> Mapping[str, str]:
        stated, problems = key_value_config_parsers.parse_auditd_with_problems(
            host_text.read_text(files, PATH) or "", PATH
        )
        found = {**DEFAULTS, **{setting.key: _normalize_setting_value(setting) for setting in stated}}
        sound = (
            not problems
            and all(_is_valid_value(setting.key, setting.value) for setting in stated)
            and can_start_with_combination(found)
        )
        absent = files.state(PATH) is None
        starts = {STARTS: "yes" if sound or (self._arrives and absent) else "no"}
        return starts if self._arrives else {**found, **_derive_halt_thresholds_and_log_room(found), **starts}

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        if key == "name_format":
            return Strength.STRONGER if host_text.fold_case(was) == "none" else compare_unranked(was, now)
        return super().compare_values(key, was, now)


def _is_valid_value(key: str, value: str) -> bool:
    """Return True if auditd accepts the value for this key; words match in any case."""
    return key in _VALUES and re.fullmatch(_VALUES[key], value, re.IGNORECASE | re.ASCII) is not None


def can_start_with_combination(settings: Mapping[str, str]) -> bool:
    """Return True if auditd accepts this combination of keys; otherwise it exits and nothing is audited."""
    if settings["flush"] in ("incremental", "incremental_async") and not strictness.parse_decimal_integer(
        settings["freq"]
    ):
        return False
    early, late = (_SPACE.fullmatch(settings[key]) for key in ("space_left", "admin_space_left"))
    if early is None or late is None:
        return False
    (share, least), (late_share, late_least) = (_split_percentage_and_number(one) for one in (early, late))
    return share != late_share or least > late_least


def _split_percentage_and_number(match: re.Match[str]) -> tuple[bool, int]:
    """Return whether the threshold is a percentage, and its number. 0 % counts as an absolute value."""
    return bool(match[2]) and int(match[1]) > 0, int(match[1])


def _normalize_setting_value(setting: Setting) -> str:
    """Return the value in lower case; for an action without its arguments."""
    value = host_text.fold_case(setting.value) if setting.key in _SCALES else setting.value
    action = setting.key.endswith("_action") and not value.startswith("exec ")
    return value.partition(" ")[0] if action else value


def _derive_halt_thresholds_and_log_room(settings: Mapping[str, str]) -> dict[str, str]:
    ends = {
        f"{_ENDS}{key}": settings[key] if settings[f"{key}_action"] in _ENDING else _NEVER
        for key in ("space_left", "admin_space_left")
    }
    logs, size = (
        strictness.parse_decimal_integer(settings["num_logs"]),
        strictness.parse_decimal_integer(settings["max_log_file"]),
    )
    return {**ends, ROOM: str((logs or 0) * (size or 0))}
