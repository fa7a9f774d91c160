"""Settings that a rule's text asks for literally, where only the text can say that the value is right."""

import re

_SYSCTL = re.compile(
    r"(?<![\w.])((?:dev|fs|kernel|net|user|vm)\.[a-z0-9_.]{1,80}[a-z0-9_])"
    r" ?= ?(-?[0-9]{1,10}(?: [0-9]{1,10})?)(?![\w.])"
)
_LOADERS = ("sysctl", "systemd-sysctl")
_OPTIONS = (
    ("auditd freq", re.compile(r"^\s*freq ?= ?([0-9]{1,4})\s*$", re.MULTILINE)),
    ("pwquality retry", re.compile(r"^\s*retry ?= ?([0-9])\s*$", re.MULTILINE)),
)


def find_stated_settings(text: str) -> frozenset[str]:
    """Return the settings as `Rule.asks` has them: "sysctl kernel.pid_max 65536"."""
    kernel = {f"{loader} {key} {value}" for key, value in _SYSCTL.findall(text) for loader in _LOADERS}
    return frozenset(kernel | {f"{name} {value}" for name, pattern in _OPTIONS for value in pattern.findall(text)})
