"""The mission page: a run live, ended or replayed, and what a person may ask of it."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from sqlmodel import Session
from sse_starlette import EventSourceResponse
from starlette.responses import RedirectResponse, Response

from app.people.rights import guests, only, operators, signed
from app.runs.answer import DECISIONS, answer
from app.runs.command import command
from app.runs.order import queued
from app.runtime.runtime import Runtime
from app.skills.catalog import skill
from app.store import queries
from app.store.models import RunRow
from app.web.deps import TheFolds, TheRuntime, TheSession, TheStreams
from app.web.pages.missing import missing
from app.web.pages.mission.missions import Missions, TheMissions
from app.web.pages.mission.pieces import Scene
from app.web.pages.mission.replay import Replay
from app.web.pages.mission.screen import Screen
from app.web.pages.mission.view import mission_view
from app.web.pages.order_form import Fields, order_of
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered
from app.web.stream.cursor import MOST_SEQ, cursor

router = APIRouter(include_in_schema=False)
BY = "operator on this page"


@router.get("/")
@guests
def home(runtime: TheRuntime, missions: TheMissions, session: TheSession) -> Response:
    shown = _shown(session)
    if shown is None:
        nonce = new_nonce()
        return page(rendered("empty.html", nonce=nonce, here="/", lineup=runtime.lineup), nonce)
    return _mission(runtime, missions, shown, None, None)


def _shown(session: Session) -> RunRow | None:
    if (runs := only()) is not None:
        return next(iter(queries.newest(session, 1, only=runs)), None)
    working = queries.unended(session)
    return working[0] if working else queries.newest_run(session)


@router.get("/runs/{run}")
@guests
def one_run(
    runtime: TheRuntime,
    missions: TheMissions,
    session: TheSession,
    run: str,
    at: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None,
    speed: Annotated[str, Query(max_length=8)] = "",
) -> Response:
    row = queries.run(session, run)
    if row is None:
        return missing(session, run)
    return _mission(runtime, missions, row, at, float(speed) if speed in {"1", "10", "100", "1000"} else None)


def _mission(runtime: Runtime, missions: Missions, row: RunRow, at: int | None, speed: float | None) -> Response:
    nonce = new_nonce()
    view = mission_view(runtime, missions, row, at, speed)
    return page(rendered("mission.html", nonce=nonce, here="/", **vars(view)), nonce)


@router.get("/runs/{run}/page")
@guests
def page_stream(
    runtime: TheRuntime,
    missions: TheMissions,
    streams: TheStreams,
    run: str,
    request: Request,
    since: Annotated[int, Query(ge=0, le=MOST_SEQ)] = 0,
) -> Response:
    row = _row(runtime, run)
    after = cursor(request.headers, str(since)) or 0
    scene = Scene(runtime.lineup, skill(row.skill), "live")
    return streams.watch(run, "page", Screen(run, missions, scene), after)


@router.get("/runs/{run}/replay")
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


@router.post("/runs")
@operators
async def start(runtime: TheRuntime, fields: Fields) -> Response:
    order = order_of(fields, by=signed(BY), pace=runtime.settings.speed)
    run = await runtime.submit(queued(order, runtime.lineup, runtime.settings.hosts))
    return RedirectResponse(f"/runs/{run}", status_code=303)


@router.post("/runs/{run}/ask")
@operators
def ask(request: Request, session: TheSession, folds: TheFolds, run: str, fields: Fields) -> Response:
    row, verb, by = queries.run(session, run), fields.get("verb", ""), signed(BY)
    reason = fields.get("reason", "")
    if row is None:
        return missing(session, run)
    if verb in DECISIONS:
        actions = fields.get("actions", "") if verb == "edit" else ""  # the form holds them whatever is pressed
        answer(session, folds.now(run), fields.get("approval", ""), verb, by=by, reason=reason, actions=actions)
    else:
        command(session, row, verb, by=by, reason=reason)
    back = request.headers.get("referer", "")
    return RedirectResponse("/ops" if back.endswith("/ops") else f"/runs/{run}", status_code=303)
