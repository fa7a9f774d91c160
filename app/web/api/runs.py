"""Start runs, find them and change their labels."""

from typing import Annotated

from fastapi import Header, Path, Query, Response
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session

from app.people.rights import guests, only, operators
from app.runs.labels import LONGEST_NAME, LONGEST_TAG, MOST_TAGS, label
from app.runs.order import queued
from app.runtime.runtime import Runtime, new_run_id
from app.store import queries
from app.store.held import asking
from app.store.models import RunRow
from app.store.run_list import ListPlace, Page, RunSearch, page
from app.web.api import cursor
from app.web.api.idempotency import FIELD, TheKeys
from app.web.api.order import RunOrder
from app.web.api.problem import Problem, documented
from app.web.api.route import router as api_router
from app.web.api.run_view import RunLinks, RunList, RunState, RunView, links, run_view
from app.web.api.wire import Limit, Link, Wire, stated
from app.web.deps import TheRuntime, TheSession

router = api_router("runs")

Key = Annotated[
    str | None,
    Header(
        alias=FIELD,
        min_length=1,
        max_length=255,
        pattern="^[!-~]+$",
        description="The same again is the same run, for a day.",
    ),
]


class Accepted(Wire):
    id: str
    links: RunLinks


class RunChange(Wire):
    """Fields left out stay unchanged."""

    name: Annotated[str | None, stated(maxLength=LONGEST_NAME, description="Empty takes it away.")] = None
    tags: Annotated[
        list[Annotated[str, stated(maxLength=LONGEST_TAG, examples=["nightly"])]] | None,
        stated(maxItems=MOST_TAGS, description="All of them: those that are not here are taken away."),
    ] = None


@router.post(
    "/runs",
    status_code=202,
    responses={
        **documented("unknown-rule", "key-in-flight", "too-large", "wrong-content-type", "unavailable"),
        202: {"headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the run."}}},
    },
)
@operators
async def start_run(
    order: RunOrder, runtime: TheRuntime, keys: TheKeys, response: Response, key: Key = None
) -> Accepted:
    """Start a run. It is queued at once; runs on one host execute one after the other."""
    asked = order.order(runtime.settings.speed)
    event = await run_in_threadpool(queued, asked, runtime.lineup, runtime.settings.hosts)
    if key is None:
        run = await runtime.submit(event)
    else:
        key = keys.own(key)
        async with keys.held(key):
            run, there = await keys.claim(key, order.model_dump_json().encode(), new_run_id())
            if not there:
                await runtime.submit(event, run)
    accepted = Accepted(id=run, links=links(run))
    response.headers["location"] = accepted.links.self
    return accepted


@router.get("/runs", responses=documented("bad-cursor"))
@guests
def list_runs(
    session: TheSession,
    cursor_: Annotated[str | None, Query(alias="cursor", max_length=200)] = None,
    state: RunState | None = None,
    host: Annotated[str | None, Query(max_length=200, description="Of this host alone.")] = None,
    tag: Annotated[str | None, Query(max_length=LONGEST_TAG, description="With this tag.")] = None,
    q: Annotated[
        str, Query(max_length=200, description="Words that stand in its id, name, tags, host, skill, mode or note.")
    ] = "",
    limit: Limit = 50,
) -> RunList:
    """List runs, newest first."""
    place = cursor.parse(cursor_) if cursor_ is not None else None
    search = RunSearch(state, host, tag, q, only())
    found = page(session, search, ListPlace(place.forward, place.at, place.id) if place else None, limit)
    return RunList(runs=[run_view(row) for row in found.rows], cursors=_link(found))


@router.get("/runs/{run}", responses=documented("not-found"))
@guests
def show_run(run: str, session: TheSession) -> RunView:
    return run_view(the_run(session, run))


@router.patch("/runs/{run}", responses=documented("not-found", "too-large", "wrong-content-type"))
@operators
def change_run(run: Annotated[str, Path(max_length=40)], change: RunChange, session: TheSession) -> RunView:
    """Set a run's name and tags, also after it has ended. Its log and papers stay unchanged."""
    row = the_run(session, run)
    label(row, change.name, change.tags)
    session.add(row)
    return run_view(row)


def the_run(session: Session, run: str) -> RunRow:
    row = queries.run(session, run)
    if row is None:
        raise no_run(run)
    return row


def no_run(run: str) -> Problem:
    return Problem("not-found", f"There is no run {run[:40]!a}: GET /api/v1/runs lists them.", field="run")


def known_run(runtime: Runtime, run: str) -> RunRow:
    """Return a run, or raise Problem. Opens its own session, for streams, which must not hold one."""
    with asking(runtime.database) as session:
        return the_run(session, run)


def _link(found: Page) -> Link:
    first, last = (found.rows[0], found.rows[-1]) if found.rows else (None, None)
    return Link(
        next=_cursor(last, forward=True) if found.more_after else None,
        previous=_cursor(first, forward=False) if found.more_before else None,
    )


def _cursor(row: RunRow | None, *, forward: bool) -> str | None:
    return str(cursor.Cursor(forward, row.queued_at, row.id)) if row else None
