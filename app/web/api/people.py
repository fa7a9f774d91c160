"""The current person; people, tokens and links; and the audit record."""

from typing import Annotated

import msgspec
from fastapi import Path, Query
from pydantic import Field
from sqlmodel import Session

from app.events.record import GENESIS
from app.people.credential_expiry import DEFAULT_LINK_HOURS, DEFAULT_TOKEN_DAYS, LONGEST_LINK_HOURS, LONGEST_TOKEN_DAYS
from app.people.names import LONGEST, NAME
from app.people.passwords import LONGEST_PASSWORD, SHORTEST
from app.people.rights import (
    DEMO,
    RIGHTS,
    WHO,
    Right,
    Via,
    admins,
    build_creator_chain_for_new_credential,
    guests,
    has_right,
    operators,
    parse_right,
)
from app.store import audit, issued_credentials, people, run_queries
from app.store.models import CredentialRow, PersonRow
from app.web.api.api_model import ApiModel, Limit, Line, Raw, Time, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import PLACEHOLDERS, declare_example
from app.web.api.problem import BODY_PROBLEMS, Problem, build_problem_responses
from app.web.api.runs import require_run_row
from app.web.deps import TheSession
from app.web.stream.resume_position import MOST_SEQ
from app.web.url_paths import path_to

router = api_router("people")

Name = Annotated[str, Field(min_length=1, max_length=LONGEST, pattern=f"^{NAME}$")]


class Me(ApiModel):
    name: str
    right: Right
    via: Via


class PersonView(ApiModel):
    name: str
    right: Right
    disabled: bool
    made_at: Time


class PersonList(ApiModel):
    people: list[PersonView]


class NewPerson(ApiModel):
    name: str = declare_field_with_unchecked_bounds(minLength=1, maxLength=LONGEST, pattern=f"^{NAME}$")
    right: str = declare_field_with_unchecked_bounds(enum=list(RIGHTS))
    password: str = declare_field_with_unchecked_bounds(minLength=SHORTEST, maxLength=LONGEST_PASSWORD)


class TokenView(ApiModel):
    id: str
    person: str
    right: Right
    label: str
    made_at: Time
    expires_at: Time
    used_at: Time | None
    made_by: str = Field(
        default="",
        description="Who made it for somebody else, names with a space between them, the first one first. An approval "
        "with it counts for these people, too. Empty if its owner or the terminal made it; `?` if unknown.",
    )


class TokenList(ApiModel):
    tokens: list[TokenView]


class NewToken(ApiModel):
    label: Line
    right: Right = "viewer"
    days: float = Field(default=DEFAULT_TOKEN_DAYS, gt=0, le=LONGEST_TOKEN_DAYS)
    person: Name | None = Field(default=None, description="Owner of the token. Default: you.")


class MadeToken(TokenView):
    secret: str = Field(description="The secret. It is shown only once; Temper stores its digest.")


class NewLink(ApiModel):
    run: str | None = Field(
        default=None,
        max_length=64,
        description="Run that the link shows. Default: the run that the mission page shows now.",
    )
    hours: float = Field(default=DEFAULT_LINK_HOURS, gt=0, le=LONGEST_LINK_HOURS)


class MadeLink(ApiModel):
    id: str
    path: str = Field(description="The link gives read access until it expires.")
    expires_at: Time


class AuditList(ApiModel):
    head: str = Field(description="Hash of the newest line. Record it elsewhere to detect a truncated log.")
    lines: list[Raw]
    next: int | None = Field(description="`before` of the next page with older lines; None at the first line.")


@router.get("/me", responses=build_problem_responses())
@guests
def who_am_i() -> Me:
    """Show who you are, and with which right."""
    return Me.from_source(WHO.get() or DEMO)


@router.get("/people", responses=build_problem_responses())
@admins
def list_people(session: TheSession) -> PersonList:
    """List the people who can sign in."""
    return PersonList(people=[PersonView.from_source(row) for row in people.list_people(session)])


@router.post("/people", status_code=201, responses=build_problem_responses("exists", *BODY_PROBLEMS))
@admins
@declare_example({"name": "ada", "right": "operator", "password": "correct horse battery staple"})
def add_person(new: NewPerson, session: TheSession) -> PersonView:
    """Add a person, who can sign in with the password."""
    row = people.build_person(new.name, new.right, new.password)
    people.add_person(session, row)
    return PersonView.from_source(row)


