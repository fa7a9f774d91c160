"""The keys of auditd.conf, their valid values and their defaults, from auditd_options.toml."""

import re
import tomllib
from pathlib import Path

ACTIONS = ("ignore", "suspend", "rotate", "syslog", "email", "single", "halt")
"""Weakest first. `exec` depends on its program and is not ranked."""

_TABLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
_VALUES, DEFAULTS = _TABLES["values"], _TABLES["defaults"]


def is_valid_value(key: str, value: str) -> bool:
    """Return True if auditd accepts the value for this key; words match in any case."""
    return key in _VALUES and re.fullmatch(_VALUES[key], value, re.IGNORECASE | re.ASCII) is not None
