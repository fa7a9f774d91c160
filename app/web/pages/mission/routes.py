"""The mission page: a run live, ended or replayed, and what a person may ask of it."""

import time
from collections.abc import AsyncIterator
from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request
from sqlmodel import Session
from sse_starlette import EventSourceResponse
from starlette.responses import RedirectResponse, Response

from app.errors import BadInput
from app.events.command import Verb
from app.events.words import Budget
from app.loop.answers import BrokenAnswer, read_actions
from app.people.rights import guests, only, operators, signed
from app.runs.order import queued
from app.runtime.runtime import Runtime
from app.skills.catalog import skill
from app.store import queries
from app.store.models import CommandRow, RunRow
from app.targets.catalog import FIXTURE, known_host
from app.web.deps import TheRuntime, TheSession, TheStreams
from app.web.pages.missing import missing
from app.web.pages.mission.missions import Missions, TheMissions
from app.web.pages.mission.pieces import Scene
from app.web.pages.mission.replay import Replay
from app.web.pages.mission.screen import Screen
from app.web.pages.mission.view import mission_view
from app.web.pages.security import from_here, new_nonce, page
from app.web.pages.templating import rendered
from app.web.stream.cursor import MOST_SEQ, cursor

router = APIRouter(include_in_schema=False)
SameSite = Depends(from_here)
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
    after = _after(request, since)
    scene = Scene(runtime.lineup, skill(row.skill), "live")
    return streams.watch(run, "page", Screen(run, missions, scene), after, live=request.app.state.machine_live)


@router.get("/runs/{run}/replay")
@guests
async def replay_stream(
    runtime: TheRuntime,
    missions: TheMissions,
    run: str,
    speed: Annotated[float, Query(gt=0, le=1000)],
    request: Request,
    since: Annotated[int, Query(ge=0, le=MOST_SEQ)] = 0,
) -> Response:
    row = _row(runtime, run)
    after = _after(request, since)
    screen = Screen(run, missions, Scene(runtime.lineup, skill(row.skill), "replay"))
    frames: AsyncIterator[bytes] = Replay(runtime.store, run).frames(screen, after, speed)
    return EventSourceResponse(frames, sep="\n", ping=15)


def _after(request: Request, since: int) -> int:
    try:
        return cursor(request.headers, str(since)) or 0
    except BadInput as exc:
        raise HTTPException(422, str(exc)) from exc


def _row(runtime: Runtime, run: str) -> RunRow:
    row = runtime.run_row(run)
    if row is None:
        raise HTTPException(404, f"there is no run {run[:40]!a}: /runs lists those that are there")
    return row


@router.post("/runs", dependencies=[SameSite])
@operators
async def start(
    runtime: TheRuntime,
    host: Annotated[str, Form(max_length=64)] = FIXTURE,
    said: Annotated[str, Form(alias="consent", max_length=200)] = "",
    skill_name: Annotated[str, Form(alias="skill", max_length=200)] = "stig",
    mode: Annotated[str, Form(max_length=10)] = "",
    rules: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:
    try:
        known_host(host, runtime.settings.hosts)
    except BadInput as exc:
        raise HTTPException(404, str(exc)) from exc
    try:
        request = queued(
            runtime.lineup,
            host=host,
            rules=rules,
            mode=mode,
            keep=False,
            budget=Budget(),
            note="",
            pace=runtime.settings.speed,
            by=signed(BY),
            skill_name=skill_name.strip(),
            hosts=runtime.settings.hosts,
            said=said,
        )
    except BadInput as exc:
        raise HTTPException(422, str(exc)) from exc
    run = await runtime.submit(request)
    return RedirectResponse(f"/runs/{run}", status_code=303)


@router.post("/runs/{run}/ask", dependencies=[SameSite])
@operators
def ask(
    request: Request,
    session: TheSession,
    run: str,
    verb: Annotated[str, Form()],
    reason: Annotated[str, Form(max_length=300)] = "",
    approval: Annotated[str, Form(max_length=200)] = "",
    actions: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:
    if queries.run(session, run) is None:
        return missing(session, run)
    if verb in get_args(Verb):
        edited = _edited(actions) if verb == "edit" else ""
        row = CommandRow(
            run=run, verb=verb, by=signed(BY), reason=reason, approval=approval, actions=edited, at=time.time()
        )
        queries.ask(session, row)
    back = request.headers.get("referer", "")
    return RedirectResponse("/ops" if back.endswith("/ops") else f"/runs/{run}", status_code=303)


def _edited(actions: str) -> str:
    text = f'{{"actions": {actions}, "note": ""}}'
    try:
        read_actions(text)
    except BrokenAnswer as exc:
        raise HTTPException(422, f"These are no actions: {exc}. Go back: what you wrote is still there.") from exc
    return text
