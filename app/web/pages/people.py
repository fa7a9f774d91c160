"""Pages for admins: people, their credentials and the audit record."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.responses import Response

from app.events.kinds import AuditedRequest
from app.events.record import GENESIS
from app.people.rights import RIGHTS, admins
from app.runs.usage_by_person import compute_usage, parse_usage_query
from app.store import audit, issued_credentials, people
from app.store.models import CredentialRow
from app.web.deps import TheRuntime, TheSession
from app.web.pages.templating import render_page
from app.web.stream.resume_position import MOST_SEQ
from app.web.url_paths import redirect_to

LINES = 100

router = APIRouter(include_in_schema=False)


@router.get("/people", name="people")
@admins
def show_people(runtime: TheRuntime, session: TheSession) -> Response:
    return render_page(
        "people.html",
        here="people",
        people=people.list_people(session),
        credentials=issued_credentials.list_credentials_not_ended_but_maybe_expired(
            session, ("token", "link", "session")
        ),
        rights=RIGHTS,
        usage=compute_usage(session, runtime.store, parse_usage_query("", "", "month", None, runtime.clock.now())),
        now=runtime.clock.now(),
    )


@router.post("/people", name="people")
@admins
def submit_new_person(
    session: TheSession, name: Annotated[str, Form()], right: Annotated[str, Form()], password: Annotated[str, Form()]
) -> Response:
    people.add_person(session, people.build_person(name, right, password))
    return redirect_to("people")


@router.post("/people/{name}/disable", name="people_disable")
@admins
def submit_person_disable(session: TheSession, name: str) -> Response:
    people.disable_person(session, name)
    return redirect_to("people")


@router.post("/people/credentials/{credential}/end", name="people_end")
@admins
def submit_credential_end(session: TheSession, credential: str) -> Response:
    if row := session.get(CredentialRow, credential):
        issued_credentials.end_credential(session, row)
    return redirect_to("people")


@router.get("/audit", name="audit")
@admins
def show_audit(session: TheSession, before: Annotated[int | None, Query(ge=1, le=MOST_SEQ)] = None) -> Response:
    found = audit.list_audit_events(session, LINES, before)
    lines = [one for one in found if isinstance(one.event, AuditedRequest)]
    head = audit.list_audit_events(session, 1)
    more = bool(lines) and lines[-1].seq > 1
    return render_page("audit.html", here="audit", lines=lines, head=head[0].hash if head else GENESIS, more=more)
