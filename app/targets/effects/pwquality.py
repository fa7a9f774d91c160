"""libpwquality: requirements for a new password; drop-ins first, the main file last, up to the first error."""

import re
from collections.abc import Mapping

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.syntax.setting import Setting
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.daemon_base import UNSET, Daemon
from app.targets.effects.strictness_comparison import Compare

MAIN = "/etc/security/pwquality.conf"
FOLDER = "/etc/security/pwquality.conf.d/*.conf"
_HIDDEN = "/etc/security/pwquality.conf.d/.*.conf"
"""The library reads hidden drop-ins too."""
READ = "read to the end"
_FLAGS = ("enforce_for_root", "local_users_only")
_WORDS = ("badwords", "dictpath")
DEFAULTS: Mapping[str, str] = {
    **dict.fromkeys(("dcredit", "ucredit", "lcredit", "ocredit", "minclass", "maxrepeat", "maxclassrepeat"), "0"),
    **dict.fromkeys(("gecoscheck", "maxsequence", "usersubstr", *_FLAGS), "0"),
    **dict.fromkeys(("difok", "dictcheck", "usercheck", "enforcing", "retry"), "1"),
    **dict.fromkeys(_WORDS, UNSET),
    "minlen": "8",
    READ: "yes",
}
_BOUNDS = {"minlen": (6, 2**31 - 1), "minclass": (-(2**31), 4)}
_SWITCH = strictness.create_ranked_comparison("0", "1")
_SCALES: Mapping[str, Compare] = {
    **dict.fromkeys(("minlen", "difok", "minclass"), strictness.compare_higher),
    **dict.fromkeys(("dcredit", "ucredit", "lcredit", "ocredit", "retry"), strictness.compare_lower),
    **dict.fromkeys(("maxrepeat", "maxclassrepeat", "maxsequence", "usersubstr"), strictness.compare_caps),
    **dict.fromkeys(("gecoscheck", "dictcheck", "usercheck", "enforcing", "enforce_for_root"), _SWITCH),
    "local_users_only": strictness.create_ranked_comparison("1", "0"),
    READ: strictness.create_ranked_comparison("no", "yes"),
}


class Pwquality(Daemon):
    """Not asked: it is a library; tests/differential compares with it."""

    name = "pwquality"
    areas = (MAIN,)
    scales = _SCALES

    def read_settings(self, files: Files) -> Mapping[str, str]:
        found = dict(DEFAULTS)
        drop_ins = {*host_text.glob_paths_like_shell(files, FOLDER), *host_text.glob_paths_like_shell(files, _HIDDEN)}
        for path in [*sorted(drop_ins), MAIN]:
            for setting in key_value_config_parsers.parse_options(host_text.read_text(files, path) or "", path):
                value = _parse_pwquality_value_unless_reading_stops(setting)
                if value is None:
                    return {**found, READ: "no"}
                found[host_text.fold_case(setting.key)] = value
        return found


def _parse_pwquality_value_unless_reading_stops(setting: Setting) -> str | None:
    """Return the value as the library reads it; None if the library stops at it."""
    key = host_text.fold_case(setting.key)
    if key in _FLAGS:
        return "1"
    if key in _WORDS:
        return setting.value
    if key not in _SCALES:
        return None
    if not re.fullmatch(r"[+-]?[0-9]{1,10}", setting.value) or abs(int(setting.value)) >= 2**31:
        return None
    least, most = _BOUNDS.get(key, (-(2**31), 2**31))
    number = min(max(int(setting.value), least), most)
    return str(min(abs(number), 1)) if _SCALES[key] is _SWITCH else str(number)
