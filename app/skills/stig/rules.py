"""Loads the rules of rules.toml with their checks."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.skills.skill import Check, Rule
from app.skills.stig.checks.audit import locks, panics
from app.skills.stig.checks.crypto import CIPHERS, MACS, allows_only
from app.skills.stig.checks.login import hashes_closed, idle_timeout, login_limit
from app.skills.stig.checks.modules import disabled
from app.skills.stig.checks.options import disk_full, password_age, signatures, umask
from app.skills.stig.checks.passwords import locks_root, password_length, stays_locked, tries
from app.skills.stig.checks.privilege import no_empty_passwords, no_passwordless_sudo, sudo_authenticates
from app.skills.stig.checks.sshd import shows_banner, states, states_time

_CHECKS: dict[str, tuple[Callable[..., Check], *tuple[object, ...]]] = {
    "V-257984": (states, "PermitEmptyPasswords", "no"),
    "V-257986": (states, "UsePAM", "yes"),
    "V-257985": (states, "PermitRootLogin", "no"),
    "V-257983": (states, "PubkeyAuthentication", "yes"),
    "V-257981": (shows_banner,),
    "V-257992": (states, "HostbasedAuthentication", "no"),
    "V-257993": (states, "PermitUserEnvironment", "no"),
    "V-257995": (states, "ClientAliveCountMax", "1"),
    "V-257996": (states_time, "ClientAliveInterval", 600),
    "V-258003": (states, "GSSAPIAuthentication", "no"),
    "V-258007": (states, "X11Forwarding", "no"),
    "V-257989": (allows_only, "Ciphers", CIPHERS),
    "V-257991": (allows_only, "MACs", MACS),
    "V-258094": (no_empty_passwords,),
    "V-258054": (tries, 3),
    "V-258055": (locks_root,),
    "V-258057": (stays_locked,),
    "V-258107": (password_length, 15),
    "V-258041": (password_age, 60),
    "V-258074": (umask, "077"),
    "V-258068": (idle_timeout, 600),
    "V-258069": (login_limit, 10),
    "V-257934": (hashes_closed,),
    "V-258106": (no_passwordless_sudo,),
    "V-258086": (sudo_authenticates,),
    "V-258154": (disk_full,),
    "V-258227": (panics,),
    "V-258229": (locks,),
    "V-257820": (signatures,),
    "V-257807": (disabled, "sctp"),
}


def read_parts() -> dict[str, list[Rule]]:
    """Return the rules by part, in file order."""
    parts = tomllib.loads((Path(__file__).parent / "rules.toml").read_text(encoding="utf-8"))
    return {
        name: [_rule(rule, table, part) for rule, table in part.items() if isinstance(table, dict)]
        for name, part in parts.items()
    }


def _rule(name: str, table: dict[str, Any], part: dict[str, Any]) -> Rule:
    check, *wanted = _CHECKS[name]
    sets = {
        "fix": f"{table['fix']} {part.get('how', '')}".rstrip(),
        "paths": tuple(table.get("paths") or part["paths"]),
        "depends": tuple(table.get("depends", ())),
        "asks": frozenset(table.get("asks", ())),
    }
    return Rule(**{**table, **sets}, id=name, check=check(name, *wanted))
