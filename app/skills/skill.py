"""A skill is a folder that says what to harden: rules, each with its check."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from app.errors import BadInput
from app.events.words import Category, Mode, ParameterUsed, Tailored
from app.scanners.openscap.content import Content
from app.scanners.verdict import Verdict
from app.skills.parameter import Parameter
from app.syntax.files import Files

Check = Callable[[Files], Verdict]


@dataclass(frozen=True)
class Rule:
    id: str
    """V-257985: stable over STIG releases."""
    stig_id: str
    """RHEL-09-255045; of a data stream's rule, its id in full."""
    category: Category
    title: str
    requirement: str
    fix: str
    paths: tuple[str, ...]
    """Files that decide the rule."""
    check: Check
    depends: tuple[str, ...] = ()
    asks: frozenset[str] = frozenset()
    """Settings that it wants though their order is open: "sshd clientaliveinterval 600" (targets/effects)."""
    irreversible: bool = False
    breaks: str = ""
    """What hardening it can break, in words; empty when nothing is known."""
    foreign: bool = False
    """Its words are those of content that somebody else wrote."""
    script: bool = False
    """`fix` is a script: roles are told what it would set, and none of them runs it."""
    remedy: bool = False
    """Whoever wrote the rule wrote a script that fixes it, which only a person's yes lets run, as a last resort."""


@dataclass(frozen=True)
class Skill:
    name: str
    title: str
    rules: Mapping[str, Rule]
    mode: Mode | None = None
    """The only mode that it is run in; None is any."""
    content: Content | None = None
    """What OpenSCAP is to be asked, where the rules have no checks of our own."""
    tailored: Tailored | None = None
    """The tailoring whose profile this is."""
    left_out: Mapping[str, Rule] = field(default_factory=dict)
    """Rules that are not applicable by the tailoring: papers say so, and no run takes them."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    """Values that are the site's to choose."""
    valued: str = ""
    """The skill that they are set for, where it is another than this."""
    retuned: Callable[[Mapping[str, str]], "Skill"] | None = None
    """The same with other values, by the parameters' names."""
    used: tuple[ParameterUsed, ...] = ()
    """The values that somebody chose, where this was made with them."""

    @property
    def told(self) -> tuple[Rule, ...]:
        """All that papers speak of."""
        return (*self.rules.values(), *self.left_out.values())

    @property
    def values_of(self) -> str:
        """The skill whose values count."""
        return self.valued or self.name


def tuned(skill: Skill, used: tuple[ParameterUsed, ...]) -> Skill:
    """As it is with what the site chose. What the skill does not know any more is passed over."""
    known = tuple(one for one in used if one.name in skill.parameters)
    if not known or skill.retuned is None:
        return skill
    for one in known:
        if odd := skill.parameters[one.name].misread(one.value):
            raise BadInput(odd)
    return replace(skill.retuned({one.name: one.value for one in known}), used=known)
