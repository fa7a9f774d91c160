"""The mission page of a live, ended or replayed run, and its forms."""

from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Cookie, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session
from sse_starlette import EventSourceResponse
from starlette.responses import HTMLResponse, Response

from app.errors import Rejected
from app.people import rights
from app.runs.approval_answer import DECISIONS, AnswerMeans, record_answer
from app.runs.commands_to_runs import command_run
from app.runs.name_and_tags import set_run_labels, split_at_commas_and_blanks
from app.runtime.runtime import Runtime
from app.skills.catalog import load_skill
from app.store import issued_credentials, run_queries
from app.store.models import RunRow
from app.web.deps import TheFolds, TheRuntime, TheSession, TheSessionForNow, TheStreams
from app.web.pages.changes_since_visit import LastLook, TheLastLook, TheLookReader
from app.web.pages.engine_meters_and_gpu_cards import render_engine_meters_and_users
from app.web.pages.error_pages import require_run
from app.web.pages.form_field_readers import Fields
from app.web.pages.hosts_sharing_each_engine import Sharing, TheSharing
from app.web.pages.live_parts import wrap_partials
from app.web.pages.mission.mission_loader import AskedMoment, MissionLoader, TheMissions, TheMoment
from app.web.pages.mission.mission_parts import Scene
from app.web.pages.mission.page_context import MissionView, PageRequest, build_mission_view
from app.web.pages.mission.page_stream_renderer import PageRenderer
from app.web.pages.mission.past_view_thread_and_cache import PastViewThread, TheMoments
from app.web.pages.mission.replay_stream import Replay
from app.web.pages.start_run import FORM_PERSON
from app.web.pages.templating import render_page, render_template_to_text
from app.web.stream.resume_position import MOST_SEQ, read_resume_position
from app.web.url_paths import path_to, redirect_back, redirect_to

router = APIRouter(include_in_schema=False)
HOURS = {"1": 1.0, "24": 24.0, "168": 168.0}
Intro = Annotated[str, Cookie(alias="temper-intro", max_length=10)]
"""The cookie that says whether this browser closed the introduction."""


@router.get("/", name="home")
@rights.guests
def show_home(
    runtime: TheRuntime,
    missions: TheMissions,
    sharing: TheSharing,
    session: TheSession,
    last_look: TheLastLook,
    intro: Intro = "",
) -> Response:
    shown = _choose_home_run(session)
    if shown is None:
        return render_page("empty.html", here="home", lineup=runtime.lineup)
    view = build_mission_view(runtime, missions, sharing, shown, PageRequest(intro=intro != "closed"))
    return _render_mission(view, last_look)


def _choose_home_run(session: Session) -> RunRow | None:
    if (runs := rights.get_visible_runs_or_none_for_all()) is not None:
        return next(iter(run_queries.list_newest_runs(session, 1, allowed_run_ids=runs)), None)
    working = run_queries.list_unended_runs(session)
    return working[0] if working else run_queries.find_newest_run(session)


@router.get("/runs/{run}", name="run")
@rights.guests
async def show_run(
    runtime: TheRuntime,
    missions: TheMissions,
    sharing: TheSharing,
    moments: TheMoments,
    session: TheSessionForNow,
    read_look: TheLookReader,
    run: str,
    moment: TheMoment,
    speed: Annotated[str, Query(max_length=8)] = "",
    intro: Intro = "",
) -> Response:
    pace = float(speed) if speed in {"1", "10", "100", "1000"} else None

    def render(session: Session) -> Response:
        row = require_run(session, run)
        if moment == AskedMoment():
            asked = PageRequest(None, pace, intro != "closed")
            return _render_mission(build_mission_view(runtime, missions, sharing, row, asked), read_look(session))
        asked = PageRequest(missions.find_seq(row, moment), pace, intro != "closed")
        return _render_mission(_get_past_view(moments, runtime, missions, sharing, row, asked), None)

    return await (moments.answer(render) if session is None else run_in_threadpool(render, session))


def _get_past_view(
    moments: PastViewThread,
    runtime: Runtime,
    missions: MissionLoader,
    sharing: Sharing | None,
    row: RunRow,
    page_request: PageRequest,
) -> MissionView:
    """Return the view of a moment, kept for those who may see the same, as of the log's and the row's present state."""
    newest, who = runtime.store.read_last_link(row.id), rights.WHO.get()
    seen_by = (who.right, who.runs) if who else None
    key = (page_request, newest, repr(row.model_dump()), seen_by, sharing is None)
    view = moments.get_or_build_view_on_calling_thread(
        key, lambda: build_mission_view(runtime, missions, sharing, row, page_request)
    )
    return replace(view, now=round(runtime.clock.now(), 3))


def _render_mission(view: MissionView, last_look: LastLook | None) -> Response:
    return render_page("mission.html", here="home", **vars(replace(view, last_look=last_look)))


@router.get("/runs/{run}/moment", name="run_moment")
@rights.guests
async def show_moment(
    runtime: TheRuntime, missions: TheMissions, sharing: TheSharing, moments: TheMoments, run: str, moment: TheMoment
) -> HTMLResponse:
    """Render all parts of the page for a moment. The page requests this while its timeline is dragged."""

    def render(session: Session) -> HTMLResponse:
        row = _require_run(run_queries.find_run(session, run), run)
        asked = PageRequest(missions.find_seq(row, moment))
        return _render_moment_partials(_get_past_view(moments, runtime, missions, sharing, row, asked))

    return await moments.answer(render)


