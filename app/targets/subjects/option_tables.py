"""Judges of option files. Their allowed keys and values are in option_values.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any

from app.syntax import key_value_config_parsers, sshd_line
from app.syntax.host_text import fold_case
from app.syntax.setting import Setting
from app.targets.subjects.option_file_policy import OptionJudge, Read

_VALUES: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("option_values.toml").read_text()
)


def _keep_case(key: str) -> str:
    return key


def _fold_all_uppercase_key_or_spoil(key: str) -> str:
    """Fold an uppercase key; any other spelling matches no pattern."""
    return fold_case(key) if key.isupper() else key.upper()


def _parse_option_line(line: str) -> list[Setting]:
    return key_value_config_parsers.parse_options(line, "")


def _parse_sysctl_line(line: str) -> list[Setting]:
    """Parse a sysctl line. It needs an equals sign, and a # after the value is part of the value."""
    return _parse_option_line(line) if "=" in line and not re.search(r"[#;]", line) else []


def _parse_selinux(line: str) -> list[Setting]:
    """Parse a line of the SELinux configuration. A blank before the equals sign makes it invalid."""
    match = re.fullmatch(r"(SELINUX|SELINUXTYPE)=([a-z]+)[ \t]*", line)
    return [Setting(match[1], match[2], "", 1)] if match else []


def _parse_auditd(line: str) -> list[Setting]:
    settings, problems = key_value_config_parsers.parse_auditd_with_problems(line, "")
    return [] if problems else settings


def parse_ini_line(line: str) -> list[Setting]:
    """Parse one option line. A line that starts with a blank would continue the one above."""
    return [
        Setting(setting.key.removeprefix("."), setting.value, "", 1)
        for setting in key_value_config_parsers.parse_ini(line, "")
    ]


def _parse_sshd_line(line: str) -> list[Setting]:
    found = sshd_line.parse_directive(line)
    return [] if found is None or found.fault else [Setting(found.keyword, found.value, "", 1)]


def _create_judge(name: str, parse_line: Read, **judge_options: Any) -> OptionJudge:
    return OptionJudge(parse_line, good=_VALUES[name]["good"], named=_VALUES[name].get("named", {}), **judge_options)


_INI: dict[str, Any] = {"spelt": _keep_case, "whole": lambda text: key_value_config_parsers.parse_ini(text, "")}
_OTHER_KEY = rf"(?!(?:{'|'.join(_VALUES['sysctl']['good'])})$)(?:dev|fs|kernel|net|user|vm)\.[a-z0-9_.]+"
"""Its effect decides: no scale ranks it, so only the value that the rule asks for is accepted."""
_VALUES["sysctl"]["good"][_OTHER_KEY] = r"-?[0-9]{1,10}(?: [0-9]{1,10})?"

SSHD = _create_judge("sshd", _parse_sshd_line, first_wins=True)
CRYPTO_POLICY = _create_judge(
    "crypto_policy", lambda line: _parse_option_line(f"policy {line}") if " " not in line else []
)
CRYPTO_MODULE = _create_judge("crypto_module", _parse_option_line)
LOGIN_DEFS = _create_judge(
    "login_defs",
    lambda line: key_value_config_parsers.parse_login_defs(line, ""),
    spelt=_fold_all_uppercase_key_or_spoil,
)
PWQUALITY = _create_judge("pwquality", _parse_option_line)
FAILLOCK = _create_judge("faillock", _parse_option_line, spelt=_keep_case)
AUDITD = _create_judge("auditd", _parse_auditd, weaker="evidence tampering")
SELINUX = _create_judge("selinux", _parse_selinux, weaker="evidence tampering", spelt=_fold_all_uppercase_key_or_spoil)
DNF = _create_judge("dnf", parse_ini_line, sections=("[main]",), **_INI)
SYSCTL = _create_judge("sysctl", _parse_sysctl_line, spelt=_keep_case)
MISSION = _create_judge("mission", parse_ini_line, sections=("[inbox]",), **_INI)
