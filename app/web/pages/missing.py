"""The page for a run that is not there: what there is instead."""

from sqlmodel import Session
from starlette.responses import Response

from app.people.rights import only
from app.store import queries
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered


def missing(session: Session, run: str) -> Response:
    nonce = new_nonce()
    newest = queries.newest(session, 5, only=only())
    return page(rendered("missing.html", nonce=nonce, here="", run=run, newest=newest), nonce, 404)
