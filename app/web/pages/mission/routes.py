"""The mission page of a live, ended or replayed run, and its forms."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from typing import Annotated

from fastapi import APIRouter, Cookie, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session
from sse_starlette import EventSourceResponse
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.people.rights import came, guests, only, operators, signed
from app.runs.answer import DECISIONS, answer
from app.runs.command import command
from app.runs.labels import checked, label, split
from app.runs.order import queued
from app.runtime.runtime import Runtime
from app.skills.catalog import skill
from app.store import queries
from app.store.models import RunRow
from app.web.addresses import path_to
from app.web.deps import TheFolds, TheRuntime, TheSession, TheStreams
from app.web.pages.machine import share_parts
from app.web.pages.missing import known
from app.web.pages.mission.missions import TheMissions
from app.web.pages.mission.pieces import Scene
from app.web.pages.mission.replay import Replay
from app.web.pages.mission.screen import Screen, part
from app.web.pages.mission.view import MissionView, PageAsked, mission_view
from app.web.pages.order_form import Fields, order_of
from app.web.pages.security import new_nonce, page
from app.web.pages.sharing import TheSharing
from app.web.pages.templating import rendered
from app.web.stream.cursor import MOST_SEQ, cursor

router = APIRouter(include_in_schema=False)
BY = "operator on this page"
Intro = Annotated[str, Cookie(alias="temper-intro", max_length=10)]
"""The cookie that says whether this browser closed the introduction."""
Seconds = Annotated[float | None, Query(ge=0, le=1e9, allow_inf_nan=False)]
"""Seconds since the run was queued."""
READ_UP = 0.05
"""The timeline has a resolution of 0.1 s; half a step is added so that its events are included."""


@router.get("/")
@guests
def home(
    runtime: TheRuntime, missions: TheMissions, sharing: TheSharing, session: TheSession, intro: Intro = ""
) -> Response:
    shown = _shown(session)
    if shown is None:
        nonce = new_nonce()
        return page(rendered("empty.html", nonce=nonce, here="home", lineup=runtime.lineup), nonce)
    return _mission(mission_view(runtime, missions, sharing, shown, PageAsked(intro=intro != "closed")))


def _shown(session: Session) -> RunRow | None:
    if (runs := only()) is not None:
        return next(iter(queries.newest(session, 1, only=runs)), None)
    working = queries.unended(session)
    return working[0] if working else queries.newest_run(session)


@router.get("/runs/{run}", name="run")
@guests
def one_run(
    runtime: TheRuntime,
    missions: TheMissions,
    sharing: TheSharing,
    session: TheSession,
    run: str,
    at: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None,
    t: Seconds = None,
    speed: Annotated[str, Query(max_length=8)] = "",
    intro: Intro = "",
) -> Response:
    row = known(session, run)
    pace = float(speed) if speed in {"1", "10", "100", "1000"} else None
    at = _seq(runtime, row, t) if at is None and t is not None else at
    return _mission(mission_view(runtime, missions, sharing, row, PageAsked(at, pace, intro != "closed")))


def _seq(runtime: Runtime, row: RunRow, seconds: float) -> int:
    first = runtime.store.newest_at(row.id, 1)
    return runtime.store.seq_at(row.id, (first or row.queued_at) + seconds + READ_UP)


def _mission(view: MissionView) -> Response:
    nonce = new_nonce()
    return page(rendered("mission.html", nonce=nonce, here="home", **vars(view)), nonce)


@router.get("/runs/{run}/moment", name="run_moment")
@guests
def moment(
    runtime: TheRuntime,
    missions: TheMissions,
    sharing: TheSharing,
    session: TheSession,
    run: str,
    t: Seconds = None,
    at: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None,
) -> HTMLResponse:
    """Render all parts of the page for a moment. The page requests this while its timeline is dragged."""
    row = queries.run(session, run)
    if row is None:
        raise HTTPException(404, f"there is no run {run[:40]!a}: /runs lists those that are there")
    asked = PageAsked(_seq(runtime, row, t or 0.0) if at is None else at)
    view = mission_view(runtime, missions, sharing, row, asked)
    parts = view.pieces | {f"meter-{name}": html for name, html in view.meters.items()}
    parts |= {f"share-{name}": html for name, html in view.shares.items()}
    parts |= {"gpus": view.gpus, "steps": rendered("partials/_steps.html", **vars(view))}
    return HTMLResponse("".join(starmap(part, parts.items())))


@router.get("/runs/{run}/page", name="run_page")
@guests
def page_stream(
    runtime: TheRuntime,
    missions: TheMissions,
    streams: TheStreams,
    sharing: TheSharing,
    run: str,
    request: Request,
    since: Annotated[int, Query(ge=0, le=MOST_SEQ)] = 0,
) -> Response:
    row = _row(runtime, run)
    after = cursor(request.headers, str(since)) or 0
    scene, state = Scene(runtime.lineup, skill(row.skill), "live"), request.app.state
    if sharing is None:
        return streams.watch(run, "guest", Screen(run, missions, scene), after, live=state.guests_live)
    scene = replace(scene, shares=partial(share_parts, runtime, sharing))
    return streams.watch(run, "page", Screen(run, missions, scene), after, live=state.machine_live)


@router.get("/runs/{run}/replay", name="run_replay")
@guests
def replay_stream(
    runtime: TheRuntime,
    missions: TheMissions,
    run: str,
    speed: Annotated[float, Query(gt=0, le=1000)],
    request: Request,
    since: Annotated[int, Query(ge=0, le=MOST_SEQ)] = 0,
) -> Response:
    row = _row(runtime, run)
    after = cursor(request.headers, str(since)) or 0
    screen = Screen(run, missions, Scene(runtime.lineup, skill(row.skill), "replay"))
    frames: AsyncIterator[bytes] = Replay(runtime.store, run).frames(screen, after, speed)
    return EventSourceResponse(frames, sep="\n", ping=15)


def _row(runtime: Runtime, run: str) -> RunRow:
    row = runtime.run_row(run)
    if row is None:
        raise HTTPException(404, f"there is no run {run[:40]!a}: /runs lists those that are there")
    return row


@router.post("/runs", name="runs")
@operators
async def start(runtime: TheRuntime, fields: Fields) -> Response:
    order = order_of(fields, by=signed(BY), pace=runtime.settings.speed)
    name, tags = fields.get("name", ""), split(fields.get("tags", ""))
    checked(name, tags)
    run = await runtime.submit(await run_in_threadpool(queued, order, runtime.lineup, runtime.settings.hosts))
    if name or tags:
        await run_in_threadpool(_labelled, runtime, run, name, tags)
    return RedirectResponse(path_to("run", run=run), status_code=303)


def _labelled(runtime: Runtime, run: str, name: str, tags: Sequence[str]) -> None:
    with Session(runtime.database) as session, session.begin():
        if row := queries.run(session, run):
            label(row, name, tags)
            session.add(row)


@router.post("/runs/{run}/ask", name="run_ask")
@operators
def ask(request: Request, session: TheSession, folds: TheFolds, run: str, fields: Fields) -> Response:
    row, verb, by = known(session, run), fields.get("verb", ""), signed(BY)
    reason = fields.get("reason", "")
    if verb in DECISIONS:
        actions = fields.get("actions", "") if verb == "edit" else ""  # the form sends them with every button
        asked, approval = folds.now(run), fields.get("approval", "")
        answer(session, asked, approval, verb, by=by, via=came(), reason=reason, actions=actions)
    else:
        command(session, row, verb, by=by, reason=reason)
    back = request.headers.get("referer", "")
    to = path_to("ops") if back.endswith(path_to("ops")) else path_to("run", run=run)
    return RedirectResponse(to, status_code=303)
