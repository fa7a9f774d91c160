"""Forms that name and tag a run and create a link to share it."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.errors import Rejected
from app.people.rights import WHO, operators
from app.runs.labels import set_run_labels, split_tags
from app.store import people
from app.web.addresses import path_to, redirect_to
from app.web.deps import TheSession
from app.web.pages.error_pages import require_run
from app.web.pages.order_form import Fields
from app.web.pages.templating import render_page

HOURS = {"1": 1.0, "24": 24.0, "168": 168.0}

router = APIRouter(include_in_schema=False)


@router.post("/runs/{run}/label", name="run_label")
@operators
def submit_run_label(session: TheSession, run: str, fields: Fields) -> Response:
    row = require_run(session, run)
    set_run_labels(row, fields.get("name"), split_tags(fields["tags"]) if "tags" in fields else None)
    session.add(row)
    return redirect_to("run", run=run)


@router.post("/runs/{run}/share", name="run_share")
@operators
def submit_run_share(session: TheSession, request: Request, run: str, fields: Fields) -> Response:
    """Create a share link and show it. Only its digest is stored, so it cannot be shown again."""
    row, me = require_run(session, run), WHO.get()
    hours = HOURS.get(fields.get("hours", "24"))
    if hours is None:
        raise Rejected("hours", f"a link holds for {', '.join(HOURS)} hours: choose one of them.")
    if me is None or people.find_person(session, me.name) is None:
        said = "the demo operator cannot create links: run temper admin create, then start Temper with --sign-in."
        raise Rejected("person", said)
    made, secret = people.issue_link(session, me.name, row.id, hours)
    link = f"{str(request.base_url).rstrip('/')}{path_to('share', secret=secret)}"
    context = {"run": row, "link": link, "until": made.expires_at}
    return render_page("shared.html", here="runs", **context)
