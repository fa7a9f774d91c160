"""The operator's console: its page, its stream and the switch for the simulator."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import Response

from app.people.rights import operators, viewers
from app.web.addresses import redirect_to
from app.web.deps import TheRuntime, TheSession, TheStreams
from app.web.pages.live_parts import LiveParts
from app.web.pages.ops.console import Console
from app.web.pages.ops.webhooks import list_webhook_lines
from app.web.pages.templating import render_page

router = APIRouter(include_in_schema=False)


async def _get_console(request: Request) -> Console:
    console: Console = request.app.state.console
    return console


async def _get_live_parts(request: Request) -> LiveParts:
    live: LiveParts = request.app.state.ops_live
    return live


@router.get("/ops", name="ops")
@viewers
def show_ops(
    runtime: TheRuntime,
    console: Annotated[Console, Depends(_get_console)],
    session: TheSession,
    taken: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show the console. `taken` is the webhook that a test has just reached."""
    context = {
        "lineup": runtime.lineup,
        "parts": console.render_parts(),
        "elsewhere": [engine.title for engine in runtime.lineup.engines.values() if engine.base_urls],
        "launched": bool(runtime.launched),
        "webhooks": list_webhook_lines(session),
        "taken": taken,
    }
    return render_page("ops.html", here="ops", **context)


@router.get("/ops/stream", name="ops_stream")
@viewers
async def stream_ops(streams: TheStreams, live: Annotated[LiveParts, Depends(_get_live_parts)]) -> Response:
    """Stream all parts once, then the parts that change and each second's samples."""
    return streams.create_live_response(live)


@router.post("/ops/engines", name="ops_engines")
@operators
async def submit_simulator_command(runtime: TheRuntime, verb: Annotated[str, Form(max_length=10)]) -> Response:
    """Start or stop this process's simulator. A turn in progress waits for its engine, within its budget."""
    if runtime.simulator:
        await (runtime.simulator.start() if verb == "start" else runtime.simulator.stop())
    return redirect_to("ops")
