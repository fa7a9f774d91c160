"""The hosts that can be hardened, and how each stands."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from app.people.rights import viewers
from app.store import queries, schedules
from app.store.groups import groups
from app.store.models import RunRow
from app.targets import consent, registry
from app.targets.catalog import FIXTURE
from app.targets.registry import RegisteredHost
from app.web.deps import TheRuntime, TheSession
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class HostCard:
    host: RegisteredHost
    newest: RunRow | None
    open_changes: tuple[str, ...]
    """As our own journals have it; the host is not asked for a page."""

    @property
    def words(self) -> str:
        """Of consent, where it could not be rolled back."""
        return consent.sentence(self.host.name)


@router.get("/hosts")
@viewers
def hosts(runtime: TheRuntime, session: TheSession) -> Response:
    nonce, folder = new_nonce(), runtime.settings.hosts
    cards = [
        HostCard(one, queries.newest_run(session, one.name), tuple(registry.pending(folder, one.name)))
        for one in registry.listed(folder)
    ]
    newest = queries.newest_run(session, FIXTURE)
    context = {
        "newest": newest,
        "folder": folder / FIXTURE,
        "cards": cards,
        "groups": groups(session),
        "schedules": schedules.schedules(session),
    }
    return page(rendered("hosts.html", nonce=nonce, here="/hosts", **context), nonce)
