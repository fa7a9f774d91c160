"""`temper skills` and `temper lineups`: list the skills and line-ups that a run can use."""

from app.cli.output import Row, print_rows
from app.errors import BadInput
from app.lineups.reader import list_shipped_lineup_names, read_lineup, require_lineup_path
from app.skills.catalog import SHIPPED, load_skill


def list_skills(*, as_json: bool) -> None:
    print_rows([_to_skill_row(name) for name in SHIPPED.list_names()], "", as_json=as_json)


def _to_skill_row(name: str) -> Row:
    """Return a skill's row; its rules and modes are unknown if they depend on the part after the colon."""
    try:
        pack = load_skill(name)
    except BadInput:
        return {"skill": f"{name}:CONTENT:PROFILE", "rules": None, "mode": None, "title": "see temper scap list"}
    return {"skill": name, "rules": len(pack.rules), "mode": pack.mode, "title": pack.title}


def list_lineups(*, as_json: bool) -> None:
    found = [read_lineup(require_lineup_path(name)) for name in list_shipped_lineup_names()]
    rows = [
        {"lineup": one.name, "simulated": one.simulated, "engines": tuple(one.engines), "title": one.title}
        for one in found
    ]
    print_rows(rows, "", as_json=as_json)
