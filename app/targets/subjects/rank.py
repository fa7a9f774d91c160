"""Of two values that may both be set: is the new one weaker than the one that stands? Keys without a rank are equal."""

import re

from app.syntax.source import fold

_MORE = re.compile(
    r"minlen|minclass|difok|remember|fail_interval|rounds|delay|pass_min_days|sha_crypt_m(?:in|ax)_rounds"
    r"|requiredrsasize|min_(?:rsa|dh|dsa)_size|max_log_file|num_logs"
    r"|kernel\.(?:kptr_restrict|yama\.ptrace_scope)|fs\.protected_\w+"
)
_LESS = re.compile(
    r"deny|retry|maxrepeat|maxclassrepeat|maxsequence|[dulo]credit|pass_max_days|login_retries|clientalivecountmax"
    r"|maxauthtries|maxlogins|timestamp_timeout|passwd_tries|tmout"
)
_SPAN = re.compile(r"clientaliveinterval|logingracetime")
_UNTIL = re.compile(r"unlock_time|root_unlock_time")
_ACTION = re.compile(r"disk_full_action|disk_error_action|(?:admin_)?space_left_action|overflow_action")
_WORDS: dict[str, tuple[str, ...]] = {
    "permitrootlogin": ("without-password", "prohibit-password", "forced-commands-only", "no"),
    "loglevel": ("info", "verbose"),
    "compression": ("delayed", "no"),
}
_ACTIONS = ("syslog", "email", "single", "halt")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_EVER = 10**9


def weaker(key: str, old: str, new: str) -> bool:
    """Both are among the good values of the key."""
    key, old, new = fold(key), fold(old), fold(new)
    if key == "policy":
        return _policy_weaker(old, new)
    if key == "banner":
        return new == "none" != old
    if key in ("umask", "home_mode"):
        return _opens(key, old, new)
    words = _ACTIONS if _ACTION.fullmatch(key) else _WORDS.get(key, ())
    if old in words and new in words:
        return words.index(new) < words.index(old)
    was, now = _measure(key, old), _measure(key, new)
    return was is not None and now is not None and now < was


def _measure(key: str, value: str) -> float | None:
    """Higher is stricter."""
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


def _opens(key: str, old: str, new: str) -> bool:
    was, now = int(old, 8), int(new, 8)
    return bool(now & ~was) if key == "home_mode" else bool(was & ~now)


def _policy_weaker(old: str, new: str) -> bool:
    """Modules behind the policy only ever take away; those that give are none of ours."""
    (was, *taken), (now, *takes) = old.split(":"), new.split(":")
    return (now == "default" != was) or not {*taken} <= {*takes}
