"""Effective options of a PAM rule: its arguments, the module's file and built-in defaults."""

import re
from collections.abc import Mapping

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files, FileState
from app.syntax.pam import PamRule
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.daemon_base import UNSET
from app.targets.effects.faillock import PATH as FAILLOCK
from app.targets.effects.faillock import Faillock
from app.targets.effects.pwquality import MAIN as PWQUALITY
from app.targets.effects.pwquality import Pwquality
from app.targets.effects.strictness_comparison import Compare, Strength
from app.targets.overlay import Overlay

ON, OFF = "yes", "no"
OTHERS = "other arguments"
PARTS = ("preauth", "authfail", "authsucc")
_OPENS, _CLOSES = strictness.create_ranked_comparison(ON, OFF), strictness.create_ranked_comparison(OFF, ON)
_NEUTRAL = frozenset(["silent", "quiet", "debug", "shadow", "try_first_pass", "use_first_pass", "likeauth"])
"""Options without effect on strictness, for modules without a file."""
_HASHES = ("des", "bigcrypt", "md5", "sha256", "sha512", "blowfish", "gost_yescrypt", "yescrypt")
_LAX_FLAGS = ("nullok", "nodelay", "no_pass_expiry", "broken_shadow", "audit", "nis", "not_set_pass")
_NULLOK = ("nullok", "nullok_secure")
_SCALES: Mapping[str, Mapping[str, Compare]] = {
    "pam_unix.so": {
        **dict.fromkeys(_LAX_FLAGS, _OPENS),
        **dict.fromkeys(("use_authtok", "obscure"), _CLOSES),
        "hash": strictness.create_ranked_comparison(*_HASHES),
        **dict.fromkeys(("rounds", "remember", "minlen"), strictness.compare_higher),
    },
    "pam_pwhistory.so": {
        "remember": strictness.compare_higher,
        **dict.fromkeys(("enforce_for_root", "use_authtok"), _CLOSES),
        "retry": strictness.create_ranked_comparison("3", "2", "1"),
    },
    "pam_faildelay.so": {"delay": strictness.compare_higher},
    "pam_lastlog.so": {"showfailed": _CLOSES, "noupdate": strictness.compare_unranked},
}
_BUILT_IN: Mapping[str, str] = {"rounds": "0", "remember": "0", "minlen": "0", "retry": "1", "delay": "2000000"}
_FILES: Mapping[str, tuple[str, Faillock | Pwquality]] = {
    "pam_faillock.so": (FAILLOCK, Faillock()),
    "pam_pwquality.so": (PWQUALITY, Pwquality()),
}
_NO_OPTIONS = frozenset({*PARTS, "use_authtok", "authtok_type", "use_first_pass", "try_first_pass", "debug"})
"""Arguments that are not valid in the module's file."""


def read_rule_options(rule: PamRule, files: Files) -> Mapping[str, str]:
    if rule.module in _FILES:
        return _read_options_with_file(rule, files)
    scales = _SCALES.get(rule.module)
    if scales is None:
        return {OTHERS: " ".join(rule.arguments)}
    found: dict[str, str] = {name: _BUILT_IN.get(name, OFF) for name in scales}
    if rule.module == "pam_pwhistory.so":
        found["remember"] = "10"
    if "hash" in scales:
        found["hash"] = _get_default_hash(files)
    others = []
    for word in rule.arguments:
        name, mark, value = word.partition("=")
        name = "nullok" if name in _NULLOK else name
        if host_text.fold_case(word) in _HASHES and "hash" in scales:
            found["hash"] = host_text.fold_case(word)
        elif name in scales:
            found[name] = value if mark else ON
        elif name not in _NEUTRAL:
            others.append(word)
    return {**found, OTHERS: " ".join(others)}


def _get_default_hash(files: Files) -> str:
    known = key_value_config_parsers.parse_login_defs(host_text.read_text(files, "/etc/login.defs") or "", "")
    said = [setting.value for setting in known if setting.key == "ENCRYPT_METHOD"]
    return host_text.fold_case(said[-1]) if said else "des"


def _read_options_with_file(rule: PamRule, files: Files) -> Mapping[str, str]:
    """Return options with arguments treated as last lines of the module's file."""
    path, daemon = _FILES[rule.module]
    given = [word.partition("=") for word in rule.arguments if word.partition("=")[0] not in _NO_OPTIONS]
    instead = [value for name, _, value in given if name == "conf" and rule.module == "pam_faillock.so"]
    text = host_text.read_text(files, instead[-1] if instead else path)
    lines = [f"{name} = {value}" if mark else name for name, mark, value in given if name != "conf"]
    whole = "\n".join([text or "", *lines])
    found = daemon.read_settings(Overlay(files, {path: FileState(host_text.encode_text(whole), 0o644, "root:root")}))
    asks = ON if "use_authtok" in rule.arguments else OFF
    return {**found, "use_authtok": asks, "conf": instead[-1] if instead else UNSET}


def compare_options(module: str, option: str, was: str, now: str) -> Strength:
    if option == "use_authtok":
        return _CLOSES(was, now)
    if module in _FILES:
        return _FILES[module][1].compare_values(option, was, now)
    return _SCALES.get(module, {}).get(option, strictness.compare_unranked)(was, now)


def accepts_empty_password(rule: PamRule) -> bool:
    return any(re.fullmatch(r"nullok(?:_secure)?", word) for word in rule.arguments)
