"""The list of registered hosts with the newest run of each, and the form that adds one."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from app.errors import EnvironmentUnusable, Rejected
from app.people.rights import WHO, admins, viewers
from app.runs.host_registration import HostSpec, fetch_host_key, register_host
from app.store import queries, schedules
from app.store.host_groups import read_groups
from app.store.models import RunRow
from app.targets import consent, host_registry
from app.targets.host_registry import FIXTURE, RegisteredHost
from app.web.deps import TheRuntime, TheSession
from app.web.pages.order_form import Fields
from app.web.pages.security import create_page, new_nonce
from app.web.pages.templating import render_template

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class HostCard:
    host: RegisteredHost
    newest: RunRow | None
    open_changes: tuple[str, ...]
    """Taken from our own journals: loading a page does not contact the host."""

    @property
    def consent_sentence(self) -> str:
        """The sentence that a person types to allow changes that cannot be rolled back."""
        return consent.build_consent_sentence(self.host.name)


@router.get("/hosts", name="hosts")
@viewers
def show_hosts(runtime: TheRuntime, session: TheSession) -> Response:
    nonce, folder = new_nonce(), runtime.settings.hosts_folder
    cards = [
        HostCard(
            one, queries.find_newest_run(session, one.name), tuple(host_registry.list_pending_changes(folder, one.name))
        )
        for one in host_registry.list_hosts(folder)
    ]
    newest = queries.find_newest_run(session, FIXTURE)
    context = {
        "newest": newest,
        "folder": folder / FIXTURE,
        "cards": cards,
        "groups": read_groups(session),
        "schedules": schedules.list_schedules(session),
        "may_add": (person := WHO.get()) is not None and person.right == "admin",
    }
    return create_page(render_template("hosts.html", nonce=nonce, here="hosts", **context), nonce)


@router.post("/hosts", name="hosts")
@admins
def submit_host(runtime: TheRuntime, fields: Fields) -> Response:
    """Show the host key first; once the person has accepted it, try a login, check sudo and add the host."""
    words = {name: fields.get(name, "").strip() for name in ("name", "place", "way", "secret_at", "accept_key")}
    wish, folder, nonce = HostSpec(**words), runtime.settings.hosts_folder, new_nonce()
    try:
        met = fetch_host_key(wish, folder)
        added = register_host(wish, met, folder) if wish.accept_key == met.key.fingerprint else None
    except EnvironmentUnusable as exc:
        raise Rejected("secret_at", str(exc), "unavailable") from exc
    if added:
        runtime.publish_host(wish.name)
    context = {"wish": words, "met": met, "added": added, "words": consent.build_consent_sentence(wish.name)}
    return create_page(render_template("new_host.html", nonce=nonce, here="hosts", **context), nonce)
