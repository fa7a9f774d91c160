"""Set, clear and resolve site values of rules, for the CLI, the API and the pages. Bounds are enforced."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from sqlalchemy import Engine
from sqlmodel import Session

from app.errors import BadInput, Rejected
from app.events.event_field_types import ParameterUsed
from app.runs.shared_field_checks import ScopedSpec, check_lengths, check_scope, load_known_skill
from app.skills.benchmark_for_skill import choose_benchmark_with_skill_ids
from app.skills.catalog import load_skill
from app.skills.parameter import LONGEST as LONGEST_VALUE
from app.skills.parameter import Parameter
from app.skills.skill import Skill, apply_parameters
from app.skills.stig.pack import STIG
from app.store.parameters import ParameterRow, find_effective_parameters, list_parameters
from app.store.session_shared_within_request import open_read_session

LONGEST = {"name": 128, "host": 64, "group": 63, "skill": 200, "value": LONGEST_VALUE}
MOST = 5000


@dataclass(frozen=True, kw_only=True)
class ParameterSpec(ScopedSpec):
    name: str
    value: str = ""
    skill: str = "stig"
    by: str


@dataclass(frozen=True)
class ParameterState:
    """A parameter with its set values and the value in effect on the requested host."""

    parameter: Parameter
    value: str
    """Value in effect on that host, or on every host if none was requested."""
    where: str
    """Scope that the value comes from: every host, group web, host web-1; empty for the default."""
    set_for: tuple[ParameterRow, ...]


def set_parameter(session: Session, spec: ParameterSpec, now: float, hosts_folder: Path) -> ParameterRow:
    """Set a value for new runs; running ones keep theirs. Raise Rejected if it is out of bounds."""
    pack, known = _find_skill_and_parameter(session, spec, hosts_folder)
    value = spec.value.strip() if known.kind == "number" else spec.value.strip("\r\n").replace("\r\n", "\n")
    if wrong := apply_stig_bounds(known, pack).explain_refusal(value):
        raise Rejected("value", wrong)
    key = (pack.site_value_skill_name, known.name, spec.scope.kind, spec.scope.name)
    row = session.get(ParameterRow, key)
    if row is None:
        if len(list_parameters(session)) >= MOST:
            raise Rejected("", f"{MOST} values are set already: clear one first.", "too-many")
        row = ParameterRow(
            **dict(zip(("skill", "name", "scope_kind", "scope_name"), key, strict=True)), value="", by="", at=0
        )
    row.value, row.by, row.at = value, spec.by, now
    session.add(row)
    return row


def delete_parameter_value(session: Session, spec: ParameterSpec, hosts_folder: Path) -> ParameterRow:
    """Clear a value, so that the next scope's value applies. Raise Rejected if it is not set."""
    pack, known = _find_skill_and_parameter(session, spec, hosts_folder)
    row = session.get(ParameterRow, (pack.site_value_skill_name, known.name, spec.scope.kind, spec.scope.name))
    if row is None:
        raise Rejected("name", f"{known.name} is not set for {spec.scope.label}: there is nothing to clear.")
    session.delete(row)
    return row


def list_parameter_states(session: Session, skill_name: str, host: str, hosts_folder: Path) -> list[ParameterState]:
    pack = load_known_skill(skill_name)
    check_scope(session, host, "", hosts_folder)
    rows = list_parameters(session, pack.site_value_skill_name)
    counts = find_effective_parameters(session, pack.site_value_skill_name, host)
    return [_create_state(apply_stig_bounds(one, pack), counts.get(one.name), rows) for one in pack.parameters.values()]


def _create_state(
    parameter: Parameter, effective_row: ParameterRow | None, rows: Sequence[ParameterRow]
) -> ParameterState:
    mine = tuple(row for row in rows if row.name == parameter.name)
    if effective_row is None:
        return ParameterState(parameter, parameter.usual, "", mine)
    return ParameterState(parameter, effective_row.value, effective_row.scope.label, mine)


def load_skill_with_site_values(name: str, host: str, database: Engine) -> Skill:
    """Return the skill with the host's site values. Raise BadInput if a stored value no longer fits."""
    pack = load_skill(name)
    if not pack.parameters:
        return pack
    with open_read_session(database) as session:
        rows = find_effective_parameters(session, pack.site_value_skill_name, host)
    return apply_parameters(pack, validate_and_build_used_values(pack, rows))


def validate_and_build_used_values(
    pack: Skill, effective_rows: Mapping[str, ParameterRow]
) -> tuple[ParameterUsed, ...]:
    found = []
    for row in effective_rows.values():
        known = pack.parameters.get(row.name)
        if known is None:
            continue
        if wrong := apply_stig_bounds(known, pack).explain_refusal(row.value):
            raise BadInput(f"The site's value for {row.scope.label} is no longer valid for {pack.title}: {wrong}")
        rules = tuple(rule for rule in known.rules if rule in pack.rules)
        digest = hashlib.sha256(row.value.encode()).hexdigest()
        found.append(ParameterUsed(name=row.name, value=row.value, sha256=digest, rules=rules, where=row.scope.label))
    return tuple(sorted(found, key=lambda one: one.name))


def apply_stig_bounds(parameter: Parameter, pack: Skill) -> Parameter:
    """Return the parameter with the STIG's bounds added if the content maps to STIG rules."""
    if pack.content is None or parameter.kind != "number":
        return parameter
    named = choose_benchmark_with_skill_ids(pack)
    numbers = {one.rule: one.group for one in named.rules} if named else {}
    theirs = {numbers.get(rule, rule) for rule in parameter.rules}
    for one in STIG.parameters.values():
        if one.kind == "number" and theirs & set(one.rules) and not one.explain_refusal(parameter.usual):
            least = max((each for each in (one.least, parameter.least) if each is not None), default=None)
            most = min((each for each in (one.most, parameter.most) if each is not None), default=None)
            return replace(parameter, least=least, most=most, stated=one.stated)
    return parameter


def _find_skill_and_parameter(session: Session, spec: ParameterSpec, hosts_folder: Path) -> tuple[Skill, Parameter]:
    check_lengths(spec, LONGEST)
    check_scope(session, spec.host, spec.group, hosts_folder)
    pack = load_known_skill(spec.skill)
    if spec.name not in pack.parameters:
        near = get_close_matches(spec.name, pack.parameters, n=3, cutoff=0.4) or [*pack.parameters][:3]
        known = f"the nearest are {', '.join(near)}" if near else "it has none"
        raise Rejected("name", f"{pack.title} has no parameter {spec.name!a}: {known}.")
    return pack, pack.parameters[spec.name]
