"""The waivers page, with the forms that create and end waivers."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from app.people.rights import get_name_to_record, operators, viewers
from app.runs.waiver_changes import WaiverSpec, create_waiver, end_waiver
from app.store import waivers
from app.store.database_clock import database_time
from app.store.host_groups import read_groups
from app.targets import host_registry
from app.targets.host_registry import FIXTURE
from app.web.deps import TheRuntime, TheSession, Words
from app.web.pages.form_field_readers import Fields
from app.web.pages.templating import render_page
from app.web.url_paths import path_to, redirect_back, redirect_to

router = APIRouter(include_in_schema=False)


@router.get("/waivers", name="waivers")
@viewers
def show_waivers(
    runtime: TheRuntime, session: TheSession, rule: Words = "", host: Words = "", skill: Words = "stig"
) -> Response:
    """List waivers. `rule`, `host` and `skill` prefill the form."""
    now = database_time(session)
    return render_page(
        "waivers.html",
        here="hosts",
        rows=[(row, row.state(now)) for row in waivers.list_waivers(session)],
        groups=read_groups(session),
        hosts=[FIXTURE, *(one.name for one in host_registry.list_hosts(runtime.settings.hosts_folder))],
        asked={"rule": rule, "host": host, "skill": skill},
    )


@router.post("/waivers", name="waivers")
@operators
def submit_waiver(session: TheSession, runtime: TheRuntime, fields: Fields) -> Response:
    words = {name: fields.get(name, "") for name in ("rule", "host", "group", "owner", "reason", "ticket", "until")}
    wish = WaiverSpec(**words, skill=fields.get("skill", "stig").strip(), by=get_name_to_record("the page"))
    create_waiver(session, wish, database_time(session), runtime.settings.hosts_folder)
    return redirect_to("waivers")


@router.post("/waivers/{waiver}", name="waiver")
@operators
def submit_waiver_end(
    request: Request, session: TheSession, waiver: str, reason: Annotated[str, Form()] = ""
) -> Response:
    end_waiver(session, waiver, database_time(session), by=get_name_to_record("the page"), why=reason)
    return redirect_back(request, ["inbox"], path_to("waivers"))
