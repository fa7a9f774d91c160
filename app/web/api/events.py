"""A run's events: page by page, and as a stream."""

from typing import Annotated, get_args

import msgspec
from fastapi import Header, Query, Request, Response
from pydantic import Field

from app.events.kinds import PersonDid, RunEvent, kind_of
from app.events.record import Recorded
from app.events.sealed import sealed
from app.people.rights import guests, reads_prompts
from app.web.api.problem import Problem, documented
from app.web.api.route import router as api_router
from app.web.api.runs import known_run
from app.web.api.wire import Raw, Wire
from app.web.deps import TheRuntime, TheStreams
from app.web.stream.cursor import MOST_SEQ, cursor
from app.web.stream.message import HEARTBEAT, message
from app.web.stream.rendering import EachAlone

router = api_router("events")

KINDS = tuple(kind_of(event) for event in get_args(RunEvent) if event is not PersonDid)
"""The kinds of events in a run's log."""
SEQ = "^[0-9]{1,18}$"
Kinds = Annotated[str | None, Query(max_length=2000, description="Only these kinds, separated by commas.")]
Since = Annotated[int, Query(ge=0, le=MOST_SEQ, description="The seq after which to begin.")]


class EventList(Wire):
    run: str
    events: list[Raw] = Field(description="Each with seq, at, run, kind and the kind's own fields.")
    newest: int = Field(description="Seq of the run's newest event.")
    next: int | None = Field(description="`since` of the next page; None when this one reaches the newest event.")


@router.get("/runs/{run}/events", responses=documented("not-found"))
@guests
def list_events(
    run: str,
    runtime: TheRuntime,
    since: Since = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    kind: Kinds = None,
) -> EventList:
    """List events in order. Events are never rewritten; single tokens are removed when a run is shrunk to its evidence.

    Prompts are for operators; viewers get their length and sha256 instead."""
    known_run(runtime, run)
    newest = runtime.store.last(run)
    last = newest[0] if newest else 0
    if since > last:
        said = f"Run {run} has come to {last}, so {since} is not of its log: begin again, without since."
        raise Problem("invalid", said, field="since")
    lines = runtime.store.lines(run, since, kinds=asked_kinds(kind), limit=limit)
    more = len(lines) == limit and lines[-1][0] < last
    whole = reads_prompts()
    events = [msgspec.json.decode(line if whole else sealed(line)) for _, line, _ in lines]
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
@guests
def stream_events(
    run: str,
    runtime: TheRuntime,
    streams: TheStreams,
    request: Request,
    kind: Kinds = None,
    since: Annotated[
        str | None,
        Query(json_schema_extra={"pattern": SEQ}, description="The seq after which to begin; 0 is from the start."),
    ] = None,
    _last: Annotated[
        str | None,
        Header(alias="Last-Event-ID", json_schema_extra={"pattern": SEQ}, description="Goes before since."),
    ] = None,
) -> Response:
    """Stream every event as it happens, from the start or after `since`. Prompts are for operators."""
    known_run(runtime, run)
    kinds = frozenset(asked_kinds(kind))
    render, name = json_messages(whole=reads_prompts())
    return streams.watch(run, *only_kinds(kinds, render, name), cursor(request.headers, since) or 0)


def json_messages(*, whole: bool) -> tuple[EachAlone, str]:
    """Return the renderer, and the name under which viewers with the same rights share its stream."""
    return (as_messages, "json") if whole else (as_sealed_messages, "json, sealed")


def only_kinds(kinds: frozenset[str], render: EachAlone, name: str) -> tuple[str, EachAlone]:
    return (f"{name}, {sorted(kinds)}", _only(kinds, render)) if kinds else (name, render)


def _only(kinds: frozenset[str], render: EachAlone) -> EachAlone:
    """Send a comment for a batch without these kinds, which keeps the connection open."""

    def message_of(one: Recorded) -> bytes:
        return render.message_of(one) if kind_of(one.event) in kinds else b""

    return EachAlone(message_of, instead=HEARTBEAT)


as_messages = EachAlone(lambda one: message(one.line, name=kind_of(one.event), seq=one.seq))
as_sealed_messages = EachAlone(lambda one: message(sealed(one.line), name=kind_of(one.event), seq=one.seq))


def asked_kinds(kinds: str | None) -> tuple[str, ...]:
    return () if kinds is None else tuple(known_kind(kind.strip(), "kind") for kind in kinds.split(","))


def known_kind(kind: str, field: str) -> str:
    if kind not in KINDS:
        said = f"No run's log has events of kind {kind[:40]!a}: the schema Event of /openapi.json names those it has."
        raise Problem("invalid", said, field=field)
    return kind
