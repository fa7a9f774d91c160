"""Normalize values of sshd_config as `sshd -T` prints them; None for values that sshd rejects."""

import re
from collections.abc import Callable

from app.syntax.host_text import fold_case, parse_natural_number, split_blank_separated_names
from app.syntax.sshd_keywords import CHOICES, parse_count, parse_seconds

Spell = Callable[[str], str | None]

_MOST_PORT = 65535
_SCALED = re.compile(r"[ \t\n\v\f\r]*([+-]?)([0-9]{0,18})(?:\.([0-9]{0,18}))?([bkmgtpe]?)")
_SCALE = {unit: 1024**power for power, unit in enumerate("bkmgtpe")} | {"": 1}
_LEAST_VOLUME = 16
_BEGINS_OCTAL = re.compile(r"[ \t\n\v\f\r]*\+?(?:0[oO])?([0-7]+)")
_STARTS = re.compile(r"[ \t]*([+-]?[0-9]{1,9})(?::[ \t]*([+-]?[0-9]{1,9})(?::[ \t]*([+-]?[0-9]{1,9}))?)?")
_LEVELS = ("silent", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3")
_FACILITIES = ("daemon", "user", "auth", "authpriv", *(f"local{number}" for number in range(8)))
_SAME = {
    "permitrootlogin": {"prohibit-password": "without-password"},
    "compression": {"delayed": "yes"},
    "allowtcpforwarding": {"all": "yes"},
    "allowstreamlocalforwarding": {"all": "yes"},
}


def _create_choice_normalizer(keyword: str) -> Spell:
    def spell_value(value: str) -> str | None:
        chosen = fold_case(value)
        return _SAME.get(keyword, {}).get(chosen, chosen) if chosen in CHOICES[keyword] else None

    return spell_value


def normalize_seconds(value: str) -> str | None:
    seconds = parse_seconds(value)
    return None if seconds is None else str(seconds)


def normalize_count(value: str) -> str | None:
    count = parse_count(value)
    return None if count is None else str(count)


def normalize_size(value: str) -> str | None:
    """Return a size such as 1G, 512M or 1.5g in bytes."""
    found = _SCALED.fullmatch(value[:-1] + fold_case(value[-1:]))
    if value == "default":
        return "0"
    if found is None or found[1] == "-" or not (found[2] or found[3]):
        return None
    scale, part = _SCALE[found[4]], found[3] or ""
    count = int(found[2] or 0) * scale + int(part or 0) * scale // 10 ** len(part)
    return str(count) if not 0 < count < _LEAST_VOLUME else None


def normalize_umask(value: str) -> str | None:
    found = _BEGINS_OCTAL.match(value)
    return f"0{int(found[1], 8):o}" if found and int(found[1], 8) <= 0o777 else None


def parse_startups(value: str) -> tuple[int, int | None, int] | None:
    """Return begin, rate and full of MaxStartups; the rate is None for a single number."""
    found = _STARTS.match(value)
    if found is None or (found[2] is not None and found[3] is None):
        return None
    begin = int(found[1])
    return (begin, None, begin) if found[2] is None else (begin, int(found[2]), int(found[3]))


def normalize_netblock_size_pair(value: str) -> str | None:
    found = re.match(r"([0-9]{1,3}):([0-9]{1,3})", value)
    return f"{int(found[1])}:{int(found[2])}" if found else None


def make_path_absolute(value: str) -> str | None:
    """Return an absolute path: the daemon's working folder is the root folder."""
    if fold_case(value) == "none":
        return "none"
    if value.startswith("~/"):
        return f"/root/{value[2:].lstrip('/')}"
    return value if value.startswith("/") else f"//{value}"


def _create_upper_normalizer(allowed_words: tuple[str, ...]) -> Spell:
    return lambda value: fold_case(value).upper() if fold_case(value) in allowed_words else None


def normalize_log_level(value: str) -> str | None:
    """Return the log level; two of them have two names."""
    return _create_upper_normalizer(_LEVELS)({"debug1": "debug", "quiet": "silent"}.get(fold_case(value), value))


def _create_none_or_normalizer(normalize: Spell) -> Spell:
    return lambda value: "none" if value == "none" else normalize(value)


def normalize_case_of_none(value: str) -> str | None:
    return "none" if fold_case(value) == "none" else value


def normalize_port(value: str) -> str | None:
    port = parse_natural_number(value)
    return str(port) if port and port <= _MOST_PORT else None


FIRST: dict[str, Spell] = (
    {keyword: _create_choice_normalizer(keyword) for keyword in CHOICES if keyword != "fingerprinthash"}
    | dict.fromkeys(("clientaliveinterval", "logingracetime"), normalize_seconds)
    | dict.fromkeys(
        ("clientalivecountmax", "maxauthtries", "maxsessions", "requiredrsasize", "x11displayoffset"), normalize_count
    )
    | dict.fromkeys(
        ("banner", "pidfile", "modulifile", "xauthlocation", "trustedusercakeys", "revokedkeys"), make_path_absolute
    )
    | dict.fromkeys(
        split_blank_separated_names("authorizedprincipalsfile chrootdirectory authorizedkeyscommanduser rdomain"),
        normalize_case_of_none,
    )
    | {
        "securitykeyprovider": lambda value: value if fold_case(value) == "internal" else make_path_absolute(value),
        "hostkeyagent": lambda value: value if value == "SSH_AUTH_SOCK" else make_path_absolute(value),
        "unusedconnectiontimeout": _create_none_or_normalizer(normalize_seconds),
        "authorizedprincipalscommanduser": normalize_case_of_none,
        "permittunnel": lambda value: value if value in CHOICES["permittunnel"] else None,
        "loglevel": normalize_log_level,
        "syslogfacility": _create_upper_normalizer(_FACILITIES),
        "permituserenvironment": lambda value: value,
        "gssapikexalgorithms": lambda value: value,
    }
)
"""Keywords whose first value counts."""

LAST: dict[str, Spell] = {
    "persourcemaxstartups": _create_none_or_normalizer(normalize_count),
    "persourcenetblocksize": normalize_netblock_size_pair,
    "streamlocalbindmask": normalize_umask,
    "fingerprinthash": _create_upper_normalizer(CHOICES["fingerprinthash"]),
}
"""Keywords whose last value counts."""
