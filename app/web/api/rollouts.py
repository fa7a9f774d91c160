"""Rollouts: start, follow, pause, resume and stop them, and download their evidence."""

import asyncio
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Path as InPath
from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BeforeValidator, Field, WithJsonSchema

from app.events.kinds import RolloutOrdered
from app.evidence.notary import open_notary
from app.evidence.rollout_bundle import FILE, MEDIA_TYPE
from app.people.rights import operators, viewers
from app.runs.order import LONGEST
from app.runs.rollout.named_host_groups_and_selection import LONGEST_WORDS, select_hosts
from app.runs.rollout.rollout_request import (
    MOST_AT_ONCE,
    USUAL_WAVES,
    RolloutSpec,
    RolloutTerms,
    create_rollout_request,
)
from app.runs.rollout.rollout_state import HostPart, RolloutState
from app.runs.rollout.rollout_submission_and_commands import command_rollout, create_random_rollout_id, submit_rollout
from app.store import rollouts
from app.store.host_groups import read_groups
from app.store.rollouts import RolloutRow
from app.store.session_shared_within_request import open_read_session
from app.web.api.api_model import ApiModel, Limit, Time, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.events import SEQ, as_messages, build_stream_responses
from app.web.api.evidence import identify_requester
from app.web.api.idempotency import REPLAY, TheKeys
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, Problem, build_problem_responses
from app.web.api.run_commands import CommandRequest, TheCommandRequest
from app.web.api.run_order_models import RunOrder
from app.web.api.runs import Key
from app.web.deps import TheRolloutFolds, TheRuntime, TheSession, TheStreams
from app.web.stream.resume_position import read_resume_position
from app.web.url_paths import path_to

router = api_router("rollouts")

RolloutId = Annotated[str, InPath(alias="rollout", max_length=40)]
RolloutWord = Literal["running", "paused", "stopping", "finished", "stopped"]


