"""Streams of all runs' events and of all samples."""

from typing import Annotated, Any, get_args

from fastapi import Header, Query, Request, Response

from app.events.kinds import Sample, kind_of
from app.events.record import ALL, MACHINE
from app.people.rights import reads_prompts, viewers
from app.web.api.events import SEQ, Kinds, asked_kinds, json_messages, only_kinds
from app.web.api.problem import Problem, documented
from app.web.api.route import router as api_router
from app.web.deps import TheStreams
from app.web.stream.cursor import cursor

router = api_router("events")

SAMPLES = tuple(kind_of(event) for event in get_args(Sample))
Since = Annotated[
    str | None,
    Query(json_schema_extra={"pattern": SEQ}, description="The id of a message, after which to begin."),
]
Last = Annotated[
    str | None,
    Header(alias="Last-Event-ID", json_schema_extra={"pattern": SEQ}, description="Goes before since."),
]


def _described(said: str) -> dict[int | str, dict[str, Any]]:
    return {**documented(), 200: {"description": said, "content": {"text/event-stream": {}}}}


@router.get(
    "/stream",
    response_class=Response,
    responses=_described(
        "Messages with the event's kind as event and its JSON as data, which names run and seq. The id is a number of "
        "this stream's own: it holds for the last 4,000 events, and for this process. Who comes with an older one gets "
        "`event: reset`, and takes up each run by /runs/{run}/events, after the seq that he has of it."
    ),
)
@viewers
def stream_all_events(
    streams: TheStreams, request: Request, kind: Kinds = None, since: Since = None, _last: Last = None
) -> Response:
    """Stream the events of every run as they happen, from now on or after `since`. Prompts are for operators."""
    kinds = frozenset(asked_kinds(kind))
    render, name = json_messages(whole=reads_prompts())
    return streams.watch(ALL, *only_kinds(kinds, render, name), cursor(request.headers, since))


@router.get(
    "/samples/stream",
    response_class=Response,
    responses=_described(
        "Messages with the sample's seq as id, its kind as event and its JSON as data. While somebody watches, engines "
        "and GPUs are looked at once a second."
    ),
)
@viewers
def stream_samples(
    streams: TheStreams,
    request: Request,
    kind: Annotated[
        str | None, Query(max_length=200, description=f"Only these of {', '.join(SAMPLES)}, separated by commas.")
    ] = None,
    since: Since = None,
    _last: Last = None,
) -> Response:
    """Stream samples of engines and GPUs as they are read, from now on or after `since`, for the last six hours."""
    kinds = frozenset(() if kind is None else (_sample_kind(one.strip()) for one in kind.split(",")))
    render, name = json_messages(whole=True)
    return streams.watch(MACHINE, *only_kinds(kinds, render, name), cursor(request.headers, since))


def _sample_kind(kind: str) -> str:
    if kind not in SAMPLES:
        said = f"There is no sample of kind {kind[:40]!a}: there are {', '.join(SAMPLES)}."
        raise Problem("invalid", said, field="kind")
    return kind
