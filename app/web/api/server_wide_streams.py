"""Streams of all runs' events and of all samples."""

from typing import Annotated

from fastapi import Query, Request, Response

from app.events.kinds import SAMPLE_KINDS
from app.events.record import ALL, MACHINE
from app.people.rights import can_read_prompts, viewers
from app.web.api.api_route import create_router as api_router
from app.web.api.events import (
    SEQ,
    Kinds,
    Last,
    as_messages,
    build_name_and_filtered_render,
    build_stream_responses,
    choose_stream_name_and_render,
    parse_kinds,
)
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import Problem
from app.web.deps import TheStreams
from app.web.stream.resume_position import read_resume_position

router = api_router("events")

Since = Annotated[
    str | None, Query(json_schema_extra={"pattern": SEQ}, description="Start after the message with this id.")
]


@router.get(
    "/stream",
    response_class=Response,
    responses=build_stream_responses(
        "Messages with the event's kind as event and its JSON as data, which names run and seq. "
        "The id belongs to this stream: it is valid for the last 4,000 events of this process. A "
        "client with an older id gets `event: reset` and then reads each run from "
        "/runs/{run}/events, after the last seq that it has."
    ),
)
@viewers
@declare_example(query={"kind": "run.queued,run.finished"})
def stream_all_events(
    streams: TheStreams, request: Request, kind: Kinds = None, since: Since = None, _last: Last = None
) -> Response:
    """Stream the events of every run as they happen, from now on or after `since`. Prompts are for operators."""
    kinds = frozenset(parse_kinds(kind))
    name, render = choose_stream_name_and_render(with_prompts=can_read_prompts())
    after = read_resume_position(request.headers, since)
    return streams.create_stream_response(ALL, *build_name_and_filtered_render(kinds, name, render), after)


@router.get(
    "/samples/stream",
    response_class=Response,
    responses=build_stream_responses(
        "Messages with the sample's seq as id, its kind as event and its JSON as data. While a "
        "client is connected, engines and GPUs are sampled once a second."
    ),
)
@viewers
@declare_example(query={"kind": "engine.sample"})
def stream_samples(
    streams: TheStreams,
    request: Request,
    kind: Annotated[
        str | None,
        Query(max_length=200, description=f"Only these kinds, separated by commas: {', '.join(SAMPLE_KINDS)}."),
    ] = None,
    since: Since = None,
    _last: Last = None,
) -> Response:
    """Stream samples of engines and GPUs as they are read, from now on or after `since`, for the last six hours."""
    kinds = frozenset(() if kind is None else (_require_sample_kind(one.strip()) for one in kind.split(",")))
    after = read_resume_position(request.headers, since)
    return streams.create_stream_response(MACHINE, *build_name_and_filtered_render(kinds, "json", as_messages), after)


def _require_sample_kind(kind: str) -> str:
    if kind not in SAMPLE_KINDS:
        said = f"There is no kind of sample {kind[:40]!a}. The kinds are {', '.join(SAMPLE_KINDS)}."
        raise Problem("invalid", said, field="kind")
    return kind
