"""People: who may sign in, and with which right."""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from app.errors import Rejected
from app.people.names import LONGEST, is_person_name
from app.people.passwords import LONGEST_PASSWORD, SHORTEST, hash_password
from app.people.rights import RIGHTS
from app.store.database_clock import database_time
from app.store.issued_credentials import end_credentials_of
from app.store.models import PersonRow


def find_person(session: Session, name: str) -> PersonRow | None:
    return session.get(PersonRow, name)


def list_people(session: Session) -> Sequence[PersonRow]:
    return session.exec(select(PersonRow).order_by(col(PersonRow.name))).all()


def build_person(name: str, right: str, password: str) -> PersonRow:
    if not is_person_name(name):
        allowed = f"letters and digits and, after the first, ._@-, at most {LONGEST} characters"
        raise Rejected("name", f"{name[:80]!a} is not a valid name: use {allowed}.")
    if right not in RIGHTS:
        raise Rejected("right", f"{right[:40]!a} is not a right: choose one of {', '.join(RIGHTS)}.")
    if not SHORTEST <= len(password) <= LONGEST_PASSWORD:
        raise Rejected("password", f"a password must have {SHORTEST} to {LONGEST_PASSWORD} characters.")
    return PersonRow(name=name, right=right, password=hash_password(password), made_at=0.0)


def add_person(session: Session, new: PersonRow) -> None:
    if find_person(session, new.name):
        raise Rejected("name", f"the name {new.name} is already in use: choose another name.", "exists")
    new.made_at = database_time(session)
    session.add(new)


def disable_person(session: Session, name: str) -> None:
    """Disable a person and end their credentials. The name stays reserved, as the audit log refers to it."""
    row = find_person(session, name)
    if row is None:
        raise Rejected("name", f"there is no person called {name[:40]!a}.", "not-found")
    if row.right == "admin" and not row.disabled and count_enabled_admins(session) == 1:
        raise Rejected("name", f"{row.name} is the only admin: create another admin first.", "wrong-state")
    row.disabled = True
    end_credentials_of(session, name)


def count_enabled_admins(session: Session) -> int:
    """Until the transaction ends, nobody else can disable one of those that are counted."""
    enabled = select(PersonRow).where(PersonRow.right == "admin", col(PersonRow.disabled).is_(False))
    return len(session.exec(enabled.order_by(col(PersonRow.name)).with_for_update()).all())
