"""Pages for admins: people, their credentials and the audit record."""

import time
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.responses import RedirectResponse, Response

from app.events.kinds import PersonDid
from app.events.record import GENESIS
from app.people.rights import RIGHTS, admins
from app.runs.usage import usage, usage_asked
from app.store import audit, people
from app.store.models import CredentialRow
from app.web.addresses import path_to
from app.web.deps import TheRuntime, TheSession
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered
from app.web.stream.cursor import MOST_SEQ

LINES = 100

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class DeedLine:
    seq: int
    at: float
    hash: str
    done: PersonDid


@router.get("/people", name="people")
@admins
def show_people(runtime: TheRuntime, session: TheSession) -> Response:
    nonce = new_nonce()
    context = {
        "people": people.people(session),
        "credentials": people.credentials(session, ("token", "link", "session")),
        "rights": RIGHTS,
        "usage": usage(session, runtime.store, usage_asked("", "", "month", None, time.time())),
        "now": time.time(),
    }
    return page(rendered("people.html", nonce=nonce, here="people", **context), nonce)


@router.post("/people", name="people")
@admins
def add(
    session: TheSession,
    name: Annotated[str, Form()],
    right: Annotated[str, Form()],
    password: Annotated[str, Form()],
) -> Response:
    people.add(session, people.new_person(name, right, password))
    return RedirectResponse(path_to("people"), status_code=303)


@router.post("/people/{name}/disable", name="people_disable")
@admins
def disable(session: TheSession, name: str) -> Response:
    people.disable(session, name)
    return RedirectResponse(path_to("people"), status_code=303)


@router.post("/people/credentials/{credential}/end", name="people_end")
@admins
def end(session: TheSession, credential: str) -> Response:
    if row := session.get(CredentialRow, credential):
        people.end(session, row)
    return RedirectResponse(path_to("people"), status_code=303)


@router.get("/audit", name="audit")
@admins
def show_audit(session: TheSession, before: Annotated[int | None, Query(ge=1, le=MOST_SEQ)] = None) -> Response:
    nonce = new_nonce()
    found = audit.newest(session, LINES, before)
    lines = [DeedLine(one.seq, one.at, one.hash, one.event) for one in found if isinstance(one.event, PersonDid)]
    head = audit.newest(session, 1)
    context = {"lines": lines, "head": head[0].hash if head else GENESIS, "more": len(found) == LINES}
    return page(rendered("audit.html", nonce=nonce, here="audit", **context), nonce)
