"""Forms that name and tag a run and create a link to share it."""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from app.errors import NotTaken
from app.people.rights import WHO, operators
from app.runs.labels import label, split
from app.store import people
from app.web.addresses import path_to
from app.web.deps import TheSession
from app.web.pages.missing import known
from app.web.pages.order_form import Fields
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

HOURS = {"1": 1.0, "24": 24.0, "168": 168.0}

router = APIRouter(include_in_schema=False)


@router.post("/runs/{run}/label", name="run_label")
@operators
def label_run(session: TheSession, run: str, fields: Fields) -> Response:
    row = known(session, run)
    label(row, fields.get("name"), split(fields["tags"]) if "tags" in fields else None)
    session.add(row)
    return RedirectResponse(path_to("run", run=run), status_code=303)


@router.post("/runs/{run}/share", name="run_share")
@operators
def share_run(session: TheSession, request: Request, run: str, fields: Fields) -> Response:
    """Create a share link and show it. Only its digest is stored, so it cannot be shown again."""
    row, me = known(session, run), WHO.get()
    hours = HOURS.get(fields.get("hours", "24"))
    if hours is None:
        raise NotTaken("hours", f"a link holds for {', '.join(HOURS)} hours: choose one of them.")
    if me is None or people.person(session, me.name) is None:
        said = "the demo operator has no links: make a person with temper admin create, and start with --sign-in."
        raise NotTaken("person", said)
    made, secret = people.link(session, me.name, row.id, hours)
    link = f"{str(request.base_url).rstrip('/')}{path_to('share', secret=secret)}"
    nonce = new_nonce()
    context = {"run": row, "link": link, "until": made.expires_at}
    return page(rendered("shared.html", nonce=nonce, here="runs", **context), nonce)
