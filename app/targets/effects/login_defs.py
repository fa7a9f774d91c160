"""login.defs has two readers: shadow tools use the last line of a name, PAM the first in any case."""

import re
from collections.abc import Mapping

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.daemon_base import UNSET, Daemon
from app.targets.effects.strictness_comparison import Compare, Strength

PATH = "/etc/login.defs"
_OF_PAM = " in PAM"
_BETWEEN = "days in which a password can be changed"
_OCTAL = ("UMASK", "HOME_MODE", "ERASECHAR", "KILLCHAR", "TTYPERM")
_DEFAULTS: Mapping[str, str] = {
    "UMASK": "022",
    **dict.fromkeys(("PASS_MAX_DAYS", "PASS_MIN_DAYS", "PASS_WARN_AGE", "PASS_MIN_LEN"), "0"),
    "LOGIN_RETRIES": "5",
    "FAIL_DELAY": "3",
    "ENCRYPT_METHOD": "DES",
    "SHA_CRYPT_MIN_ROUNDS": "5000",
    "SHA_CRYPT_MAX_ROUNDS": "5000",
    "CREATE_HOME": "no",
}
_PAM_DEFAULTS: Mapping[str, str] = {
    "UMASK": "000",
    "HOME_MODE": "755",
    "ENCRYPT_METHOD": "DES",
    "SHA_CRYPT_MIN_ROUNDS": "5000",
    "SHA_CRYPT_MAX_ROUNDS": "5000",
    "YESCRYPT_COST_FACTOR": "5",
}
_METHODS = strictness.create_ranked_comparison("DES", "MD5", "SHA256", "SHA512", "YESCRYPT")
_SCALES: Mapping[str, Compare] = {
    "UMASK": strictness.compare_masks,
    "HOME_MODE": strictness.compare_modes,
    "PASS_MAX_DAYS": strictness.compare_caps,
    **dict.fromkeys(("PASS_MIN_DAYS", "PASS_WARN_AGE", "PASS_MIN_LEN", "FAIL_DELAY"), strictness.compare_higher),
    "LOGIN_RETRIES": strictness.compare_lower,
    "ENCRYPT_METHOD": _METHODS,
    **dict.fromkeys(
        ("SHA_CRYPT_MIN_ROUNDS", "SHA_CRYPT_MAX_ROUNDS", "YESCRYPT_COST_FACTOR"), strictness.compare_higher
    ),
    "CREATE_HOME": strictness.create_ranked_comparison("no", "yes"),
    _BETWEEN: strictness.create_ranked_comparison("none", "some"),
}
_WORD = re.compile(r"[ \t]*([^ \t=#]+)[ \t=]*([^#]*)")


class LoginDefs(Daemon):
    """Not asked: no program prints what it reads."""

    name = "login.defs"
    areas = (PATH,)
    scales = _SCALES

    def read_settings(self, files: Files) -> Mapping[str, str]:
        text = host_text.read_text(files, PATH) or ""
        found = dict(_DEFAULTS)
        for setting in key_value_config_parsers.parse_login_defs(text, PATH):
            found[setting.key] = _normalize_number_as_shadow_tools_read_it(setting.key, setting.value)
        found.setdefault("HOME_MODE", _derive_three_digit_home_mode(found["UMASK"]))
        window = _classify_change_window_as_none_or_some(found["PASS_MIN_DAYS"], found["PASS_MAX_DAYS"])
        return {**found, **_read_values_for_pam(text), _BETWEEN: window}

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        return super().compare_values(key.removesuffix(_OF_PAM), was, now)


def _normalize_number_as_shadow_tools_read_it(key: str, value: str) -> str:
    """Normalize a number as C parses it: 077 is octal, 0x1f hexadecimal."""
    if re.fullmatch(r"0[0-7]*", value):
        number = int(value, 8)
    elif re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}", value):
        number = int(value, 16)
    elif re.fullmatch(r"-?[0-9]{1,9}", value):
        number = int(value)
    else:
        return value
    if key in _OCTAL:
        return f"{number & 0o7777:03o}" if number >= 0 else value
    return str(max(number, 0)) if key == "PASS_MAX_DAYS" else str(number)


def _read_values_for_pam(login_defs_text: str) -> dict[str, str]:
    """Return PAM's values: the first line of each name, valid or not."""
    found: dict[str, str] = {}
    for _number, line in host_text.number_lines(login_defs_text):
        match = _WORD.match(line.rstrip(host_text.TRAIL))
        name = match[1].upper() if match and match[1].isascii() else ""
        if match and name in _PAM_DEFAULTS:
            value = match[2].strip(host_text.TRAIL)
            octal = name in _OCTAL and re.fullmatch(r"[0-7]{1,4}", value)
            found.setdefault(f"{name}{_OF_PAM}", f"{int(value, 8):03o}" if octal else value)
    return {**{f"{name}{_OF_PAM}": value for name, value in _PAM_DEFAULTS.items()}, **found}


def _derive_three_digit_home_mode(umask: str) -> str:
    return f"{0o777 & ~int(umask, 8):03o}" if re.fullmatch(r"[0-7]{1,4}", umask) else UNSET


def _classify_change_window_as_none_or_some(least: str, most: str) -> str:
    """Return "none" if a password must be changed before it may be, else "some"."""
    fewest, longest = host_text.parse_digits(least), host_text.parse_digits(most)
    if fewest is None or longest is None:
        return "some"
    return "none" if 0 < longest <= fewest else "some"
