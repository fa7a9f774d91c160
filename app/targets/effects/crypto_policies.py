"""The system-wide crypto policy: its base, its modules, and what each module adds or removes."""

import re
from collections.abc import Mapping

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import fold_case, split_blank_separated_names
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.daemon_base import UNSET, Daemon
from app.targets.effects.strictness_comparison import Strength, compare_unranked, create_ranked_comparison

CONFIG = "/etc/crypto-policies/config"
MODULES = ("/etc/crypto-policies/policies/modules/", "/usr/share/crypto-policies/policies/modules/")
_STRICTER = (("LEGACY", "DEFAULT"), ("LEGACY", "FUTURE"), ("LEGACY", "FIPS"), ("DEFAULT", "FUTURE"))
"""FIPS and FUTURE do not compare: each forbids something that the other allows."""
_TAKE_AWAY = split_blank_separated_names("NO-SHA1 NO-CAMELLIA NO-PSK ECDHE-ONLY OSPP")
_BRING = split_blank_separated_names("SHA1 AD-SUPPORT AD-SUPPORT-LEGACY NO-ENFORCE-EMS")
_THERE = "in force"
_SIZES = ("min_rsa_size", "min_dh_size", "min_dsa_size")
_LEAST = {"LEGACY": "1024", "DEFAULT": "2048", "FIPS": "2048", "FUTURE": "3072"}
_BETTER_0 = ("sha1_in_certs", "arbitrary_dh_groups", "ssh_certs")
_BETTER_1 = ("ssh_etm",)
_LISTS = ("cipher", "mac", "hash", "group", "sign", "key_exchange", "protocol")
_TAKEN = re.compile(r"-[A-Za-z0-9][A-Za-z0-9.*-]*")


class CryptoPolicies(Daemon):
    """Not asked: update-crypto-policies would rewrite the host's files."""

    name = "crypto-policies"
    areas = ("/etc/crypto-policies/config", MODULES[0])

    def read_settings(self, files: Files) -> Mapping[str, str]:
        """Return the policy, its modules and their values; modules that are not named have no effect."""
        base, modules, others = _read_base_modules_and_further_lines(files)
        found = {"policy": base} | ({"further lines": others} if others else {})
        found |= {size: _LEAST[base] for size in _SIZES if base in _LEAST}
        for module in modules:
            written = _find_local_module_settings(files, module)
            if written is None:
                found[f"module {module}"] = _THERE
                continue
            for key, value in written:
                name = key if key in _SIZES else f"{key} of {module}"
                found[name] = value
        return found

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        kind, _blank, module = key.partition(" ")
        if kind == "policy":
            return _compare_bases(was, now)
        if kind == "module":
            return _compare_module_presence(module, was, now)
        if kind in _SIZES:
            return strictness.create_number_comparison(host_text.parse_digits)(was, now)
        return _compare_module_values(kind, was, now)


def _read_base_modules_and_further_lines(files: Files) -> tuple[str, list[str], str]:
    """Return the base, its modules, and any further lines; the file should have one line only."""
    lines = (line.partition("#")[0].strip() for line in (host_text.read_text(files, CONFIG) or "").split("\n"))
    first, *others = list(filter(None, lines)) or ["DEFAULT"]
    base, *modules = first.upper().split(":")
    return base, modules, " ".join(others)


def _find_local_module_settings(files: Files, module: str) -> list[tuple[str, str]] | None:
    """Return the settings of a local module; None for a vendor's module, which is compared by name."""
    if "/" in module or module in (*_TAKE_AWAY, *_BRING):
        return None
    texts = (host_text.read_text(files, f"{folder}{module}.pmod") for folder in MODULES)
    text = next((text for text in texts if text is not None), None)
    if text is None:
        return None
    found: dict[str, list[str]] = {}
    for setting in key_value_config_parsers.parse_options(text, ""):
        found.setdefault(fold_case(setting.key), []).append(" ".join(setting.value.split()))
    return [(key, " ".join(values)) for key, values in found.items()]


def _compare_bases(was: str, now: str) -> Strength:
    if (was, now) in _STRICTER:
        return Strength.STRONGER
    return Strength.WEAKER if (now, was) in _STRICTER else compare_unranked(was, now)


def _compare_module_presence(module: str, was: str, now: str) -> Strength:
    """Compare the presence of a module; only the effect of some is known."""
    if module in _TAKE_AWAY:
        return create_ranked_comparison(UNSET, _THERE)(was, now)
    return create_ranked_comparison(_THERE, UNSET)(was, now) if module in _BRING else compare_unranked(was, now)


def _compare_module_values(kind: str, was: str, now: str) -> Strength:
    if kind in _BETTER_0:
        return create_ranked_comparison("1", UNSET, "0")(was, now)
    if kind in _BETTER_1:
        return create_ranked_comparison("0", UNSET, "1")(was, now)
    words = (was + " " + now).split()
    if kind.partition("@")[0] in _LISTS and all(_TAKEN.fullmatch(word) for word in words):
        return strictness.compare_allowed_sets(now.split(), was.split())
    return compare_unranked(was, now)
