"""The published document that a skill's rules are from, as checklists name it."""

from dataclasses import dataclass

from app.skills.skill import Rule, Skill


@dataclass(frozen=True)
class BenchmarkTitle:
    id: str
    title: str
    display: str
    version: str
    release: str

    @property
    def reference(self) -> str:
        return f"{self.title} :: Version {self.version}, {self.release}".removesuffix(", ")


_RHEL_9 = BenchmarkTitle(
    id="RHEL_9_STIG",
    title="Red Hat Enterprise Linux 9 Security Technical Implementation Guide",
    display="Red Hat Enterprise Linux 9",
    version="2",
    release="Release: 9 Benchmark Date: 01 Jul 2026",
)


def benchmark(pack: Skill) -> BenchmarkTitle:
    if all(rule.stig_id.startswith("RHEL-09-") for rule in pack.rules.values()):
        return _RHEL_9
    return BenchmarkTitle(id=pack.name, title=pack.title, display=pack.title, version="1", release="")


def rule_id(rule: Rule) -> str:
    """SV-257985 of V-257985. Its revision changes with every release and decides nothing: it is left out."""
    return f"S{rule.id}" if rule.id.startswith("V-") else rule.id
