"""A run's summary as a page and as an SVG picture for sharing."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.people.rights import guests
from app.runtime.runtime import Runtime
from app.skills.catalog import load_skill
from app.store.models import RunRow
from app.web.deps import TheRuntime, TheSession
from app.web.pages.error_pages import require_run
from app.web.pages.mission.summary import read_summary
from app.web.pages.run_energy_table import build_energy_table
from app.web.pages.templating import render_page, render_template_to_text

PICTURE = {"content-security-policy": "default-src 'none'", "x-content-type-options": "nosniff"}

router = APIRouter(include_in_schema=False)


@router.get("/runs/{run}/summary", name="run_summary")
@guests
def show_summary(runtime: TheRuntime, session: TheSession, request: Request, run: str) -> Response:
    row = require_run(session, run)
    context = _build_summary_context(runtime, row) | {"table": build_energy_table(runtime, row), "shareable": False}
    return render_page("summary.html", here="runs", origin=str(request.base_url).rstrip("/"), **context)


@router.get("/runs/{run}/summary.svg", name="run_picture")
@guests
def show_summary_picture(runtime: TheRuntime, session: TheSession, run: str) -> Response:
    row = require_run(session, run)
    picture = render_template_to_text("summary.svg", **_build_summary_context(runtime, row))
    return Response(picture, media_type="image/svg+xml", headers=PICTURE)


def _build_summary_context(runtime: Runtime, row: RunRow) -> dict[str, Any]:
    found = read_summary(runtime.store, row.id)
    asked = found.state.request
    return {
        "summary": found,
        "simulated": row.simulated,
        "pace": asked.pace if asked else None,
        "skill": load_skill(row.skill),
        "at": row.ended_at or row.queued_at,
    }
