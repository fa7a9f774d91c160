"""A skill made from a data stream and one of its profiles: `scap:ssg-debian12:anssi_bp28_minimal`."""

from functools import lru_cache
from pathlib import Path

from app.errors import BadInput
from app.events.words import Category
from app.scanners.openscap.benchmark import ScapRule, read_benchmark
from app.scanners.openscap.content import Content, datastream, datastreams
from app.scanners.verdict import Verdict
from app.skills.skill import Check, Rule, Skill
from app.syntax.files import Files

_CATEGORIES: dict[str, Category] = {"high": "I", "medium": "II", "low": "III"}
_KEPT = 8
ASKS = {"accounts_password_pam_retry": frozenset({"pwquality retry 3"})}
"""What rules that we know by name ask for, by our word and not by the content's: three tries are more than the usual
one, and are what is checked for."""
_NOTHING: frozenset[str] = frozenset()


def skill(argument: str) -> Skill:
    name, _, profile = argument.partition(":")
    if not name or not profile:
        here = ", ".join(datastreams()) or "none yet: apt-get install ssg-debian brings some"
        raise BadInput(f"Ask for scap:CONTENT:PROFILE; content on this machine: {here}. `temper scap list` shows more.")
    file = datastream(name)
    return _made(file, profile, file.stat().st_mtime_ns)


@lru_cache(_KEPT)
def _made(file: Path, profile: str, _stamp: int) -> Skill:
    """Reading a data stream takes a tenth of a second, and every page asks for its run's skill."""
    benchmark = read_benchmark(file)
    full = benchmark.profile(profile)
    rules = benchmark.rules(full)
    return Skill(
        name=f"scap:{file.name.removesuffix('-ds.xml')}:{profile}",
        title=next(f"{benchmark.title}: {one.title}" for one in benchmark.profiles if one.id == full),
        rules={rule.name: _rule(rule) for rule in rules},
        content=Content(file, full),
    )


def _rule(rule: ScapRule) -> Rule:
    return Rule(
        id=rule.name,
        stig_id=rule.id,
        category=_CATEGORIES.get(rule.severity, "II"),
        title=rule.title,
        requirement=rule.requirement or rule.title,
        fix=rule.fix,
        paths=rule.paths,
        check=_scanners_own(rule.name),
        asks=ASKS.get(rule.name, _NOTHING),
        foreign=True,
        script=rule.script,
    )


def _scanners_own(rule: str) -> Check:
    def check(_: Files) -> Verdict:
        return Verdict(rule, "unknown", "This rule is the scanner's own: OpenSCAP judges it, on the host.")

    return check
