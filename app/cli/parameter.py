"""`temper parameter`: list, set and clear site values. Each change is recorded in the audit log."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.existing_database import open_existing_database
from app.cli.listing import print_rows
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import PersonDid
from app.runs.parameters import ParameterSpec, clear_parameter, list_parameter_states, set_parameter
from app.skills.parameter import LONGEST
from app.store import audit
from app.store.clock import database_time
from app.store.db import open_database


@dataclass(frozen=True)
class ParameterLine:
    name: str
    value: str
    set_for: str
    may_be: str
    usual: str
    rules: tuple[str, ...]
    title: str


def list_parameters(settings: Settings, skill: str, host: str, *, as_json: bool) -> None:
    with Session(open_database(settings.database_location)) as session:
        rows = [
            ParameterLine(
                one.parameter.name,
                one.value,
                one.where or "default",
                one.parameter.bounds,
                one.parameter.usual,
                one.parameter.rules,
                one.parameter.title,
            )
            for one in list_parameter_states(session, skill, host, settings.hosts_folder)
        ]
    print_rows(rows, f"The rules of {skill} have no site values.", as_json=as_json)


def set_value(settings: Settings, wish: ParameterSpec) -> None:
    database = open_database(settings.database_location)
    with Session(database) as session, session.begin():
        row = set_parameter(session, wish, database_time(session), settings.hosts_folder)
        told = f"{row.name} = {' '.join(row.value.split())}, for {row.scope.label}"
    _record_parameter_change(database, wish.by, f"parameter set {wish.name}", f"{wish.skill}: {told}")
    print(told)  # noqa: T201


def clear_value(settings: Settings, wish: ParameterSpec) -> None:
    database = open_existing_database(settings)
    with Session(database) as session, session.begin():
        row = clear_parameter(session, wish, settings.hosts_folder)
        told = f"{row.name} is cleared for {row.scope.label}"
    _record_parameter_change(database, wish.by, f"parameter clear {wish.name}", f"{wish.skill}: {told}")
    print(told)  # noqa: T201


def read_value(value: str, file: Path | None) -> str:
    if file is None:
        return value
    if value:
        raise BadInput("Give either the value or a file that contains it, not both.")
    try:
        with file.open(encoding="utf-8") as opened:
            return opened.read(LONGEST + 2)
    except (OSError, UnicodeDecodeError) as exc:
        raise BadInput(f"{file} cannot be read as text: {exc}.") from exc


def _record_parameter_change(database: Engine, who: str, did: str, detail: str) -> None:
    audit.record_audit_event(
        database,
        PersonDid(who=who, right="operator", via="terminal", source="", did=did, status=0, detail=detail[:300]),
    )
