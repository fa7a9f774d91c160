"""People and their credentials. A secret is shown once; only its digest is stored."""

import secrets
import time
from collections.abc import Collection, Sequence

from sqlmodel import Session, col, select

from app.errors import Rejected
from app.people.names import LONGEST, is_person_name
from app.people.passwords import LONGEST_PASSWORD, SHORTEST, create_secret, digest_secret, hash_password
from app.people.rights import RIGHTS
from app.store.clock import database_time
from app.store.models import CredentialRow, PersonRow


def find_person(session: Session, name: str) -> PersonRow | None:
    return session.get(PersonRow, name)


def list_people(session: Session) -> Sequence[PersonRow]:
    return session.exec(select(PersonRow).order_by(col(PersonRow.name))).all()


def build_person(name: str, right: str, password: str) -> PersonRow:
    if not is_person_name(name):
        why = (
            f"{name[:80]!a} is not a valid name: use letters and digits and, after the first, ._@-, "
            f"at most {LONGEST} characters."
        )
        raise Rejected("name", why)
    if right not in RIGHTS:
        raise Rejected("right", f"{right[:40]!a} is not a right: choose one of {', '.join(RIGHTS)}.")
    if not SHORTEST <= len(password) <= LONGEST_PASSWORD:
        raise Rejected("password", f"a password must have {SHORTEST} to {LONGEST_PASSWORD} characters.")
    return PersonRow(name=name, right=right, password=hash_password(password), made_at=time.time())


def add_person(session: Session, new: PersonRow) -> None:
    if find_person(session, new.name):
        raise Rejected("name", f"the name {new.name} is already in use: choose another name.", "exists")
    session.add(new)


def disable_person(session: Session, name: str) -> None:
    """Disable a person and end their credentials. The name stays reserved, as the audit log refers to it."""
    row = find_person(session, name)
    if row is None:
        raise Rejected("name", f"there is no person called {name[:40]!a}.", "not-found")
    if row.right == "admin" and not row.disabled and count_admins(session) == 1:
        raise Rejected("name", f"{row.name} is the only admin: create another admin first.", "wrong-state")
    row.disabled = True
    session.add(row)
    end_credentials_of(session, name)


def count_admins(session: Session) -> int:
    return sum(one.right == "admin" and not one.disabled for one in list_people(session))


def issue_credential(
    session: Session,
    *,
    person: str,
    right: str,
    kind: str,
    label: str,
    seconds: float,
    run: str = "",
    source: str = "",
    made_by: Sequence[str] = (),
) -> tuple[CredentialRow, str]:
    """Issue a credential. `made_by`: who made it, from the first person of the chain to the one who asks for it."""
    secret, now = create_secret(), database_time(session)
    row = CredentialRow(
        id=secrets.token_hex(4),
        person=person,
        right=right,
        kind=kind,
        label=label,
        digest=digest_secret(secret),
        made_at=now,
        expires_at=now + seconds,
        run=run,
        source=source,
        made_by="" if set(made_by) == {person} else " ".join(made_by),
    )
    session.add(row)
    return row, secret


def issue_link(
    session: Session, person: str, run: str, hours: float, made_by: Sequence[str] = ()
) -> tuple[CredentialRow, str]:
    """Issue a link that shows one run and nothing else."""
    return issue_credential(
        session,
        person=person,
        right="viewer",
        kind="link",
        label=f"/runs/{run}",
        run=run,
        seconds=hours * 3600,
        made_by=made_by,
    )


def find_credential(session: Session, secret: str) -> CredentialRow | None:
    return session.exec(select(CredentialRow).where(CredentialRow.digest == digest_secret(secret))).first()


def find_browser_id(session: Session, name: str, secret: str, now: float) -> str:
    """Return the id of this person's browser cookie; empty if it is unknown or expired."""
    row = find_credential(session, secret) if secret else None
    held = row is not None and row.kind == "browser" and row.person == name
    return row.id if row and held and row.ended_at is None and row.expires_at > now else ""


def has_signed_in_from(session: Session, name: str, source: str, since: float) -> bool:
    """Return whether this person signed in from this address since then."""
    there = select(CredentialRow.id).where(
        CredentialRow.person == name,
        CredentialRow.kind == "session",
        CredentialRow.source == source,
        col(CredentialRow.made_at) > since,
    )
    return session.exec(there.limit(1)).first() is not None


def list_credentials_with_owners(session: Session, ids: Collection[str]) -> Sequence[tuple[CredentialRow, PersonRow]]:
    """Return credentials with their owners, in one query."""
    both = select(CredentialRow, PersonRow).join(PersonRow, col(PersonRow.name) == col(CredentialRow.person))
    return session.exec(both.where(col(CredentialRow.id).in_(ids))).all()


def list_credentials(session: Session, kinds: Sequence[str]) -> Sequence[CredentialRow]:
    wanted = select(CredentialRow).where(col(CredentialRow.kind).in_(kinds), col(CredentialRow.ended_at).is_(None))
    return session.exec(wanted.order_by(col(CredentialRow.made_at))).all()


def list_token_labels(session: Session) -> dict[str, str]:
    """Return the labels of API tokens by id, ended ones included."""
    rows = session.exec(select(CredentialRow).where(CredentialRow.kind == "token")).all()
    return {row.id: row.label for row in rows}


def end_credential(session: Session, row: CredentialRow) -> None:
    row.ended_at = database_time(session)
    session.add(row)


def end_credentials_of(session: Session, name: str) -> None:
    for row in session.exec(select(CredentialRow).where(CredentialRow.person == name)).all():
        end_credential(session, row)
