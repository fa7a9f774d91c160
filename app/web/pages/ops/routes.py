"""The operator's page: what needs a person, what works, and how to stop it."""

import secrets
import time
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session
from starlette.responses import RedirectResponse, Response

from app.background.webhooks.trial import trial
from app.errors import NotTaken
from app.people.rights import WHO, admins, operators, viewers
from app.runtime.runtime import Runtime
from app.store import queries, webhooks
from app.store.held import asking
from app.store.webhooks import WebhookRow
from app.web.deps import TheRuntime, TheSession, TheStreams
from app.web.pages.live_parts import LiveParts
from app.web.pages.ops.console import Console
from app.web.pages.refused import refusal
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

router = APIRouter(include_in_schema=False)


async def _console(request: Request) -> Console:
    console: Console = request.app.state.console
    return console


async def _live(request: Request) -> LiveParts:
    live: LiveParts = request.app.state.ops_live
    return live


@router.get("/ops")
@viewers
def ops(
    runtime: TheRuntime,
    console: Annotated[Console, Depends(_console)],
    session: TheSession,
    taken: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """`taken`: the webhook that a test has just reached."""
    nonce = new_nonce()
    context = {
        "lineup": runtime.lineup,
        "parts": console.parts(),
        "elsewhere": [engine.title for engine in runtime.lineup.engines.values() if engine.base_urls],
        "launched": bool(runtime.launched),
        "webhooks": webhooks.webhooks(session) if _is_admin() else None,
        "taken": taken,
    }
    return page(rendered("ops.html", nonce=nonce, here="/ops", **context), nonce)


def _is_admin() -> bool:
    """Whose a webhook leads to is for those who made it."""
    person = WHO.get()
    return person is not None and person.right == "admin"


@router.get("/ops/stream")
@viewers
async def ops_stream(streams: TheStreams, live: Annotated[LiveParts, Depends(_live)]) -> Response:
    """All parts at once, then those that change; and the samples of each second."""
    return streams.watch_live(live)


@router.post("/ops/engines")
@operators
async def engines(runtime: TheRuntime, verb: Annotated[str, Form(max_length=10)]) -> Response:
    """Only what this process launched: a turn in progress waits for its engine, within its budget."""
    if runtime.simulator:
        await (runtime.simulator.start() if verb == "start" else runtime.simulator.stop())
    return RedirectResponse("/ops", status_code=303)


@router.post("/ops/webhooks/{webhook}")
@admins
async def handle_webhook(
    runtime: TheRuntime,
    webhook: str,
    verb: Annotated[str, Form(pattern="^(test|again)$")],
    run: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Try one out, or send it a run's events once more."""
    row = await run_in_threadpool(_webhook, runtime, webhook)
    if row is None:
        return refusal(f"There is no webhook {webhook[:40]!a}.", 404)
    if verb == "again":
        if not await run_in_threadpool(_send_again, runtime, webhook, run.strip()):
            raise NotTaken("run", f"there is no run {run[:40]!a}: /runs lists those that are there.", "not-found")
        return RedirectResponse("/ops#webhooks", status_code=303)
    if problem := await trial(row, time.time(), f"test.{secrets.token_hex(8)}"):
        return refusal(f"The test did not reach {row.url}: {problem}.", 502)
    return RedirectResponse(f"/ops?taken={row.id}#webhooks", status_code=303)


def _webhook(runtime: Runtime, webhook: str) -> WebhookRow | None:
    with asking(runtime.database) as session:
        return session.get(WebhookRow, webhook)


def _send_again(runtime: Runtime, webhook: str, run: str) -> bool:
    with Session(runtime.database) as session, session.begin():
        if queries.run(session, run) is None:
            return False
        webhooks.send_again(session, webhook, run)
    return True
