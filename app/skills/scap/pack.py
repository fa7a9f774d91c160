"""Builds a skill from a data stream and one of its profiles: `scap:ssg-debian12:anssi_bp28_minimal`.

A third part names an installed tailoring file that has the profile. DISA's content is joined with what other content
on this machine knows about its rules.
"""

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path

from app.errors import BadInput
from app.events.event_field_types import Category, Tailored
from app.scanners.openscap.benchmark import (
    FIX,
    SCRIPT,
    TASKS,
    Benchmark,
    ProfileValue,
    ScapRule,
    find_named_etc_paths,
    read_benchmark,
    shorten_id,
)
from app.scanners.openscap.generated_tailoring import GeneratedTailoring
from app.scanners.openscap.scap_files import ScapContent, map_names_to_datastreams, require_datastream
from app.scanners.openscap.tailoring import (
    TailoringFile,
    load_tailoring_file,
    map_names_to_added_tailoring_files,
    offer_only_tailored_profiles,
)
from app.scanners.scanner import Verdict
from app.skills.parameter import Kind, Parameter
from app.skills.scap.stig_manual_and_community_tasks import JoinedContent, join_content, list_content_times
from app.skills.skill import ContentFix, Rule, Skill
from app.skills.stated_settings import find_stated_settings_joined_with_values

_CATEGORIES: dict[str, Category] = {"high": "I", "medium": "II", "low": "III"}
_KEPT = 32
ASKS = {"accounts_password_pam_retry": frozenset({"pwquality retry 3"})}
"""Requested settings of known rules, stated by Temper: three tries are weaker than the default, but required."""
_IRREVERSIBLE = re.compile(r"audit_rules_immutable(?:_.*)?")
_LOCKING_LINE = re.compile(r"^\s*(?:-e 2|--loginuid-immutable)\s*$", re.MULTILINE)
"""Rules, and lines of a fix text, after which only a restart allows another change; the content does not say so."""
TASKS_SOURCE, SCRIPT_SOURCE = "the content's Ansible tasks", "the content's script"
_UNJUDGED = "This rule is the scanner's own: OpenSCAP judges it, on the host."


def skill(argument: str) -> Skill:
    name, profile, by = [*argument.split(":", 2), "", ""][:3]
    if not name or not profile:
        here = ", ".join(map_names_to_datastreams()) or "none yet: apt-get install ssg-debian brings some"
        raise BadInput(
            f"Give the skill as scap:CONTENT:PROFILE; content on this machine: {here}. `temper scap list` shows more."
        )
    file = require_datastream(name)
    stamp = (
        map_names_to_added_tailoring_files()[by].stat().st_mtime_ns if by in map_names_to_added_tailoring_files() else 0
    )
    return _build_skill(file, profile, by, (file.stat().st_mtime_ns, stamp, *list_content_times()), ())


@lru_cache(_KEPT)
def _build_skill(
    file: Path, profile: str, tailoring_name: str, stamps: tuple[int, ...], site_values: tuple[tuple[str, str], ...]
) -> Skill:
    """Build the skill. Cached, since it takes 0.1 s and every page needs it.

    `site_values`: site values by short name; `stamps`: modification times of all files that it may be built from.
    """
    whole, mine = read_benchmark(file), load_tailoring_file(tailoring_name) if tailoring_name else None
    benchmark = offer_only_tailored_profiles(mine, whole) if mine else whole
    full = benchmark.resolve_profile_id(profile)
    known = benchmark.map_short_ids_to_profile_parameters(full)
    values = {known[name].id: text for name, text in site_values if name in known}
    joined = join_content(file, whole)
    chosen_rules = benchmark.list_profile_rules(full, values)
    ids = {rule.name: rule.id for rule in chosen_rules}

    def list_fixes(system: str, source: str, kind: str, rule: str) -> tuple[ContentFix, ...]:
        """Return the content's own fix of a kind for a rule, then that of the joined content."""
        own = ContentFix(source, benchmark.render_fix(system, full, rule, values))
        id_ = ids.get(rule, "")
        community = ContentFix(joined.format_community_source(kind, id_), joined.render_fix(system, id_))
        return tuple(one for one in (own, community) if one.text)

    left_out = {one.name: _build_rule(one, joined) for one in benchmark.list_rules_removed_by_tailoring(full)}
    return Skill(
        name=":".join(
            ["scap", file.name.removesuffix("-ds.xml"), profile, *([tailoring_name] if tailoring_name else [])]
        ),
        title=next(f"{benchmark.title}: {one.title}" for one in benchmark.profiles if one.id == full),
        rules={rule.name: _build_rule(rule, joined) for rule in chosen_rules},
        content=_build_scap_content(file, full, mine, whole, values),
        tailored=_build_tailoring_record(mine, full, tuple(left_out)) if mine else None,
        left_out=left_out,
        parameters={name: _build_parameter(name, one) for name, one in known.items()},
        list_tasks=partial(list_fixes, TASKS, TASKS_SOURCE, "tasks"),
        list_scripts=partial(list_fixes, SCRIPT, SCRIPT_SOURCE, "script"),
        retuned=lambda chosen: _build_skill(file, profile, tailoring_name, stamps, tuple(sorted(chosen.items()))),
    )


