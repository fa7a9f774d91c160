"""Credentials: API tokens, sign-in sessions, browser cookies and links. Only the digest of a secret is stored."""

import secrets
from collections.abc import Collection, Sequence

from sqlmodel import Session, col, select

from app.people.credential_expiry import is_credential_valid
from app.people.passwords import create_secret, digest_random_secret_unsalted
from app.store.database_clock import database_time
from app.store.models import CredentialRow, PersonRow

_DAY = 24 * 3600.0


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
        digest=digest_random_secret_unsalted(secret),
        made_at=now,
        expires_at=now + seconds,
        run=run,
        source=source,
        made_by="" if set(made_by) == {person} else " ".join(made_by),
    )
    session.add(row)
    return row, secret


def issue_token(
    session: Session, *, person: str, right: str, label: str, days: float, made_by: Sequence[str] = ()
) -> tuple[CredentialRow, str]:
    return issue_credential(
        session, person=person, right=right, kind="token", label=label, seconds=days * _DAY, made_by=made_by
    )


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


def find_credential_even_if_invalid(session: Session, secret: str) -> CredentialRow | None:
    return session.exec(
        select(CredentialRow).where(CredentialRow.digest == digest_random_secret_unsalted(secret))
    ).first()


def find_valid_browser_cookie_id(session: Session, name: str, cookie_secret: str, now: float) -> str:
    """Return the id of this person's browser cookie; empty if it is unknown or expired."""
    row = find_credential_even_if_invalid(session, cookie_secret) if cookie_secret else None
    held = row is not None and row.kind == "browser" and row.person == name
    return row.id if row and held and is_credential_valid(row, now) else ""


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


def list_credentials_not_ended_but_maybe_expired(session: Session, kinds: Sequence[str]) -> Sequence[CredentialRow]:
    wanted = select(CredentialRow).where(col(CredentialRow.kind).in_(kinds), col(CredentialRow.ended_at).is_(None))
    return session.exec(wanted.order_by(col(CredentialRow.made_at))).all()


def list_token_labels(session: Session) -> dict[str, str]:
    """Return the labels of API tokens by id, ended ones included."""
    rows = session.exec(select(CredentialRow).where(CredentialRow.kind == "token")).all()
    return {row.id: row.label for row in rows}


def end_credential(session: Session, row: CredentialRow) -> None:
    row.ended_at = row.ended_at or database_time(session)


def end_credentials_of(session: Session, name: str) -> None:
    for row in session.exec(select(CredentialRow).where(CredentialRow.person == name)).all():
        end_credential(session, row)
