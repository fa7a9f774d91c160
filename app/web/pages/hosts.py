"""The list of registered hosts with the newest run of each, and the form that adds one."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from app.errors import NotTaken, Unusable
from app.people.rights import WHO, admins, viewers
from app.runs.introduce import HostWish, add_met, meet
from app.store import queries, schedules
from app.store.groups import groups
from app.store.models import RunRow
from app.targets import consent, registry
from app.targets.catalog import FIXTURE
from app.targets.registry import RegisteredHost
from app.web.deps import TheRuntime, TheSession
from app.web.pages.order_form import Fields
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class HostCard:
    host: RegisteredHost
    newest: RunRow | None
    open_changes: tuple[str, ...]
    """Taken from our own journals: loading a page does not contact the host."""

    @property
    def words(self) -> str:
        """The sentence that a person types to allow changes that cannot be rolled back."""
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
        "may_add": (person := WHO.get()) is not None and person.right == "admin",
    }
    return page(rendered("hosts.html", nonce=nonce, here="hosts", **context), nonce)


@router.post("/hosts", name="hosts")
@admins
def add_host(runtime: TheRuntime, fields: Fields) -> Response:
    """Show the host key first; once the person has accepted it, try a login, check sudo and add the host."""
    words = {name: fields.get(name, "").strip() for name in ("name", "place", "way", "secret_at", "accept_key")}
    wish, folder, nonce = HostWish(**words), runtime.settings.hosts, new_nonce()
    try:
        met = meet(wish, folder)
        added = add_met(wish, met, folder) if wish.accept_key == met.key.fingerprint else None
    except Unusable as exc:
        raise NotTaken("secret_at", str(exc), "unavailable") from exc
    if added:
        runtime.told_of(wish.name)
    context = {"wish": words, "met": met, "added": added, "words": consent.sentence(wish.name)}
    return page(rendered("new_host.html", nonce=nonce, here="hosts", **context), nonce)
