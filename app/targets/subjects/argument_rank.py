"""Compare two values of an argument by strictness, as a first check. The effect decides (targets/effects)."""

import re

from app.syntax.host_text import fold_case

_MORE = re.compile(r"minlen|minclass|difok|remember|fail_interval|rounds|delay|requiredrsasize")
_LESS = re.compile(
    r"deny|retry|maxrepeat|maxclassrepeat|maxsequence|[dulo]credit|clientalivecountmax|maxauthtries|timestamp_timeout"
    r"|passwd_tries"
)
_SPAN = re.compile(r"clientaliveinterval|logingracetime")
_UNTIL = re.compile(r"unlock_time|root_unlock_time")
_WORDS: dict[str, tuple[str, ...]] = {
    "permitrootlogin": ("without-password", "prohibit-password", "forced-commands-only", "no"),
    "loglevel": ("info", "verbose"),
    "compression": ("delayed", "no"),
}
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_EVER = 10**9


def is_weaker(key: str, old: str, new: str) -> bool:
    """Return True if `new` is weaker than `old`. Both must be allowed values of the key."""
    key, old, new = fold_case(key), fold_case(old), fold_case(new)
    if key == "banner":
        return new == "none" != old
    words = _WORDS.get(key, ())
    if old in words and new in words:
        return words.index(new) < words.index(old)
    was, now = _measure_strictness(key, old), _measure_strictness(key, new)
    return was is not None and now is not None and now < was


def _measure_strictness(key: str, value: str) -> float | None:
    """Return the value as a number, higher is stricter; None if it has no order."""
    found = re.fullmatch(r"(-?[0-9]{1,9})([smh]?)", value)
    if found is None:
        return None
    number = int(found[1]) * _UNITS[found[2]]
    if _MORE.fullmatch(key):
        return number
    if _LESS.fullmatch(key) or _SPAN.fullmatch(key):
        return -number
    if _UNTIL.fullmatch(key):
        return number or _EVER
    return None
