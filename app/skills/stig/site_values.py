"""Site parameters of the STIG rules, never weaker than the STIG's bounds."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from app.skills.parameter import Parameter
from app.skills.skill import Check, Rule
from app.skills.stig.checks import (
    lockout_and_password_length,
    login_defs_auditd_and_dnf_options,
    login_limits_and_shadow_mode,
    sshd,
)

_ALL = msgspec.toml.decode(
    Path(__file__).with_name("site_parameters.toml").read_bytes(), type=dict[str, tuple[Parameter, ...]]
)["parameter"]
PARAMETERS = {one.name: one for one in _ALL}


def apply_site_values(rules: Mapping[str, Rule], values: Mapping[str, str]) -> dict[str, Rule]:
    """Return the rules with the site values in their texts and checks."""
    made = dict(rules)
    for name, value in values.items():
        for rule in PARAMETERS[name].rules:
            made[rule] = replace(
                _TUNED.get(name, _replace_number_in_texts)(made[rule], value), check=_CHECKS[name](rule, value)
            )
    return made


def _replace_number_in_texts(rule: Rule, value: str) -> Rule:
    (usual,) = (one.usual for one in _ALL if rule.id in one.rules)
    requirement, fix = (re.sub(rf"\b{usual}\b", value, text) for text in (rule.requirement, rule.fix))
    return replace(rule, requirement=f"{requirement} {_describe_choice(value, usual)}", fix=fix)


def _describe_choice(value: str, usual: str) -> str:
    return f"The site chose {value} where {usual} is usual." if value != usual else f"The site chose {value}."


def _put_disk_full_action_in_texts(rule: Rule, value: str) -> Rule:
    fix = rule.fix.replace("HALT", value)
    requirement = f"disk_full_action in auditd.conf has to be {value}. {_describe_choice(value, 'HALT')}"
    return replace(rule, requirement=requirement, fix=fix)


def _put_banner_in_texts(rule: Rule, value: str) -> Rule:
    words = " ".join(value.split())
    requirement = f"{rule.requirement} And /etc/issue has to hold the site's notice, word for word: `{words}`"
    fix = f"{rule.fix.partition(' and leave the notice')[0]}. Write to /etc/issue:\n{value}"
    return replace(rule, requirement=requirement, fix=fix)


_TUNED: dict[str, Callable[[Rule, str], Rule]] = {
    "disk_full_action": _put_disk_full_action_in_texts,
    "banner": _put_banner_in_texts,
}
_CHECKS: dict[str, Callable[[str, str], Check]] = {
    "minlen": lambda rule, value: lockout_and_password_length.create_password_length_check(rule, int(value)),
    "pass_max_days": lambda rule, value: login_defs_auditd_and_dnf_options.create_password_age_check(rule, int(value)),
    "tmout": lambda rule, value: login_limits_and_shadow_mode.create_idle_timeout_check(rule, int(value)),
    "maxlogins": lambda rule, value: login_limits_and_shadow_mode.create_login_limit_check(rule, int(value)),
    "client_alive_interval": lambda rule, value: sshd.create_sshd_time_check(rule, "ClientAliveInterval", int(value)),
    "disk_full_action": lambda rule, value: login_defs_auditd_and_dnf_options.create_disk_full_check(
        rule, frozenset({value.casefold()})
    ),
    "banner": sshd.create_sshd_banner_check,
}
