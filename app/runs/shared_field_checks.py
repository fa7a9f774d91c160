"""Checks that orders, waivers, site values and tailorings share. Each raises Rejected with the field."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session

from app.errors import Rejected, convert_bad_input_to_rejected
from app.events.hosts_of_waiver_or_site_value import HostScope
from app.skills.catalog import load_skill, suggest_rules
from app.skills.skill import Skill
from app.store.host_groups import read_groups
from app.targets.host_registry import require_known_host
from app.text.clean import clean_text

RULE_LENGTH = 128


@dataclass(frozen=True, kw_only=True)
class ScopedSpec:
    """A request for one host or the hosts of a group; for every host if both are empty."""

    host: str = ""
    group: str = ""
    """Applies to the hosts that are in the group when a run begins."""

    @property
    def scope(self) -> HostScope:
        return HostScope.from_names(self.host, self.group)


def check_lengths(spec: object, limits_by_field: Mapping[str, int]) -> None:
    """Reject a spec with a field that is longer than its maximum in `limits_by_field`."""
    for field, limit in limits_by_field.items():
        check_length(field, getattr(spec, field), limit)


def check_length(field: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Rejected(field, f"the {field} has {len(text)} characters; the limit is {most}.")


def check_scope(session: Session, host: str, group: str, hosts_folder: Path) -> None:
    """Reject a host or group that does not exist; both may be empty."""
    if host and group:
        raise Rejected("group", "give a host or a group, not both.")
    if group and group not in (groups := read_groups(session)):
        known = f"the groups are {', '.join(groups)}" if groups else "create one with temper host group NAME HOST…"
        raise Rejected("group", f"there is no group {clean_text(group, 64)!a}: {known}.")
    if host:
        with convert_bad_input_to_rejected("host", "unknown-host"):
            require_known_host(host, hosts_folder)


def load_known_skill(name: str) -> Skill:
    with convert_bad_input_to_rejected("skill", "unknown-skill"):
        return load_skill(name)


def check_rule(field: str, rule: str, pack: Skill) -> None:
    """Reject a rule that the skill does not have, with the nearest ones."""
    if rule in pack.rules:
        return
    near = suggest_rules(rule, pack)
    known = f"the nearest are {', '.join(near)}" if near else f"it has rules such as {', '.join([*pack.rules][:3])}"
    raise Rejected(field, f"there is no rule {rule[:RULE_LENGTH]!a} in {pack.title}: {known}.", "unknown-rule")
