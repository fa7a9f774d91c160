"""The operator's console: its page, its stream and the switch for the simulator."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from app.people.rights import operators, viewers
from app.web.addresses import path_to
from app.web.deps import TheRuntime, TheSession, TheStreams
from app.web.pages.live_parts import LiveParts
from app.web.pages.ops.console import Console
from app.web.pages.ops.webhooks import lines
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
    """Show the console. `taken` is the webhook that a test has just reached."""
    nonce = new_nonce()
    context = {
        "lineup": runtime.lineup,
        "parts": console.parts(),
        "elsewhere": [engine.title for engine in runtime.lineup.engines.values() if engine.base_urls],
        "launched": bool(runtime.launched),
        "webhooks": lines(session),
        "taken": taken,
    }
    return page(rendered("ops.html", nonce=nonce, here="ops", **context), nonce)


@router.get("/ops/stream")
@viewers
async def ops_stream(streams: TheStreams, live: Annotated[LiveParts, Depends(_live)]) -> Response:
    """Stream all parts once, then the parts that change and each second's samples."""
    return streams.watch_live(live)


@router.post("/ops/engines", name="ops_engines")
@operators
async def engines(runtime: TheRuntime, verb: Annotated[str, Form(max_length=10)]) -> Response:
    """Start or stop this process's simulator. A turn in progress waits for its engine, within its budget."""
    if runtime.simulator:
        await (runtime.simulator.start() if verb == "start" else runtime.simulator.stop())
    return RedirectResponse(path_to("ops"), status_code=303)
