"""The built-in STIG skill: thirty rules of the RHEL 9 STIG that plain files decide, in our own words.

rules.toml has their texts, and this file their checks.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.skills.skill import Check, Rule, Skill
from app.skills.stig.checks import (
    audit_rules_control_switches,
    kernel_modules,
    lockout_and_password_length,
    login_defs_auditd_and_dnf_options,
    login_limits_and_shadow_mode,
    passwordless_access,
    sshd,
)
from app.skills.stig.site_values import PARAMETERS, apply_site_values

_CHECKS: dict[str, tuple[Callable[..., Check], *tuple[object, ...]]] = {
    "V-257984": (sshd.create_sshd_option_check, "PermitEmptyPasswords", "no"),
    "V-257986": (sshd.create_sshd_option_check, "UsePAM", "yes"),
    "V-257985": (sshd.create_sshd_option_check, "PermitRootLogin", "no"),
    "V-257983": (sshd.create_sshd_option_check, "PubkeyAuthentication", "yes"),
    "V-257981": (sshd.create_sshd_banner_check,),
    "V-257992": (sshd.create_sshd_option_check, "HostbasedAuthentication", "no"),
    "V-257993": (sshd.create_sshd_option_check, "PermitUserEnvironment", "no"),
    "V-257995": (sshd.create_sshd_option_check, "ClientAliveCountMax", "1"),
    "V-257996": (sshd.create_sshd_time_check, "ClientAliveInterval", 600),
    "V-258003": (sshd.create_sshd_option_check, "GSSAPIAuthentication", "no"),
    "V-258007": (sshd.create_sshd_option_check, "X11Forwarding", "no"),
    "V-257989": (sshd.create_algorithms_check, "Ciphers", sshd.CIPHERS),
    "V-257991": (sshd.create_algorithms_check, "MACs", sshd.MACS),
    "V-258094": (passwordless_access.create_pam_nullok_check,),
    "V-258054": (lockout_and_password_length.create_lockout_threshold_check, 3),
    "V-258055": (lockout_and_password_length.create_root_lockout_check,),
    "V-258057": (lockout_and_password_length.create_permanent_lockout_check,),
    "V-258107": (lockout_and_password_length.create_password_length_check, 15),
    "V-258041": (login_defs_auditd_and_dnf_options.create_password_age_check, 60),
    "V-258074": (login_defs_auditd_and_dnf_options.create_exact_umask_check, "077"),
    "V-258068": (login_limits_and_shadow_mode.create_idle_timeout_check, 600),
    "V-258069": (login_limits_and_shadow_mode.create_login_limit_check, 10),
    "V-257934": (login_limits_and_shadow_mode.create_shadow_mode_check,),
    "V-258106": (passwordless_access.create_sudo_nopasswd_check,),
    "V-258086": (passwordless_access.create_sudo_authenticate_default_check,),
    "V-258154": (login_defs_auditd_and_dnf_options.create_disk_full_check,),
    "V-258227": (audit_rules_control_switches.create_control_check, "-f", "2"),
    "V-258229": (audit_rules_control_switches.create_control_check, "-e", "2"),
    "V-257820": (login_defs_auditd_and_dnf_options.create_package_signature_check,),
    "V-257807": (kernel_modules.create_module_disabled_check, "sctp"),
}


def load_rules_by_part() -> dict[str, list[Rule]]:
    parts = tomllib.loads((Path(__file__).parent / "rules.toml").read_text(encoding="utf-8"))
    return {
        name: [_build_rule(rule, table, part) for rule, table in part.items() if isinstance(table, dict)]
        for name, part in parts.items()
    }


def _build_rule(name: str, table: dict[str, Any], part: dict[str, Any]) -> Rule:
    check, *wanted = _CHECKS[name]
    sets = {
        "fix": f"{table['fix']} {part.get('how', '')}".rstrip(),
        "paths": tuple(table.get("paths") or part["paths"]),
        "depends": tuple(table.get("depends", ())),
        "asks": frozenset(table.get("asks", ())),
    }
    return Rule(**{**table, **sets}, id=name, check=check(name, *wanted))


def _apply_values(values: Mapping[str, str]) -> Skill:
    return replace(SKILL, rules=apply_site_values(SKILL.rules, values))


SKILL = STIG = Skill(
    name="stig",
    title="DISA STIG for RHEL 9: thirty rules that plain files decide",
    rules={rule.id: rule for part in load_rules_by_part().values() for rule in part},
    parameters=PARAMETERS,
    retuned=_apply_values,
)
