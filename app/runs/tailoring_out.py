"""Export waivers, chosen rules and site values of a host or group as a tailoring file for OpenSCAP."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session

from app.errors import BadInput, NotTaken
from app.events.record import stamp
from app.events.scope import HostScope
from app.events.waiver import Waiver
from app.loop.waived import of_skill
from app.runs.order import rules_of
from app.runs.parameters import used
from app.runs.scope import checked_scope
from app.scanners.openscap.benchmark import read_benchmark, short
from app.scanners.openscap.own_tailoring import OwnTailoring
from app.skills.catalog import skill
from app.skills.published import published
from app.skills.skill import Skill, tuned
from app.store.groups import groups_of
from app.store.parameters import in_effect, of_group
from app.store.waivers import waivers


@dataclass(frozen=True, kw_only=True)
class TailoringWish:
    skill: str
    host: str = ""
    group: str = ""
    """If host and group are empty: every host."""
    rules: str = ""
    """Comma-separated rules to evaluate; empty means the whole profile."""

    @property
    def scope(self) -> HostScope:
        return HostScope.of(self.host, self.group)

    @property
    def file(self) -> str:
        return f"{self.host or self.group or 'every-host'}-tailoring.xml"


def tailoring_of(session: Session, wish: TailoringWish, now: float, hosts: Path) -> bytes:
    """Return a tailoring that extends the profile, with a reason for each change. Raise Rejected if invalid."""
    checked_scope(session, wish.host, wish.group, hosts)
    pack = _pack(wish.skill)
    chosen = rules_of(wish.rules, wish.skill)
    rows = of_group(session, pack.name, wish.group) if wish.group else in_effect(session, pack.name, wish.host)
    made = tuned(pack, used(pack, rows))
    content = made.content
    assert content
    return OwnTailoring(
        benchmark=read_benchmark(content.datastream).id,
        file=content.datastream.name,
        extends=content.profile,
        id=f"xccdf_temper_profile_{short(content.profile)}",
        title=f"{pack.title}, as decided for {wish.scope.told}",
        at=stamp(now),
        left_out=list(_left_out(pack, chosen, _waivers(session, wish, pack, now))),
        begins=content.tailoring,
    ).written()


def _pack(name: str) -> Skill:
    try:
        pack = skill(name)
    except BadInput as exc:
        raise NotTaken("skill", str(exc), "unknown-skill") from exc
    if pack.content is None or not pack.name.startswith("scap:"):
        raise NotTaken("skill", f"{name[:80]!a} is no profile of a data stream: name one, as scap:CONTENT:PROFILE.")
    return pack


def _waivers(session: Session, wish: TailoringWish, pack: Skill, now: float) -> Sequence[Waiver]:
    groups = (wish.group,) if wish.group else groups_of(session, wish.host)
    held = [row.waiver for row in waivers(session) if row.in_force(now)]
    return of_skill([one for one in held if one.scope.covers(wish.host, groups)], pack, published(pack))


def _left_out(pack: Skill, chosen: Sequence[str], waived: Sequence[Waiver]) -> Iterator[tuple[str, str]]:
    why = {one.rule: one.told for one in sorted(waived, key=lambda one: one.until)}
    for rule in pack.rules.values():
        if rule.id in why:
            yield rule.stig_id, why[rule.id]
        elif rule.id not in chosen:
            yield rule.stig_id, "Not among the rules that were chosen."
