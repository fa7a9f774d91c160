"""A skill says what to harden: rules, each with its check."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from app.errors import BadInput
from app.events.event_field_types import Category, Mode, ParameterUsed, Tailored
from app.scanners.openscap.scap_files import ScapContent
from app.scanners.scanner import Verdict
from app.skills.parameter import Parameter
from app.syntax.host_files_protocol import Files
from app.targets.effects.legal_notice_protection import build_notice_asks_for_file_and_sshd
from app.targets.effects.too_strict_values import list_key_value_texts_asked_by_rule

Check = Callable[[Files], Verdict]
_WRITTEN = (
    *("id", "stig_id", "category", "title", "requirement", "fix"),
    *("paths", "depends", "irreversible", "breaks"),
)


@dataclass(frozen=True)
class Rule:
    id: str
    """V-257985: stable across STIG releases."""
    stig_id: str
    """RHEL-09-255045; for data streams the rule's full id."""
    category: Category
    title: str
    requirement: str
    fix: str
    paths: tuple[str, ...]
    """Files that decide the rule."""
    check: Check
    depends: tuple[str, ...] = ()
    asks: frozenset[str] = frozenset()
    """Settings that it wants though their order is undefined: "sshd clientaliveinterval 600" (targets/effects)."""
    irreversible: bool = False
    breaks: str = ""
    """What hardening it can break; empty if unknown."""
    foreign: bool = False
    """Its texts come from foreign content."""
    script: bool = False
    """`fix` is a script: roles see its values, but do not run it."""
    whole: str = ""
    """Its texts uncut, if roles read them cut: what they name may be changed."""
    code: str = ""
    """The content's script, uncut: of what it names, only files and resources may be changed."""
    remedy: bool = False
    """The content has a remediation script, a last resort that needs a person's approval."""

    @property
    def permitted_weakenings(self) -> frozenset[str]:
        """What a change may do for this rule although it counts as weaker or past a bound."""
        stated = list_key_value_texts_asked_by_rule(f"{self.requirement}\n{self.fix}")
        return self.asks | stated | build_notice_asks_for_file_and_sshd(f"{self.whole}\n{self.code}")


@dataclass(frozen=True)
class ContentFix:
    source: str
    """Whose fix it is, as people read it."""
    text: str
    """Ansible's tasks in YAML, or a script for bash."""


@dataclass(frozen=True)
class Skill:
    name: str
    title: str
    rules: Mapping[str, Rule]
    mode: Mode | None = None
    """The only run mode; None allows any."""
    content: ScapContent | None = None
    """The content for OpenSCAP, if the rules have no built-in checks."""
    tailored: Tailored | None = None
    """The tailoring file of the profile."""
    left_out: Mapping[str, Rule] = field(default_factory=dict)
    """Rules excluded by the tailoring: in the evidence, but in no run."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    """Site parameters by name."""
    valued: str = ""
    """The skill under which site values are set, if not this one."""
    retuned: Callable[[Mapping[str, str]], "Skill"] | None = None
    """Builds the skill with other values, by parameter name."""
    list_tasks: Callable[[str], tuple[ContentFix, ...]] = lambda _: ()
    """Returns the Ansible tasks that content has for a rule."""
    list_scripts: Callable[[str], tuple[ContentFix, ...]] = lambda _: ()
    """Returns the scripts for bash that content has for a rule."""
    used: tuple[ParameterUsed, ...] = ()
    """The site values that this skill was built with."""

    @property
    def rules_including_left_out(self) -> tuple[Rule, ...]:
        return (*self.rules.values(), *self.left_out.values())

    @property
    def site_value_skill_name(self) -> str:
        return self.valued or self.name


def apply_parameters(skill: Skill, used: tuple[ParameterUsed, ...]) -> Skill:
    """Return the skill with the site values; unknown parameters are ignored. Raises BadInput for malformed values."""
    known = tuple(one for one in used if one.name in skill.parameters)
    if not known or skill.retuned is None:
        return skill
    for one in known:
        if odd := skill.parameters[one.name].explain_malformed(one.value):
            raise BadInput(odd)
    return replace(skill.retuned({one.name: one.value for one in known}), used=known)


def build_rulebook(skill: Skill) -> bytes:
    """Return the rules as one document, recorded by digest and included in the evidence."""
    return _encode_rules(tuple(skill.rules_including_left_out))


@lru_cache(4)
def _encode_rules(rules: tuple[Rule, ...]) -> bytes:
    # Cached, as most runs have the same rules.
    entries = [{name: getattr(rule, name) for name in _WRITTEN} for rule in rules]
    return json.dumps(entries, indent=1, ensure_ascii=True).encode() + b"\n"


def hash_rulebook(skill: Skill) -> str:
    return hashlib.sha256(build_rulebook(skill)).hexdigest()