Words = Annotated[
    str,
    BeforeValidator(lambda given: ",".join(map(str, given)) if isinstance(given, list) else given),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""Words as a list or as one text; a word has no comma."""


class RolloutOrder(RunOrder):
    host: str = declare_field_with_unchecked_bounds(
        default="", maxLength=LONGEST["host"], description="Leave this out: `hosts` selects the hosts."
    )
    hosts: Words = declare_field_with_unchecked_bounds(
        maxLength=LONGEST_WORDS,
        examples=["web,db*", ["web", "db*"]],
        description="Names, patterns, groups, or all: a list, or one text separated by commas.",
    )
    at_once: int = declare_field_with_unchecked_bounds(default=8, minimum=1, maximum=MOST_AT_ONCE)
    waves: Words = declare_field_with_unchecked_bounds(
        default=USUAL_WAVES,
        maxLength=200,
        examples=["1,10%,rest", ["1", "10%", "rest"]],
        description="Hosts per wave: numbers, percentages of all hosts, and rest; a list, or one text.",
    )
    harmed: int = declare_field_with_unchecked_bounds(
        default=1, minimum=0, maximum=1000, description="Pause after this many harmed hosts; 0 means never."
    )
    escalated: float = declare_field_with_unchecked_bounds(
        default=100.0,
        minimum=0,
        maximum=100,
        description="Pause if more than this percentage of findings was escalated.",
    )


class RolloutLinks(ApiModel):
    self: str
    stream: str
    evidence: str = Field(description="Address of the evidence; it returns 409 until the rollout has ended.")
    page: str


class RolloutView(ApiModel):
    id: str
    state: RolloutWord
    hosts: int
    words: str = Field(description="Text that selected the hosts.")
    skill: str
    mode: str = Field(description="Mode of the runs; empty if each host uses its default mode.")
    simulated: bool
    note: str
    by: str
    reason: str = Field(description="Why the rollout is paused or was stopped.")
    asked_at: Time
    ended_at: Time | None
    links: RolloutLinks


class RolloutList(ApiModel):
    rollouts: list[RolloutView]


class HostPartView(ApiModel):
    host: str
    wave: int
    run: str | None
    state: str = Field(description="waiting, at work, left, or the final state of its run.")
    findings: int
    passed: int
    escalated: int
    rolled_back: int
    harm: str = Field(description="What the run made worse on the host, or why it could not continue.")


class RolloutStanding(RolloutView):
    waves: list[int]
    at_once: int
    asks: bool = Field(description="Paused by its limits; a person decides whether to resume it.")
    done: int = Field(description="Hosts whose runs have ended.")
    parts: list[HostPartView]


class AcceptedRollout(ApiModel):
    id: str
    hosts: int
    links: RolloutLinks


_ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the rollout."}, **REPLAY}}
}


@router.post(
    "/rollouts",
    status_code=202,
    responses={**build_problem_responses("unknown-host", "unknown-rule", "key-in-flight", *BODY_PROBLEMS), **_ACCEPTED},
)
@operators
@declare_example(
    {"hosts": ["fixture-2", "fixture-3"], "waves": ["1", "rest"], "rules": ["V-257985"], "mode": "auto"},
    headers={"Idempotency-Key": "weekly-2026-11-26"},
)
async def start_rollout(
    order: RolloutOrder, runtime: TheRuntime, keys: TheKeys, response: Response, key: Key = None
) -> AcceptedRollout:
    """Harden many hosts in waves. Each host gets a run of its own; all hosts are checked before any run starts."""
    rollout = await keys.find_made(key, order, response, prefix="rollout ")
    if rollout is None:
        request = await asyncio.to_thread(_build_rollout_request, order, runtime)
        async with keys.claim(key, order, create_random_rollout_id(), response, prefix="rollout ") as claimed:
            rollout = claimed.id
            await asyncio.to_thread(submit_rollout, runtime.database, request, rollout)
    row = await asyncio.to_thread(_read_required_rollout, runtime, rollout)
    accepted = AcceptedRollout(id=rollout, hosts=row.hosts, links=_create_rollout_links(rollout))
    response.headers["location"] = accepted.links.self
    return accepted


@router.get("/rollouts", responses=build_problem_responses())
@viewers
def list_rollouts(session: TheSession, limit: Limit = 50) -> RolloutList:
    """List rollouts, newest first."""
    return RolloutList(rollouts=[_to_rollout_view(row) for row in rollouts.list_newest_rollouts(session, limit)])


@router.get("/rollouts/{rollout}", responses=build_problem_responses("not-found"))
@viewers
def show_rollout(rollout: RolloutId, session: TheSession, folds: TheRolloutFolds) -> RolloutStanding:
    """Show a rollout with the state of each host."""
    row = rollouts.require_rollout(session, rollout)
    return _to_rollout_standing(row, folds.read_current(session, rollout))


_COMMAND_PROBLEMS = build_problem_responses("not-found", "wrong-state")


@router.post("/rollouts/{rollout}/pause", status_code=202, responses=_COMMAND_PROBLEMS)
@operators
@declare_example({"reason": "maintenance", "by": "ops"})
def pause_rollout(rollout: RolloutId, runtime: TheRuntime, wish: TheCommandRequest = None) -> RolloutView:
    """Pause a rollout: no further host starts, and its runs pause, each after the change in progress."""
    return _command_rollout(runtime, rollout, "pause", wish)


@router.post("/rollouts/{rollout}/resume", status_code=202, responses=_COMMAND_PROBLEMS)
@operators
@declare_example({"reason": "maintenance", "by": "ops"})
def resume_rollout(rollout: RolloutId, runtime: TheRuntime, wish: TheCommandRequest = None) -> RolloutView:
    """Resume a rollout. The limits that paused it count from zero again."""
    return _command_rollout(runtime, rollout, "resume", wish)


@router.post("/rollouts/{rollout}/stop", status_code=202, responses=_COMMAND_PROBLEMS)
@operators
@declare_example({"reason": "maintenance", "by": "ops"})
def stop_rollout(rollout: RolloutId, runtime: TheRuntime, wish: TheCommandRequest = None) -> RolloutView:
    """Stop a rollout: no further host starts, and its runs stop; a change in progress is undone."""
    return _command_rollout(runtime, rollout, "stop", wish)


@router.get(
    "/rollouts/{rollout}/stream",
    response_class=Response,
    responses=build_stream_responses(
        "Live events of the rollout itself; each of its runs has its own stream.", "not-found"
    ),
)
@viewers
def stream_rollout(
    rollout: RolloutId,
    runtime: TheRuntime,
    streams: TheStreams,
    request: Request,
    since: Annotated[str | None, Query(json_schema_extra={"pattern": SEQ})] = None,
) -> Response:
    """Stream the events of a rollout as they happen."""
    _read_required_rollout(runtime, rollout)
    after = read_resume_position(request.headers, since) or 0
    return streams.create_stream_response(rollout, "json", as_messages, after)


@router.get(
    f"/rollouts/{{rollout}}/{FILE}",
    response_class=Response,
    responses={**build_problem_responses("not-found", "wrong-state"), 200: {"content": {MEDIA_TYPE: {}}}},
)
@operators
def take_rollout_evidence(rollout: RolloutId, runtime: TheRuntime) -> Response:
    """Download the evidence.zip of each run, the rollout's own log and an index. The bytes are reproducible."""
    row = _read_required_rollout(runtime, rollout)
    if row.ended_at is None:
        raise Problem("wrong-state", f"Rollout {rollout} is {row.state}. Its evidence is available when it has ended.")
    archive = open_notary(runtime.settings.data, runtime.database).issue_bundle(rollout, identify_requester())
    headers = {
        "content-disposition": f'attachment; filename="rollout-{rollout}-{FILE}"',
        "content-length": str(archive.archive_size),
        "etag": f'"{archive.get_sha256("manifest.json")[:32]}"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }
    return StreamingResponse(archive.stream_archive_and_close(), media_type=MEDIA_TYPE, headers=headers)


def _read_required_rollout(runtime: TheRuntime, rollout: str) -> RolloutRow:
    """Return a rollout, or raise Rejected. Opens its own session, for streams, which must not hold one."""
    with open_read_session(runtime.database) as session:
        return rollouts.require_rollout(session, rollout)


def _build_rollout_request(order: RolloutOrder, runtime: TheRuntime) -> RolloutOrdered:
    if order.host:
        raise Problem("invalid", "Give the hosts of a rollout in `hosts`.", field="host")
    with open_read_session(runtime.database) as session:
        hosts = select_hosts(order.hosts, runtime.settings.hosts_folder, read_groups(session))
    wanted = RolloutSpec(
        order=order.to_order(runtime.settings.speed),
        hosts=hosts,
        words=order.hosts,
        terms=msgspec.convert(order, RolloutTerms, from_attributes=True),
    )
    return create_rollout_request(wanted, runtime.lineup, runtime.settings.hosts_folder)


def _command_rollout(
    runtime: TheRuntime, rollout: str, verb: str, command_request: CommandRequest | None
) -> RolloutView:
    command_request = command_request or CommandRequest()
    command_rollout(
        runtime.database, rollout, verb, by=command_request.signed_in_or_given_name, reason=command_request.reason
    )
    return _to_rollout_view(_read_required_rollout(runtime, rollout))


def _create_rollout_links(rollout: str) -> RolloutLinks:
    return RolloutLinks(
        self=path_to("show_rollout", rollout=rollout),
        stream=path_to("stream_rollout", rollout=rollout),
        evidence=path_to("take_rollout_evidence", rollout=rollout),
        page=path_to("rollout", rollout=rollout),
    )


def _to_rollout_view(row: RolloutRow) -> RolloutView:
    return RolloutView.from_source(row, links=_create_rollout_links(row.id))


def _to_rollout_standing(row: RolloutRow, state: RolloutState) -> RolloutStanding:
    return RolloutStanding.from_source(
        row,
        links=_create_rollout_links(row.id),
        waves=state.asked.waves if state.asked else (),
        at_once=state.asked.at_once if state.asked else 0,
        asks=state.is_paused_by_rule,
        done=sum(part.is_over for part in state.parts.values()),
        parts=[_to_host_part_view(part) for part in state.parts.values()],
    )


def _to_host_part_view(part: HostPart) -> HostPartView:
    harm = part.left or (part.ended.harm if part.ended else "")
    counts = {name: getattr(part.ended, name, 0) for name in ("findings", "passed", "escalated", "rolled_back")}
    return HostPartView.from_source(part, run=part.run or None, state=part.status_word, harm=harm, **counts)