def _render_moment_partials(view: MissionView) -> HTMLResponse:
    parts = view.pieces | {f"meter-{name}": html for name, html in view.meters.items()}
    parts |= {f"share-{name}": html for name, html in view.shares.items()}
    parts |= {"gpus": view.gpus, "steps": render_template_to_text("partials/_steps.html", **vars(view))}
    return HTMLResponse(wrap_partials(parts))


@router.get("/runs/{run}/page", name="run_page")
@rights.guests
def stream_page(
    runtime: TheRuntime,
    missions: TheMissions,
    streams: TheStreams,
    sharing: TheSharing,
    run: str,
    request: Request,
    since: Annotated[int, Query(ge=0, le=MOST_SEQ)] = 0,
) -> Response:
    row = _require_run(runtime.read_run_row(run), run)
    after = read_resume_position(request.headers, str(since)) or 0
    state = request.app.state
    engines = partial(render_engine_meters_and_users, runtime, state.sharing, show_hosts=sharing is not None)
    skill, outages = load_skill(row.skill), missions.outages.read_outages
    scene = Scene(runtime.lineup, skill, "live", engines, outages, sends_timeline=True)
    screen = PageRenderer(run, missions, scene)
    name, live = ("page", state.machine_live) if sharing else ("guest", state.guests_live)
    notices = [state.health.create_run_health(run), *([state.inbox_watch] if sharing else [])]
    return streams.create_stream_response(run, name, screen, after, live=live, notices=notices)


@router.get("/runs/{run}/replay", name="run_replay")
@rights.guests
def stream_replay(
    runtime: TheRuntime,
    missions: TheMissions,
    run: str,
    speed: Annotated[float, Query(gt=0, le=1000)],
    request: Request,
    since: Annotated[int, Query(ge=0, le=MOST_SEQ)] = 0,
) -> Response:
    row = _require_run(runtime.read_run_row(run), run)
    after = read_resume_position(request.headers, str(since)) or 0
    scene = Scene(runtime.lineup, load_skill(row.skill), "replay", outages=missions.outages.read_outages)
    frames = Replay(runtime.store, run).stream_frames(PageRenderer(run, missions, scene), after, speed)
    return EventSourceResponse(frames, sep="\n", ping=15)


def _require_run(row: RunRow | None, run: str) -> RunRow:
    """For addresses that scripts request: their answer is not shown as a page."""
    if row is None:
        raise HTTPException(404, f"there is no run {run[:40]!a}: /runs lists the runs")
    return row


@router.post("/runs/{run}/ask", name="run_ask")
@rights.operators
def submit_run_command_or_answer(
    request: Request, session: TheSession, folds: TheFolds, run: str, fields: Fields
) -> Response:
    row, verb, by = require_run(session, run), fields.get("verb", ""), rights.get_name_to_record(FORM_PERSON)
    reason = fields.get("reason", "")
    if verb in DECISIONS:
        actions = fields.get("actions", "") if verb == "edit" else ""  # the form sends them with every button
        asked, approval = folds.read_current(run), fields.get("approval", "")
        means = AnswerMeans(
            rights.get_callers_sign_in_method(), rights.get_token_id(), rights.list_others_who_made_current_token()
        )
        record_answer(session, asked, approval, verb, by=by, sign_in_means=means, reason=reason, actions=actions)
    else:
        command_run(session, row, verb, by=by, reason=reason)
    return redirect_back(request, ("ops", "inbox"), path_to("run", run=run))


@router.post("/runs/{run}/label", name="run_label")
@rights.operators
def submit_run_label(session: TheSession, run: str, fields: Fields) -> Response:
    row = require_run(session, run)
    set_run_labels(row, fields.get("name"), split_at_commas_and_blanks(fields["tags"]) if "tags" in fields else None)
    session.add(row)
    return redirect_to("run", run=run)


@router.post("/runs/{run}/share", name="run_share")
@rights.operators
def submit_run_share(session: TheSession, request: Request, run: str, fields: Fields) -> Response:
    """Create a share link and show it. Only its digest is stored, so it cannot be shown again."""
    row, me, site = require_run(session, run), rights.WHO.get() or rights.DEMO, str(request.base_url).rstrip("/")
    hours = HOURS.get(fields.get("hours", "24"))
    if hours is None:
        raise Rejected("hours", f"a link holds for {', '.join(HOURS)} hours: choose one of them.")
    over = row.state not in run_queries.UNENDED
    if me.via == "demo":  # nobody signs in, so the run's own address is the link
        link, until = f"{site}{path_to('run', run=row.id)}", None
    else:
        made, secret = issued_credentials.issue_link(
            session, me.name, row.id, hours, rights.build_creator_chain_for_new_credential()
        )
        link, until = f"{site}{path_to('share', secret=secret)}", made.expires_at
    return render_page("shared.html", here="runs", run=row, link=link, until=until, over=over)
