"""The hosts that can be hardened, and how each stands."""

from fastapi import APIRouter
from starlette.responses import Response

from app.deps import TheSession, TheWorker
from app.pages.security import new_nonce, page
from app.pages.templating import rendered
from app.store import queries
from app.targets.catalog import FIXTURE

router = APIRouter(include_in_schema=False)


@router.get("/hosts")
def hosts(worker: TheWorker, session: TheSession) -> Response:
    nonce = new_nonce()
    newest = queries.newest_run(session, FIXTURE)
    return page(
        rendered("hosts.html", nonce=nonce, here="/hosts", newest=newest, folder=worker.settings.hosts / FIXTURE), nonce
    )
