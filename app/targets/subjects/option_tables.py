"""Judges of option files. Their allowed keys and values are in option_values.toml."""

import tomllib
from pathlib import Path
from typing import Any

from app.targets.subjects.option_file_policy import (
    OptionJudge,
    Read,
    fold_uppercase_or_make_unmatchable,
    keep_case,
    parse_auditd,
    parse_ini_line,
    parse_ini_text,
    parse_login_defs,
    parse_option_line,
    parse_selinux,
    parse_sshd_line,
    parse_sysctl_line,
)

_VALUES: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("option_values.toml").read_text()
)


def _create_judge(name: str, read: Read, **judge_options: Any) -> OptionJudge:
    return OptionJudge(read, good=_VALUES[name]["good"], named=_VALUES[name].get("named", {}), **judge_options)


_INI: dict[str, Any] = {"spelt": keep_case, "whole": parse_ini_text}
_OTHER_KEY = rf"(?!(?:{'|'.join(_VALUES['sysctl']['good'])})$)(?:dev|fs|kernel|net|user|vm)\.[a-z0-9_.]+"
"""Its effect decides: no scale ranks it, so only the value that the rule asks for is accepted."""
_VALUES["sysctl"]["good"][_OTHER_KEY] = r"-?[0-9]{1,10}(?: [0-9]{1,10})?"

SSHD = _create_judge("sshd", parse_sshd_line, first_wins=True)
CRYPTO_POLICY = _create_judge(
    "crypto_policy", lambda line: parse_option_line(f"policy {line}") if " " not in line else []
)
CRYPTO_MODULE = _create_judge("crypto_module", parse_option_line)
LOGIN_DEFS = _create_judge("login_defs", parse_login_defs, spelt=fold_uppercase_or_make_unmatchable)
PWQUALITY = _create_judge("pwquality", parse_option_line)
FAILLOCK = _create_judge("faillock", parse_option_line, spelt=keep_case)
AUDITD = _create_judge("auditd", parse_auditd, weaker="evidence tampering")
SELINUX = _create_judge("selinux", parse_selinux, weaker="evidence tampering", spelt=fold_uppercase_or_make_unmatchable)
DNF = _create_judge("dnf", parse_ini_line, sections=("[main]",), **_INI)
SYSCTL = _create_judge("sysctl", parse_sysctl_line, spelt=keep_case)
MISSION = _create_judge("mission", parse_ini_line, sections=("[inbox]",), **_INI)
