"""`temper admin`, `temper token` and `temper usage`: people, API tokens and what each spent."""

import getpass
import sys
import time

from sqlmodel import Session

from app.cli.database_access import open_existing_database, record_action
from app.cli.output import Row, print_line, print_rows, print_stored_rows, to_row
from app.config import Settings
from app.errors import BadInput
from app.people.credential_expiry import is_credential_valid
from app.people.rights import has_right, parse_right
from app.runs.usage_by_person import compute_usage, format_usage_csv, parse_usage_query
from app.store import issued_credentials, people
from app.store.database_clock import database_time
from app.store.db import open_and_migrate_database
from app.store.events import EventStore


def ask_password_and_create_person(settings: Settings, name: str, right: str) -> None:
    """Create a person; prompt for the password or read it from a pipe."""
    new = people.build_person(name, right, _read_password())
    database = open_and_migrate_database(settings.database_path_or_url)
    with Session(database) as session, session.begin():
        people.add_person(session, new)
    record_action(database, f"admin create {name} {right}", right="admin")
    print_line(f"{name} can sign in with the right {right}")


def create_token(settings: Settings, owner_name: str, right: str, label: str, days: float) -> None:
    wanted = parse_right(right)
    database = open_and_migrate_database(settings.database_path_or_url)
    with Session(database) as session, session.begin():
        owner = people.find_person(session, owner_name)
        if owner is None or owner.disabled:
            raise BadInput(f"there is no person {owner_name}: create one with temper admin create {owner_name}.")
        if not has_right(parse_right(owner.right), wanted):
            raise BadInput(
                f"{owner_name} has the right {owner.right}: a token cannot have a higher right than its owner."
            )
        _, secret = issued_credentials.issue_token(session, person=owner_name, right=wanted, label=label, days=days)
    record_action(database, f"token create for {owner_name}, {right}, {days:g} days", right="admin")
    print(secret)  # noqa: T201  one line, for scripts


def list_people(settings: Settings, *, as_json: bool) -> None:
    nothing = "No people yet. Create one with temper admin create NAME."
    print_stored_rows(settings, _read_people, nothing, as_json=as_json)


def _read_people(session: Session) -> list[Row]:
    columns = ("person", "right", "disabled", "signs_in_by", "made_at")
    return [
        to_row(one, columns, person=one.name, signs_in_by="identity provider" if one.identity else "password")
        for one in people.list_people(session)
    ]


def list_tokens(settings: Settings, *, as_json: bool) -> None:
    nothing = "No tokens yet. Create one with temper token create NAME."
    print_stored_rows(settings, _read_tokens, nothing, as_json=as_json)


def _read_tokens(session: Session) -> list[Row]:
    now = database_time(session)
    columns = ("id", "kind", "person", "right", "label", "run", "expires_at", "used_at", "made_by")
    return [
        to_row(one, columns, run=one.run or None, made_by=one.made_by or None)
        for one in issued_credentials.list_credentials_not_ended_but_maybe_expired(session, ("token", "link"))
        if is_credential_valid(one, now)
    ]


def _read_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    first = getpass.getpass("Password: ")
    if first != getpass.getpass("Again: "):
        raise BadInput("the two passwords differ.")
    return first


def print_usage(settings: Settings, since: str, until: str, per: str, *, as_json: bool, csv: bool) -> None:
    query = parse_usage_query(since, until, per, None, time.time())
    database = open_existing_database(settings)
    with Session(database) as session:
        lines = compute_usage(session, EventStore(database), query)
    if csv:
        sys.stdout.write(format_usage_csv(lines))
    else:
        print_rows(lines, "No runs were ordered in this period.", as_json=as_json)