@router.delete("/people/{name}", status_code=204, responses=build_problem_responses("not-found", "wrong-state"))
@admins
def disable_person(name: Annotated[str, Path(max_length=64)], session: TheSession) -> None:
    """Disable a person. Their actions stay on record, and nobody else can take the name."""
    people.disable_person(session, name)


@router.get("/tokens", responses=build_problem_responses())
@admins
def list_tokens(session: TheSession) -> TokenList:
    """List tokens and links, without their secrets."""
    rows = issued_credentials.list_credentials_not_ended_but_maybe_expired(session, ("token", "link"))
    return TokenList(tokens=[TokenView.from_source(row) for row in rows])


@router.post("/tokens", status_code=201, responses=build_problem_responses("not-found", "wrong-state", *BODY_PROBLEMS))
@admins
@declare_example({"label": "pipeline", "person": "ada", "right": "operator", "days": 90})
def make_token(new: NewToken, session: TheSession) -> MadeToken:
    """Create a token. Its secret is shown only in this answer."""
    owner = _require_enabled_person_or_caller(session, new.person)
    if not has_right(parse_right(owner.right), new.right):
        said = f"{owner.name} has the right {owner.right}. A token cannot have a higher right than its owner."
        raise Problem("invalid", said, field="right")
    makers = build_creator_chain_for_new_credential()
    row, secret = issued_credentials.issue_token(
        session, person=owner.name, right=new.right, label=new.label, days=new.days, made_by=makers
    )
    return MadeToken.from_source(row, secret=secret)


@router.delete("/tokens/{token}", status_code=204, responses=build_problem_responses("not-found"))
@admins
def end_token(token: Annotated[str, Path(max_length=64)], session: TheSession) -> None:
    """End a token or a link at once."""
    row = session.get(CredentialRow, token)
    if row is None or row.kind in ("session", "browser"):
        raise Problem("not-found", f"There is no token {token[:40]!a}.", field="token")
    issued_credentials.end_credential(session, row)


@router.post("/links", status_code=201, responses=build_problem_responses("not-found", "wrong-state", *BODY_PROBLEMS))
@operators
@declare_example({"run": PLACEHOLDERS["run"], "hours": 24})
def make_link(new: NewLink, session: TheSession) -> MadeLink:
    """Create a link that shows one run, read-only, until it expires."""
    run = _choose_run(session, new.run)
    owner = _require_enabled_person_or_caller(session, None)
    row, secret = issued_credentials.issue_link(
        session, owner.name, run, new.hours, build_creator_chain_for_new_credential()
    )
    return MadeLink.from_source(row, path=path_to("share", secret=secret))


@router.get("/audit", responses=build_problem_responses())
@admins
@declare_example(query={"limit": "2"})
def list_audit(
    session: TheSession,
    before: Annotated[int | None, Query(ge=1, le=MOST_SEQ, description="Only lines older than this seq.")] = None,
    limit: Limit = 50,
) -> AuditList:
    """List who did what from where, newest first."""
    lines = audit.list_audit_events(session, limit, before)
    head = audit.list_audit_events(session, 1)
    older = lines[-1].seq if lines and lines[-1].seq > 1 else None
    return AuditList(
        head=head[0].hash if head else GENESIS, lines=[msgspec.json.decode(one.line) for one in lines], next=older
    )


def _choose_run(session: Session, run: str | None) -> str:
    if run is not None:
        return require_run_row(session, run).id
    shown = [*run_queries.list_unended_runs(session), *run_queries.list_newest_runs(session, 1)]
    if not shown:
        raise Problem("wrong-state", "There is no run to share yet. Start one first.", field="run")
    return shown[0].id


def _require_enabled_person_or_caller(session: Session, name: str | None) -> PersonRow:
    me = WHO.get() or DEMO
    row = people.find_person(session, name or me.name)
    if row is None:
        said = "The demo operator cannot have tokens or links. Create a person, and start Temper with --sign-in."
        said = f"There is no {name!a}." if name else said
        raise Problem("not-found", said, field="person")
    if row.disabled:
        raise Problem("wrong-state", f"{row.name} is disabled and cannot get new tokens or links.", field="person")
    return row
