"""A run's events: page by page, and as they happen."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from fastapi import Header, Query, Request, Response
from pydantic import Field

from app.api.problem import Problem, documented
from app.api.route import router as api_router
from app.api.runs import known_run
from app.api.wire import Raw, Wire
from app.deps import TheStreams, TheWorker
from app.errors import BadInput
from app.events.kinds import KINDS, kind_of
from app.events.record import Recorded
from app.stream.cursor import cursor
from app.stream.message import message

router = api_router("events")

MOST_SEQ = 2**53
SEQ = "^[0-9]{1,18}$"
Since = Annotated[int, Query(ge=0, le=MOST_SEQ, description="The seq after which to begin.")]


class EventList(Wire):
    run: str
    events: list[Raw] = Field(description="Each with seq, at, run, kind and the kind's own fields.")
    newest: int = Field(description="Seq of the run's newest event.")
    next: int | None = Field(description="`since` of the next page; None when this one reaches the newest event.")


@router.get("/runs/{run}/events", responses=documented("not-found"))
def list_events(
    run: str,
    worker: TheWorker,
    since: Since = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    kind: Annotated[str | None, Query(max_length=200, description="Only these kinds, separated by commas.")] = None,
) -> EventList:
    """Events in order. No line is ever rewritten; single tokens go when a run is shrunk to its evidence."""
    known_run(worker, run)
    newest = worker.store.last(run)
    lines = worker.store.lines(run, since, kinds=known_kinds(kind), limit=limit)
    last = newest[0] if newest else 0
    more = len(lines) == limit and lines[-1][0] < last
    events = [msgspec.json.decode(line) for _, line, _ in lines]
    return EventList(run=run, events=events, newest=last, next=lines[-1][0] if more else None)


@router.get(
    "/runs/{run}/stream",
    response_class=Response,
    responses={
        **documented("not-found"),
        200: {
            "description": "Messages with the event's seq as id, its kind as event and its JSON as data; "
            "`event: end` when the run is over. A comment keeps a silent stream open.",
            "content": {"text/event-stream": {}},
        },
    },
)
async def stream_events(
    run: str,
    worker: TheWorker,
    streams: TheStreams,
    request: Request,
    since: Annotated[
        str | None, Query(pattern=SEQ, description="The seq after which to begin; 0 is from the start.")
    ] = None,
    _last: Annotated[str | None, Header(alias="Last-Event-ID", pattern=SEQ, description="Goes before since.")] = None,
) -> Response:
    """Every event as it happens, from the start or after what you have."""
    known_run(worker, run)
    try:
        after = cursor(request.headers, since)
    except BadInput as exc:
        raise Problem("invalid", str(exc), field="Last-Event-ID" if _last else "since") from exc
    return streams.watch(run, "json", as_messages, after or 0)


def as_messages(batch: Sequence[Recorded]) -> bytes:
    return b"".join(message(one.line, name=kind_of(one.event), seq=one.seq) for one in batch)


def known_kinds(asked: str | None) -> tuple[str, ...]:
    kinds = tuple(kind.strip() for kind in (asked or "").split(",") if kind.strip())
    for kind in kinds:
        if kind not in KINDS:
            raise Problem("invalid", f"There is no kind of event {kind[:40]!a}: docs/api.md lists them.", field="kind")
    return kinds
