"""The search behind the command palette: one address, as a page of its own and as the palette's list of results."""

from collections.abc import Iterator, Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query
from sqlmodel import Session
from starlette.responses import HTMLResponse, Response

from app.people.rights import WHO, Person, can_see_run, get_visible_runs_or_none_for_all, guests
from app.runs.open_decision_reader import DecisionReader
from app.store import run_queries
from app.store.models import RunRow
from app.store.run_list_pages import read_run_page
from app.web.deps import TheDecisions, TheFolds, TheSession, Words, create_state_dependency
from app.web.pages.fleet.fleet_cache import read_rule_titles
from app.web.pages.fleet.fleet_page import Fleet
from app.web.pages.inbox import to_inbox_address
from app.web.pages.palette_destinations import (
    SHOWN,
    Destination,
    DestinationGroup,
    list_actions,
    list_pages,
    search_groups,
)
from app.web.pages.search_within_run import build_item_line, find_run_skill
from app.web.pages.templating import format_day_and_time, render_page, render_template_to_text
from app.web.stream.fold_cache import RunStateCache
from app.web.url_paths import path_to

router = APIRouter(include_in_schema=False)

MOST_ACTED_ON = 8
"""Runs in progress that the actions name."""


@router.get("/find", name="find")
@guests
def search_destinations(
    session: TheSession,
    folds: TheFolds,
    fleet: Annotated[Fleet, Depends(create_state_dependency("fleet"))],
    decisions: TheDecisions,
    q: Words = "",
    run: Annotated[str, Query(max_length=40)] = "",
    part: bool = False,
) -> Response:
    """Find what this person may see and do. `run`: the run on the reader's page, whose items are searched."""
    person = WHO.get()
    assert person  # `guests` lets nobody else in
    groups = [*_iterate_groups_for_everybody(session, folds, person, q, run)]
    if person.runs is None:
        groups += _iterate_unfiltered_groups_for_signed_in(session, fleet, decisions, q)
    found = search_groups(groups, q)
    if part:
        html = render_template_to_text("partials/_found.html", groups=found)
        return HTMLResponse(html, headers={"cache-control": "no-store"})
    return render_page("find.html", q=q, groups=found)


def _iterate_groups_for_everybody(
    session: Session, folds: RunStateCache, person: Person, query: str, run: str
) -> Iterator[DestinationGroup]:
    unended = run_queries.list_unended_runs(session)[:MOST_ACTED_ON] if person.runs is None else []
    yield DestinationGroup("Actions", list_actions(person, unended))
    yield DestinationGroup("Pages", list_pages(person))
    rows = read_run_page(session, {"q": query}, None, SHOWN, get_visible_runs_or_none_for_all()).rows
    yield DestinationGroup("Runs", [_to_run_destination(row) for row in rows])
    shown = run_queries.find_run(session, run) if run and can_see_run(run) else None
    newest = shown or next(
        iter(run_queries.list_newest_runs(session, 1, allowed_run_ids=get_visible_runs_or_none_for_all())), None
    )
    if newest and query:
        yield DestinationGroup("Items", _list_item_destinations(folds, newest))


def _iterate_unfiltered_groups_for_signed_in(
    session: Session, fleet: Fleet, decisions: DecisionReader, query: str
) -> Iterator[DestinationGroup]:
    """Yield what a shared link does not show."""
    waiting = decisions.list_decisions()
    yield DestinationGroup("Decisions", [Destination(one.title, to_inbox_address(one), one.why) for one in waiting])
    if not query:
        return
    usual, skills = fleet.require_skill_and_choices(session, "")
    boards = {skill: fleet.refresh_board(session, skill) for skill in skills}
    hosts = [
        Destination(line.host, path_to("fleet_host", host=line.host), line.alarm or line.state)
        for line in boards[usual].lines.values()
    ]
    yield DestinationGroup("Hosts", hosts)
    rules = []
    for skill, board in boards.items():
        titles, asked = read_rule_titles(skill), urlencode({"skill": skill})
        rules += [
            Destination(rule, f"{path_to('fleet_rule', rule=rule)}?{asked}", titles.get(rule, ""))
            for rule in board.columns
        ]
    yield DestinationGroup("Rules", rules)


def _to_run_destination(row: RunRow) -> Destination:
    about = f"{row.host}, {row.state}, {format_day_and_time(row.queued_at)} UTC {row.tags} {row.note}"
    return Destination(f"{row.name} {row.id}".strip(), path_to("run", run=row.id), about.strip())


def _list_item_destinations(folds: RunStateCache, row: RunRow) -> Sequence[Destination]:
    pack = find_run_skill(row)
    found = []
    for item in folds.read_current(row.id).items.values():
        about = f"{build_item_line(item, pack).title}: {item.status} in run {row.id}"
        found.append(Destination(item.rule, path_to("run_item", run=row.id, rule=item.rule), about))
    return found