def _build_scap_content(
    file: Path, profile: str, tailoring_file: TailoringFile | None, benchmark: Benchmark, values: Mapping[str, str]
) -> ScapContent:
    """Return the content for OpenSCAP. Site values are passed as a tailoring, its only way to accept values."""
    begins = tailoring_file.content if tailoring_file else b""
    if not values:
        return ScapContent(file, profile, begins)
    name = profile if tailoring_file else f"xccdf_temper_profile_{shorten_id(profile)}"
    made = GeneratedTailoring(
        benchmark=benchmark.id,
        file=file.name,
        extends=profile,
        id=name,
        title="With the site's values",
        at="1970-01-01T00:00:00Z",
        values=values,
        begins=begins,
    )
    return ScapContent(file, name, made.to_xml())


def _build_tailoring_record(tailoring_file: TailoringFile, profile: str, left_out: tuple[str, ...]) -> Tailored:
    return Tailored(
        file=tailoring_file.name,
        sha256=tailoring_file.sha256,
        id=tailoring_file.id,
        version=tailoring_file.version,
        profile=profile,
        left_out=left_out,
    )


_NUMBER = re.compile(r"-?\d{1,18}")
_KINDS: dict[str, Kind] = {"number": "number", "boolean": "boolean"}


def _build_parameter(name: str, profile_value: ProfileValue) -> Parameter:
    value, kind = profile_value.value, _KINDS.get(profile_value.value.kind, "text")
    least, most = (float(text) if text else None for text in (value.least, value.most))
    usual = float(profile_value.usual) if kind == "number" and _NUMBER.fullmatch(profile_value.usual) else None
    stated = f"The profile asks for {profile_value.usual} or {'more' if profile_value.weaker == 'less' else 'less'}."
    if profile_value.weaker == "less" and usual is not None:
        least = usual if least is None else max(least, usual)
    if profile_value.weaker == "more" and usual is not None:
        most = usual if most is None else min(most, usual)
    return Parameter(
        name=name,
        title=value.title or name,
        usual=profile_value.usual,
        rules=profile_value.rules,
        kind=kind,
        least=least,
        most=most,
        stated=stated if profile_value.weaker and usual is not None else "",
        choices=value.only or (("true", "false") if value.kind == "boolean" else ()),
    )


def _build_rule(rule: ScapRule, joined: JoinedContent) -> Rule:
    manual = joined.find_manual_rule(rule.id)
    fix = rule.fix or (manual.fix if manual else "")
    severity = rule.severity if rule.severity in _CATEGORIES or manual is None else manual.severity
    return Rule(
        id=rule.name,
        stig_id=rule.id,
        category=_CATEGORIES.get(severity, "II"),
        title=rule.title,
        requirement=rule.requirement or rule.title,
        fix=fix[:FIX],
        paths=rule.paths or find_named_etc_paths(fix),
        check=lambda _: Verdict(rule.name, "unknown", _UNJUDGED),
        asks=ASKS.get(rule.name, frozenset()) | find_stated_settings_joined_with_values(f"{rule.requirement}\n{fix}"),
        irreversible=bool(_IRREVERSIBLE.fullmatch(rule.name) or _LOCKING_LINE.search(fix)),
        foreign=True,
        script=rule.script,
        remedy=rule.remedy,
        whole=rule.whole if fix == rule.fix else f"{rule.whole}\n{fix}",
        code=rule.code,
    )
