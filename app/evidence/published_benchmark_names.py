"""The published benchmark behind a skill's rules, and the names that papers use for them."""

from dataclasses import dataclass, replace

import msgspec

from app.events.event_field_types import Published, PublishedRule
from app.events.kinds import RunStarted
from app.skills.skill import Rule, Skill

INCOMPLETE = (
    "INCOMPLETE: no published benchmark was at hand when the run began. Rule ids have no revision, and CCIs, check "
    "texts and group titles of the STIG are missing."
)
DISA = "mil.disa.stig"


@dataclass(frozen=True)
class BenchmarkTitle:
    id: str
    title: str
    display: str
    version: str
    release: str
    note: str
    """A sentence on the source of the names, or that they are incomplete."""

    @property
    def reference(self) -> str:
        return f"{self.title} :: Version {self.version}, {self.release}".removesuffix(", ")


def build_benchmark_title(skill: Skill, started: RunStarted | None) -> BenchmarkTitle:
    title = _choose_benchmark_title(skill, started.published if started else None)
    more = [started.tailored.summary] if started and started.tailored else []
    if started and started.parameters:
        names = ", ".join(one.name for one in started.parameters)
        more.append(f"Values that the site chose: {names}.")
    return replace(title, note=" ".join([title.note, *more]))


def _choose_benchmark_title(skill: Skill, published: Published | None) -> BenchmarkTitle:
    if published:
        count = len(skill.rules_including_left_out)
        source = f"{len(published.rules)} of {count} rules are named by {published.file}, sha256 {published.sha256}."
        return BenchmarkTitle(
            published.id, published.title, published.title, published.version, published.release, source
        )
    if all(rule.stig_id.startswith("RHEL-09-") for rule in skill.rules.values()):
        return BenchmarkTitle(
            id="RHEL_9_STIG",
            title="Red Hat Enterprise Linux 9 Security Technical Implementation Guide",
            display="Red Hat Enterprise Linux 9",
            version="2",
            release="Release: 9 Benchmark Date: 01 Jul 2026",
            note=INCOMPLETE,
        )
    return BenchmarkTitle(skill.name, skill.title, skill.title, "1", "", INCOMPLETE)


def build_published_rule(rule: Rule, published_rule: PublishedRule | None) -> PublishedRule:
    """Return the published names of a rule, with the skill's own text where the benchmark has none."""
    own_id = f"S{rule.id}" if rule.id.startswith("V-") else rule.id  # its revision is unknown
    where = f"Decided by {', '.join(rule.paths)}." if rule.paths else "Decided by the scanner's own check."
    named = published_rule or PublishedRule(rule=rule.id, group=rule.id, id=own_id)
    return msgspec.structs.replace(
        named,
        stig_id=named.stig_id or rule.stig_id,
        group_title=named.group_title or rule.title,
        title=named.title or rule.title,
        discussion=named.discussion or rule.requirement,
        check=named.check or where,
        fix=named.fix or rule.fix,
    )
