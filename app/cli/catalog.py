"""`temper skills` and `temper lineups`: list the skills and line-ups that a run can use."""

from dataclasses import dataclass

from app.cli.listing import print_rows
from app.errors import BadInput
from app.lineups.reader import find_lineup, list_shipped_lineups, read_lineup
from app.skills.catalog import SHIPPED, load_skill


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
    print_rows([_to_skill_line(name) for name in SHIPPED.list_names()], "", as_json=as_json)


def _to_skill_line(name: str) -> SkillLine:
    try:
        pack = load_skill(name)
    except BadInput:
        return SkillLine(f"{name}:CONTENT:PROFILE", None, None, "see temper scap list")
    return SkillLine(name, len(pack.rules), pack.mode, pack.title)


def list_lineups(*, as_json: bool) -> None:
    found = [read_lineup(find_lineup(name)) for name in list_shipped_lineups()]
    rows = [LineupLine(one.name, one.simulated, tuple(one.engines), one.title) for one in found]
    print_rows(rows, "", as_json=as_json)
