"""`temper admin` and `temper token`: create people and API tokens. Each change is recorded in the audit log."""

import getpass
import sys
from dataclasses import dataclass
from datetime import datetime

from rich.console import Console
from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.listing import print_stored_rows, to_datetime
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import PersonDid
from app.people.rights import RIGHTS, Right, has_right
from app.store import audit, people
from app.store.clock import database_time
from app.store.db import open_database
from app.store.models import PersonRow

_DAY = 24 * 3600.0


def create_person(settings: Settings, name: str, right: str) -> None:
    """Create a person; prompt for the password or read it from a pipe."""
    new = people.build_person(name, right, _read_password())
    database = open_database(settings.database_location)
    with Session(database) as session, session.begin():
        people.add_person(session, new)
    _record_admin_action(database, f"admin create {name} {right}")
    Console().print(f"{name} can sign in with the right {right}", highlight=False)


def create_token(settings: Settings, name: str, right: str, label: str, days: float) -> None:
    asked = parse_right(right)
    database = open_database(settings.database_location)
    with Session(database) as session, session.begin():
        owner = people.find_person(session, name)
        if owner is None or owner.disabled:
            raise BadInput(f"there is no person {name}: create one with temper admin create {name}.")
        if not has_right(parse_right(owner.right), asked):
            raise BadInput(f"{name} has the right {owner.right}: a token cannot have a higher right than its owner.")
        _, secret = people.issue_credential(
            session, person=name, right=asked, kind="token", label=label, seconds=days * _DAY
        )
    _record_admin_action(database, f"token create for {name}, {right}, {days:g} days")
    print(secret)  # noqa: T201  one line, for scripts


@dataclass(frozen=True)
class PersonLine:
    person: str
    right: str
    disabled: bool
    signs_in_by: str
    made_at: datetime | None


@dataclass(frozen=True)
class TokenLine:
    id: str
    kind: str
    person: str
    right: str
    label: str
    run: str | None
    expires_at: datetime | None
    used_at: datetime | None


def list_people(settings: Settings, *, as_json: bool) -> None:
    nothing = "No people yet. Create one with temper admin create NAME."
    print_stored_rows(
        settings,
        lambda session: [_to_person_line(one) for one in people.list_people(session)],
        nothing,
        as_json=as_json,
    )


def _to_person_line(one: PersonRow) -> PersonLine:
    signs_in_by = "identity provider" if one.identity else "password"
    return PersonLine(one.name, one.right, one.disabled, signs_in_by, to_datetime(one.made_at))


def list_tokens(settings: Settings, *, as_json: bool) -> None:
    print_stored_rows(
        settings, _list_token_lines, "No tokens yet. Create one with temper token create NAME.", as_json=as_json
    )


def _list_token_lines(session: Session) -> list[TokenLine]:
    valid = (
        one for one in people.list_credentials(session, ("token", "link")) if one.expires_at > database_time(session)
    )
    return [
        TokenLine(
            one.id,
            one.kind,
            one.person,
            one.right,
            one.label,
            one.run or None,
            *map(to_datetime, (one.expires_at, one.used_at)),
        )
        for one in valid
    ]


def parse_right(word: str) -> Right:
    for right in RIGHTS:
        if right == word:
            return right
    raise BadInput(f"{word!r} is not a right: choose one of {', '.join(RIGHTS)}.")


def _read_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    first = getpass.getpass("Password: ")
    if first != getpass.getpass("Again: "):
        raise BadInput("the two passwords differ.")
    return first


def _record_admin_action(database: Engine, did: str) -> None:
    who = getpass.getuser()
    audit.record_audit_event(database, PersonDid(who=who, right="admin", via="terminal", source="", did=did, status=0))
