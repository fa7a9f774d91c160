"""The built-in STIG skill: thirty rules of the RHEL 9 STIG that plain files decide, in our own words.

rules.toml has their texts, and this file their checks.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.skills.skill import Check, Rule, Skill
from app.skills.stig.checks import audit, login, modules, options, passwordless_access, passwords, sshd
from app.skills.stig.site_values import PARAMETERS, apply_site_values

_CHECKS: dict[str, tuple[Callable[..., Check], *tuple[object, ...]]] = {
    "V-257984": (sshd.check_sshd_option, "PermitEmptyPasswords", "no"),
    "V-257986": (sshd.check_sshd_option, "UsePAM", "yes"),
    "V-257985": (sshd.check_sshd_option, "PermitRootLogin", "no"),
    "V-257983": (sshd.check_sshd_option, "PubkeyAuthentication", "yes"),
    "V-257981": (sshd.check_sshd_banner,),
    "V-257992": (sshd.check_sshd_option, "HostbasedAuthentication", "no"),
    "V-257993": (sshd.check_sshd_option, "PermitUserEnvironment", "no"),
    "V-257995": (sshd.check_sshd_option, "ClientAliveCountMax", "1"),
    "V-257996": (sshd.check_sshd_time_option, "ClientAliveInterval", 600),
    "V-258003": (sshd.check_sshd_option, "GSSAPIAuthentication", "no"),
    "V-258007": (sshd.check_sshd_option, "X11Forwarding", "no"),
    "V-257989": (sshd.check_algorithms, "Ciphers", sshd.CIPHERS),
    "V-257991": (sshd.check_algorithms, "MACs", sshd.MACS),
    "V-258094": (passwordless_access.check_no_empty_passwords,),
    "V-258054": (passwords.check_password_tries, 3),
    "V-258055": (passwords.check_root_lockout,),
    "V-258057": (passwords.check_permanent_lockout,),
    "V-258107": (passwords.check_password_length, 15),
    "V-258041": (options.check_password_age, 60),
    "V-258074": (options.check_umask, "077"),
    "V-258068": (login.check_idle_timeout, 600),
    "V-258069": (login.check_login_limit, 10),
    "V-257934": (login.check_shadow_mode,),
    "V-258106": (passwordless_access.check_no_passwordless_sudo,),
    "V-258086": (passwordless_access.check_sudo_authenticates,),
    "V-258154": (options.check_disk_full_action,),
    "V-258227": (audit.check_audit_panics,),
    "V-258229": (audit.check_audit_locked,),
    "V-257820": (options.check_package_signatures,),
    "V-257807": (modules.check_module_disabled, "sctp"),
}


def read_parts() -> dict[str, list[Rule]]:
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
    rules={rule.id: rule for part in read_parts().values() for rule in part},
    parameters=PARAMETERS,
    retuned=_apply_values,
)
