"""Starting a run from the form partials/_start_run_form.html, and the forecast of what that run would do."""

from collections.abc import Sequence

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session
from starlette.responses import Response

from app.people.rights import get_name_to_record, operators
from app.runs.name_and_tags import require_valid_name_and_tags, set_run_labels, split_at_commas_and_blanks
from app.runs.order import create_run_request
from app.runtime.runtime import Runtime
from app.store import run_queries
from app.targets.host_registry import is_fixture
from app.web.deps import TheRuntime
from app.web.pages.form_field_readers import Fields
from app.web.pages.order_form_parser import USUAL_MODE, parse_order_form
from app.web.pages.templating import render_page
from app.web.url_paths import redirect_to

FORM_PERSON = "operator on this page"
"""Who is recorded where nobody has to sign in."""
MODE_CHOICES = (
    (USUAL_MODE, "default: auto on the built-in host, review on others"),
    ("auto", "auto: makes changes at once"),
    ("review", "review: asks before each change"),
    ("dry-run", "dry-run: shows the diffs, changes nothing"),
    ("scan", "scan: scans, changes nothing"),
)

router = APIRouter(include_in_schema=False)


@router.post("/runs", name="runs")
@operators
async def submit_run_form(runtime: TheRuntime, fields: Fields) -> Response:
    order = parse_order_form(fields, by=get_name_to_record(FORM_PERSON), pace=runtime.settings.speed)
    name, tags = fields.get("name", ""), split_at_commas_and_blanks(fields.get("tags", ""))
    require_valid_name_and_tags(name, tags)
    request = await run_in_threadpool(create_run_request, order, runtime.lineup, runtime.settings.hosts_folder)
    run = await runtime.submit_run(request)
    if name or tags:
        await run_in_threadpool(_save_run_label, runtime, run, name, tags)
    return redirect_to("run", run=run)


@router.post("/plan", name="plan")
@operators
async def show_run_forecast(runtime: TheRuntime, fields: Fields) -> Response:
    """Scan the host of this order and show what the run would probably do. Nothing is changed."""
    order = parse_order_form(fields, by=get_name_to_record(FORM_PERSON), pace=runtime.settings.speed)
    event = await run_in_threadpool(create_run_request, order, runtime.lineup, runtime.settings.hosts_folder)
    found = await runtime.scan_and_forecast_fixes(event.host, event.skill, event.rules)
    simulated = is_fixture(event.host)
    return render_page("plan.html", here="runs", order=event, found=found, fields=fields, simulated=simulated)


def _save_run_label(runtime: Runtime, run: str, name: str, tags: Sequence[str]) -> None:
    with Session(runtime.database) as session, session.begin():
        if row := run_queries.find_run(session, run):
            set_run_labels(row, name, tags)
            session.add(row)
