"""pam_faillock: when it locks an account, and for how long. It ignores lines that it cannot parse."""

import re
from collections.abc import Mapping

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.daemon_base import Daemon
from app.targets.effects.strictness_comparison import Compare

PATH = "/etc/security/faillock.conf"
_WEEK = 604_800
_FLAGS = ("even_deny_root", "audit", "silent", "no_log_info", "local_users_only", "nodelay")
_TIMES = ("fail_interval", "unlock_time", "root_unlock_time")
_NUMBER = re.compile(r"[ \t]*\+?([0-9]{1,10})")
DEFAULTS: Mapping[str, str] = {
    **dict.fromkeys(_FLAGS, "no"),
    "deny": "3",
    "fail_interval": "900",
    "unlock_time": "600",
    "dir": "/var/run/faillock",
    "admin_group": "",
}
_SCALES: Mapping[str, Compare] = {
    **dict.fromkeys(("even_deny_root", "audit", "silent"), strictness.create_ranked_comparison("no", "yes")),
    # Each excludes users or records.
    **dict.fromkeys(("no_log_info", "local_users_only", "nodelay"), strictness.create_ranked_comparison("yes", "no")),
    "deny": strictness.compare_caps,
    "fail_interval": strictness.compare_higher,
    **dict.fromkeys(("unlock_time", "root_unlock_time"), strictness.compare_durations),
    # /var/run is emptied at boot, which resets every count.
    "dir": strictness.create_ranked_comparison("/var/run/faillock", "/run/faillock", "/var/log/faillock"),
}


class Faillock(Daemon):
    """Not asked: no program prints what the PAM module reads."""

    name = "faillock"
    areas = (PATH,)
    scales = _SCALES

    def read_settings(self, files: Files) -> Mapping[str, str]:
        found = dict(DEFAULTS)
        for setting in key_value_config_parsers.parse_options(host_text.read_text(files, PATH) or "", PATH):
            value = _parse_faillock_value(setting.key, setting.value)
            if value is not None:
                found[setting.key] = value
        return {"root_unlock_time": found["unlock_time"], **found}


def _parse_faillock_value(key: str, value: str) -> str | None:
    """Return the value as faillock reads it; None if it rejects it."""
    if key in _FLAGS:
        return "yes"
    if key == "dir":
        return value if value.startswith("/") else None
    if key == "admin_group":
        return value
    if key in _TIMES and key != "fail_interval" and value == "never":
        return "0"
    found = _NUMBER.match(value)
    if found is None:
        return None
    if key == "deny":
        return str(int(found[1]) % 2**16)
    return found[1] if key in _TIMES and int(found[1]) <= _WEEK else None
