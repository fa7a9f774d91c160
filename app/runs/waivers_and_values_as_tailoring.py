"""Export waivers, chosen rules and site values of a host or group as a tailoring file for OpenSCAP."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session

from app.errors import Rejected
from app.events.record import format_timestamp
from app.events.waiver_in_force import Waiver
from app.runs.order import select_rules
from app.runs.shared_field_checks import ScopedSpec, check_scope, load_known_skill
from app.runs.site_values import validate_and_build_used_values
from app.scanners.openscap.benchmark import read_benchmark, shorten_id
from app.scanners.openscap.generated_tailoring import GeneratedTailoring
from app.skills.benchmark_for_skill import choose_benchmark_with_skill_ids, match_waivers_to_skill
from app.skills.skill import Skill, apply_parameters
from app.store.host_groups import list_groups_of_host
from app.store.parameters import find_effective_group_parameters, find_effective_parameters
from app.store.waivers import list_waivers


@dataclass(frozen=True, kw_only=True)
class TailoringSpec(ScopedSpec):
    skill: str
    rules: str = ""
    """Comma-separated rules to evaluate; empty means the whole profile."""

    @property
    def file_name(self) -> str:
        return f"{self.host or self.group or 'every-host'}-tailoring.xml"


def export_tailoring(session: Session, spec: TailoringSpec, now: float, hosts_folder: Path) -> bytes:
    """Return a tailoring that extends the profile, with a reason for each change. Raise Rejected if invalid."""
    check_scope(session, spec.host, spec.group, hosts_folder)
    pack = _load_profile_skill(spec.skill)
    chosen = select_rules(spec.rules, spec.skill)
    find, name = (find_effective_group_parameters, spec.group) if spec.group else (find_effective_parameters, spec.host)
    rows = find(session, pack.name, name)
    made = apply_parameters(pack, validate_and_build_used_values(pack, rows))
    content = made.content
    assert content
    return GeneratedTailoring(
        benchmark=read_benchmark(content.datastream).id,
        file=content.datastream.name,
        extends=content.profile,
        id=f"xccdf_temper_profile_{shorten_id(content.profile)}",
        title=f"{pack.title}, as decided for {spec.scope.label}",
        at=format_timestamp(now),
        left_out=list(_iterate_left_out(pack, chosen, _list_waivers(session, spec, pack, now))),
        begins=content.tailoring,
    ).to_xml()


def _load_profile_skill(skill_name: str) -> Skill:
    pack = load_known_skill(skill_name)
    if pack.content is None or not pack.name.startswith("scap:"):
        raise Rejected(
            "skill", f"{skill_name[:80]!a} is not a profile of a data stream: give one, as scap:CONTENT:PROFILE."
        )
    return pack


def _list_waivers(session: Session, spec: TailoringSpec, pack: Skill, now: float) -> Sequence[Waiver]:
    groups = (spec.group,) if spec.group else list_groups_of_host(session, spec.host)
    in_force = [row.waiver for row in list_waivers(session) if row.is_in_force(now)]
    ours = [one for one in in_force if one.scope.covers_host(spec.host, groups)]
    return match_waivers_to_skill(ours, pack, choose_benchmark_with_skill_ids(pack))


def _iterate_left_out(pack: Skill, chosen_rules: Sequence[str], waivers: Sequence[Waiver]) -> Iterator[tuple[str, str]]:
    why = {one.rule: one.summary for one in sorted(waivers, key=lambda one: one.until)}
    for rule in pack.rules.values():
        if rule.id in why:
            yield rule.stig_id, why[rule.id]
        elif rule.id not in chosen_rules:
            yield rule.stig_id, "Not among the rules that were chosen."
