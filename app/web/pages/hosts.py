"""The page of registered hosts with the newest run of each, and its forms that add hosts and schedules."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import Response

from app.background.schedules import schedule_editing
from app.background.schedules.schedule_start_grace_and_time_limit import parse_window_minutes
from app.errors import EnvironmentUnusable, Rejected
from app.people.rights import WHO, admins, get_name_to_record, operators, viewers
from app.runs.host_registration import HostSpec, fetch_host_key_for_candidate, register_host
from app.runs.rollout.named_host_groups_and_selection import select_hosts
from app.store import run_queries, schedules
from app.store.database_clock import database_time
from app.store.host_groups import read_groups
from app.store.models import RunRow
from app.targets import host_registry, no_rollback_consent
from app.targets.host_registry import FIXTURE, RegisteredHost
from app.web.deps import TheRuntime, TheSession
from app.web.pages.form_field_readers import Fields
from app.web.pages.order_form_parser import parse_order_form, parse_terms_form
from app.web.pages.templating import render_page
from app.web.url_paths import redirect_to

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class HostCard:
    host: RegisteredHost
    newest: RunRow | None
    open_changes: tuple[str, ...]
    """Taken from our own journals: loading a page does not contact the host."""

    @property
    def consent_sentence_to_type(self) -> str:
        """The sentence that a person types to allow changes that cannot be rolled back."""
        return no_rollback_consent.build_consent_sentence(self.host.name)


@router.get("/hosts", name="hosts")
@viewers
def show_hosts(runtime: TheRuntime, session: TheSession) -> Response:
    folder = runtime.settings.hosts_folder
    cards = []
    for one in host_registry.list_hosts(folder):
        pending = tuple(host_registry.list_pending_changes(folder, one.name))
        cards.append(HostCard(one, run_queries.find_newest_run(session, one.name), pending))
    return render_page(
        "hosts.html",
        here="hosts",
        newest=run_queries.find_newest_run(session, FIXTURE),
        folder=folder / FIXTURE,
        cards=cards,
        groups=read_groups(session),
        schedules=schedules.list_schedules(session),
        may_add=(person := WHO.get()) is not None and person.right == "admin",
    )


@router.post("/hosts", name="hosts")
@admins
def show_key_or_add_host(runtime: TheRuntime, fields: Fields) -> Response:
    """Show the host key first; once the person has accepted it, try a login, check sudo and add the host."""
    words = {name: fields.get(name, "").strip() for name in ("name", "place", "way", "secret_at", "accept_key")}
    wish, folder = HostSpec(**words), runtime.settings.hosts_folder
    try:
        met = fetch_host_key_for_candidate(wish, folder)
        added = register_host(wish, met, folder) if wish.accept_key == met.key.fingerprint else None
    except EnvironmentUnusable as exc:
        raise Rejected("secret_at", str(exc), "unavailable") from exc
    if added:
        runtime.store_host_registration(wish.name)
    return render_page(
        "new_host.html",
        here="hosts",
        wish=words,
        met=met,
        added=added,
        words=no_rollback_consent.build_consent_sentence(wish.name),
    )


@router.post("/schedules", name="schedules")
@operators
def submit_schedule(session: TheSession, runtime: TheRuntime, fields: Fields) -> Response:
    words = fields.get("hosts", "").strip()
    hosts = select_hosts(words, runtime.settings.hosts_folder, read_groups(session)) if words else ()
    wanted = schedule_editing.ScheduleSpec(
        order=parse_order_form(fields, by=get_name_to_record("the page"), default_mode="scan"),
        hosts=hosts,
        words=words,
        terms=parse_terms_form(fields),
        cron=fields.get("cron", ""),
        zone=fields.get("zone", "UTC"),
        window_minutes=parse_window_minutes(fields.get("window", "")),
    )
    row = schedule_editing.create_schedule_row(wanted, database_time(session), runtime.settings.hosts_folder)
    schedule_editing.insert_schedule_unless_duplicate_or_full(session, row)
    return redirect_to("hosts")


@router.post("/schedules/{schedule}", name="schedule")
@operators
def submit_schedule_command(session: TheSession, schedule: str, verb: Annotated[str, Form()]) -> Response:
    schedule_editing.pause_resume_or_remove_schedule(session, schedule, verb, database_time(session))
    return redirect_to("hosts")
