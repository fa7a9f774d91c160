"""A run's events: page by page, and as a stream."""

from typing import Annotated, Any

import msgspec
from fastapi import Header, Query, Request, Response
from pydantic import Field

from app.events.kinds import RUN_KINDS, get_event_kind
from app.events.prompts_hidden_from_viewers import redact_prompt_and_answers
from app.events.record import Recorded
from app.people.rights import can_read_prompts, guests
from app.web.api.api_model import ApiModel, Raw
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import Problem, build_problem_responses
from app.web.api.runs import read_required_run_row
from app.web.deps import TheRuntime, TheStreams
from app.web.stream.renderer_types import PerEventRender
from app.web.stream.resume_position import MOST_SEQ, read_resume_position
from app.web.stream.sse_messages import HEARTBEAT, encode_message

router = api_router("events")

SEQ = "^[0-9]{1,18}$"
Kinds = Annotated[str | None, Query(max_length=2000, description="Only these kinds, separated by commas.")]
Since = Annotated[int, Query(ge=0, le=MOST_SEQ, description="Start after the event with this seq.")]

StreamSince = Annotated[
    str | None,
    Query(
        json_schema_extra={"pattern": SEQ}, description="Start after the event with this seq; 0 means the first event."
    ),
]
Last = Annotated[
    str | None,
    Header(alias="Last-Event-ID", json_schema_extra={"pattern": SEQ}, description="Takes precedence over since."),
]


class EventList(ApiModel):
    run: str
    events: list[Raw] = Field(description="Each with seq, at, run, kind and the kind's own fields.")
    newest: int = Field(description="Seq of the run's newest event.")
    next: int | None = Field(description="`since` of the next page; None if this page ends with the newest event.")


def build_stream_responses(description: str, *problems: str) -> dict[int | str, dict[str, Any]]:
    return {
        **build_problem_responses(*problems),
        200: {"description": description, "content": {"text/event-stream": {}}},
    }


@router.get("/runs/{run}/events", responses=build_problem_responses("not-found"))
@guests
@declare_example(query={"limit": "2", "kind": "item.started,item.passed"})
def list_events(
    run: str,
    runtime: TheRuntime,
    since: Since = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    kind: Kinds = None,
) -> EventList:
    """List events in order. Events are never rewritten; single tokens are removed when a run is shrunk to its evidence.

    Prompts are for operators; viewers get their length and sha256 instead."""
    read_required_run_row(runtime, run)
    newest = runtime.store.read_last_link(run)
    last = newest[0] if newest else 0
    if since > last:
        said = f"The newest event of run {run} has seq {last}, so {since} is not in its log. Start again without since."
        raise Problem("invalid", said, field="since")
    lines = runtime.store.read_lines(run, since, kinds=parse_kinds(kind), limit=limit)
    more = len(lines) == limit and lines[-1][0] < last
    whole = can_read_prompts()
    events = [msgspec.json.decode(line if whole else redact_prompt_and_answers(line)) for _, line, _ in lines]
    return EventList(run=run, events=events, newest=last, next=lines[-1][0] if more else None)


@router.get(
    "/runs/{run}/stream",
    response_class=Response,
    responses=build_stream_responses(
        "Messages with the event's seq as id, its kind as event and its JSON as data; `event: "
        "end` when the run has ended. Comments keep an idle stream open.",
        "not-found",
    ),
)
@guests
@declare_example(query={"kind": "item.passed,run.finished"})
def stream_events(
    run: str,
    runtime: TheRuntime,
    streams: TheStreams,
    request: Request,
    kind: Kinds = None,
    since: StreamSince = None,
    _last: Last = None,
) -> Response:
    """Stream every event as it happens, from the start or after `since`. Prompts are for operators."""
    read_required_run_row(runtime, run)
    kinds = frozenset(parse_kinds(kind))
    name, render = choose_stream_name_and_render(with_prompts=can_read_prompts())
    after = read_resume_position(request.headers, since) or 0
    return streams.create_stream_response(run, *build_name_and_filtered_render(kinds, name, render), after)


def choose_stream_name_and_render(*, with_prompts: bool) -> tuple[str, PerEventRender]:
    """Return the name under which viewers with the same rights share a stream, and its renderer."""
    return ("json", as_messages) if with_prompts else ("json, sealed", as_sealed_messages)


def build_name_and_filtered_render(
    kinds: frozenset[str], stream_name: str, render: PerEventRender
) -> tuple[str, PerEventRender]:
    """Render these kinds only. A batch without them becomes a comment, which keeps the connection open."""
    if not kinds:
        return stream_name, render

    def encode_if_wanted(one: Recorded) -> bytes:
        return render.message_of(one) if get_event_kind(one.event) in kinds else b""

    return f"{stream_name}, {sorted(kinds)}", PerEventRender(encode_if_wanted, instead=HEARTBEAT)


as_messages = PerEventRender(lambda one: encode_message(one.line, name=get_event_kind(one.event), seq=one.seq))
as_sealed_messages = PerEventRender(
    lambda one: encode_message(redact_prompt_and_answers(one.line), name=get_event_kind(one.event), seq=one.seq)
)


def parse_kinds(kinds: str | None) -> tuple[str, ...]:
    return () if kinds is None else tuple(require_known_kind(kind.strip(), "kind") for kind in kinds.split(","))


def require_known_kind(kind: str, field: str) -> str:
    if kind not in RUN_KINDS:
        said = f"There are no events of kind {kind[:40]!a}: the schema Event of /openapi.json lists the kinds."
        raise Problem("invalid", said, field=field)
    return kind
