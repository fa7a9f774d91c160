"""`temper skills` and `temper lineups`: list the skills and line-ups that a run can use."""

from dataclasses import dataclass

from app.cli.listing import listed
from app.errors import BadInput
from app.lineups.reader import find_lineup, read_lineup, shipped
from app.skills.catalog import SHIPPED, skill


@dataclass(frozen=True)
class SkillLine:
    skill: str
    rules: int | None
    """None if it depends on the part after the colon."""
    mode: str | None
    """The only mode that the skill supports; None if all."""
    title: str


@dataclass(frozen=True)
class LineupLine:
    lineup: str
    simulated: bool
    engines: tuple[str, ...]
    title: str


def list_skills(*, as_json: bool) -> None:
    listed([_skill(name) for name in SHIPPED.names()], "", as_json=as_json)


def _skill(name: str) -> SkillLine:
    try:
        pack = skill(name)
    except BadInput:
        return SkillLine(f"{name}:CONTENT:PROFILE", None, None, "what temper scap list names")
    return SkillLine(name, len(pack.rules), pack.mode, pack.title)


def list_lineups(*, as_json: bool) -> None:
    found = [read_lineup(find_lineup(name)) for name in shipped()]
    rows = [LineupLine(one.name, one.simulated, tuple(one.engines), one.title) for one in found]
    listed(rows, "", as_json=as_json)
