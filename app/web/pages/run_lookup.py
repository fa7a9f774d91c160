"""Looks a run up for a page, and renders the page for a run that does not exist."""

from sqlmodel import Session
from starlette.responses import Response

from app.people.rights import get_visible_runs
from app.store import queries
from app.store.models import RunRow
from app.web.pages.templating import render_page


class RunNotFound(Exception):
    """Carries the page to answer with."""

    def __init__(self, page: Response) -> None:
        self.page = page


def require_run(session: Session, run: str) -> RunRow:
    """Return the run, or raise RunNotFound with a page that lists the newest runs."""
    row = queries.find_run(session, run)
    if row is None:
        raise RunNotFound(render_missing_run(session, run))
    return row


def render_missing_run(session: Session, run: str) -> Response:
    newest = queries.list_newest_runs(session, 5, only=get_visible_runs())
    return render_page("missing.html", here="", run=run, newest=newest, status=404)
