"""Looks a run up for a page, and renders the page for a run that does not exist."""

from sqlmodel import Session
from starlette.responses import Response

from app.people.rights import only
from app.store import queries
from app.store.models import RunRow
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered


class NoSuchRun(Exception):
    """Carries the page to answer with."""

    def __init__(self, page: Response) -> None:
        self.page = page


def known(session: Session, run: str) -> RunRow:
    """Return the run, or raise RunNotFound with a page that lists the newest runs."""
    row = queries.run(session, run)
    if row is None:
        raise NoSuchRun(missing(session, run))
    return row


def missing(session: Session, run: str) -> Response:
    nonce = new_nonce()
    newest = queries.newest(session, 5, only=only())
    return page(rendered("missing.html", nonce=nonce, here="", run=run, newest=newest), nonce, 404)
