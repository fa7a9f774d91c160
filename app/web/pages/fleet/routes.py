"""The fleet pages: overview, rollout, host and rule, and the forms for rollouts."""

from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from sqlmodel import Session
from starlette.responses import RedirectResponse, Response

from app.people.rights import operators, signed, viewers
from app.runs.rollout.asked import Rollout, asked_of
from app.runs.rollout.chosen import chosen
from app.runs.rollout.command import ask_for, handle_rollout, new_rollout_id
from app.store.groups import groups
from app.store.held import asking
from app.store.rollouts import RolloutRow
from app.store.standing import StandingRow, cell, cells_of, standings_of
from app.web.addresses import path_to
from app.web.deps import TheRuntime, TheSession, TheStreams
from app.web.pages.fleet.board import only_of, titles
from app.web.pages.fleet.fleet import Fleet, FleetWatch
from app.web.pages.fleet.picture import LETTERS, SHOWN, SORTS, WORDS, Sought, by_trouble, sifted, totals
from app.web.pages.order_form import Fields, order_of, terms_of
from app.web.pages.refused import refusal
from app.web.pages.runs import MODES
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

router = APIRouter(include_in_schema=False)

BY = "operator on this page"
USUAL_MODE = "usual"
"""Selects the default mode of each host: auto on the built-in host, review on others."""
A_PAGE = 100
"""Hosts per page of the table."""
Words = Annotated[str, Query(max_length=200)]
Place = Annotated[str, Query(max_length=300)]


def _sought(
    skill: Words = "",
    sort: Words = "alarm",
    show: Words = "",
    q: Words = "",
    columns: Words = "rule",
    table: Annotated[bool, Query()] = False,
    number: Annotated[int, Query(alias="page", ge=1, le=10_000)] = 1,
) -> Sought:
    return Sought(skill, sort, show, q, columns, table, number)


AsAsked = Annotated[Sought, Depends(_sought)]


def _fleet(request: Request) -> Fleet:
    fleet: Fleet = request.app.state.fleet
    return fleet


@router.get("/fleet", name="fleet")
@viewers
def whole_fleet(request: Request, session: TheSession, sought: AsAsked) -> Response:
    return _shown(request, session, sought, None)


@router.get("/fleet/stream")
@viewers
def fleet_stream(
    request: Request,
    streams: TheStreams,
    skill: Words,
    rollout: Words = "",
    since: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Stream the fleet page. `since` is the epoch and version of the page; another process's epoch counts as 0."""
    fleet = _fleet(request)
    epoch, _, version = since.partition(".")
    known = int(version) if version.isdigit() and epoch == fleet.as_read(skill).epoch else 0
    return streams.watch_live(FleetWatch(fleet.live(skill, rollout), known))


@router.get("/fleet/cell", name="fleet_cell")
@viewers
def one_cell(session: TheSession, host: Place, rule: Place, skill: Words) -> Response:
    """Redirect to the item of the run that set this cell, or to the host's page."""
    row = session.get(StandingRow, (host, skill))
    found = cell(cells_of(row).get(rule)) if row else cell(None)
    there = path_to("run_item", run=found.run, rule=rule) if found.run else path_to("fleet_host", host=host)
    return RedirectResponse(there, status_code=303)


@router.get("/fleet/hosts/{host}", name="fleet_host")
@viewers
def one_host(request: Request, session: TheSession, host: str, skill: Words = "") -> Response:
    fleet = _fleet(request)
    name, skills = fleet.skill(session, skill)
    board, row = fleet.board(session, name), session.get(StandingRow, (host, name))
    line = board.lines.get(host)
    if line is None:
        return refusal(f"There is no host {host[:64]!a}: /fleet shows those that are there.", 404)
    told, named = cells_of(row) if row else {}, titles(name)
    cells = [(rule, named.get(rule, ""), cell(told.get(rule))) for rule in board.columns if rule in told]
    context = {"line": line, "cells": cells, "sums": totals([line]), "skill": name, "skills": skills, "words": WORDS}
    nonce = new_nonce()
    return page(rendered("fleet_host.html", nonce=nonce, here="fleet", **context), nonce)


@router.get("/fleet/rules/{rule}", name="fleet_rule")
@viewers
def one_rule(request: Request, session: TheSession, rule: str, skill: Words = "") -> Response:
    fleet = _fleet(request)
    name, skills = fleet.skill(session, skill)
    board = fleet.board(session, name)
    if rule not in board.columns:
        return refusal(f"No host was looked at for {rule[:128]!a} yet: /fleet shows what is known.", 404)
    told = {row.host: cell(cells_of(row).get(rule)) for row in standings_of(session, name)}
    turn = {letter: place for place, letter in enumerate(WORDS)}
    cells = sorted(told.items(), key=lambda one: (turn[one[1].letter], one[0]))
    title = titles(name).get(rule, "")
    sums = {letter: sum(one.letter == letter for one in told.values()) for letter in WORDS}
    context = {"rule": rule, "title": title, "cells": cells, "sums": sums, "skill": name, "skills": skills}
    nonce = new_nonce()
    return page(rendered("fleet_rule.html", nonce=nonce, here="fleet", words=WORDS, **context), nonce)


@router.post("/fleet", name="fleet")
@operators
def start_rollout(runtime: TheRuntime, fields: Fields) -> Response:
    words = fields.get("hosts", "")
    with asking(runtime.database) as session:
        hosts = chosen(words, runtime.settings.hosts, groups(session))
    said = {name: value for name, value in fields.items() if (name, value) != ("mode", USUAL_MODE)}
    order = order_of(said, by=signed(BY), pace=runtime.settings.speed)
    wanted = Rollout(
        order=replace(order, note=fields.get("note", "")),
        hosts=hosts,
        words=words,
        terms=terms_of(fields),
    )
    rollout = new_rollout_id()
    ask_for(runtime.database, asked_of(wanted, runtime.lineup, runtime.settings.hosts), rollout)
    return RedirectResponse(path_to("rollout", rollout=rollout), status_code=303)


@router.get("/fleet/{rollout}", name="rollout")
@viewers
def one_rollout(request: Request, session: TheSession, rollout: str, sought: AsAsked) -> Response:
    row = session.get(RolloutRow, rollout)
    if row is None:
        return refusal(f"There is no rollout {rollout[:40]!a}: /fleet names those that are there.", 404)
    return _shown(request, session, replace(sought, skill=row.skill), row)


@router.post("/fleet/{rollout}", name="rollout")
@operators
def handle(request: Request, runtime: TheRuntime, rollout: str, fields: Fields) -> Response:
    by, reason = signed(BY), fields.get("reason", "")
    handle_rollout(runtime.database, rollout, fields.get("verb", ""), by=by, reason=reason)
    back = request.headers.get("referer", "")
    from_a_list = (place for place in (path_to("ops"), path_to("fleet")) if back.endswith(place))
    there = next(from_a_list, path_to("rollout", rollout=rollout))
    return RedirectResponse(there, status_code=303)


def _shown(request: Request, session: Session, sought: Sought, row: RolloutRow | None) -> Response:
    fleet = _fleet(request)
    name, skills = fleet.skill(session, sought.skill)
    rollout = row.id if row else ""
    parts = fleet.parts(session, name, rollout)
    board, grouped = fleet.as_read(name), groups(session)
    hosts = list(fleet.rollout(session, rollout).parts) if row else list(board.lines)
    lines = sifted(only_of(board.lines, hosts), sought, grouped)
    order = by_trouble(lines, board.columns) if sought.columns == "open" else list(range(len(board.columns)))
    nonce, version = new_nonce(), f"{board.epoch}.{board.version}"
    context = {
        "row": row,
        "parts": parts,
        "sought": sought,
        "skill": name,
        "skills": skills,
        "lines": lines,
        "of": len(hosts),
        "columns": board.columns,
        "order": order,
        "shown": lines[(sought.page - 1) * A_PAGE : sought.page * A_PAGE],
        "pages": -(-len(lines) // A_PAGE),
        "stream": f"{path_to('fleet_stream')}?" + urlencode({"skill": name, "rollout": rollout, "since": version}),
        "here_as": lambda **other: _address(rollout, sought, **other),
        "groups": grouped,
        "simulated": any(line.simulated for line in lines),
    }
    choices = {"sorts": SORTS, "shows": SHOWN, "words": WORDS, "letters": LETTERS, "modes": MODES}
    return page(rendered("fleet.html", nonce=nonce, here="fleet", **context, **choices), nonce)


def _address(rollout: str, sought: Sought, **other: object) -> str:
    usual = Sought()
    said = {name: other.get(name, value) for name, value in vars(sought).items()}
    kept = {
        name: value
        for name, value in said.items()
        if value != getattr(usual, name) and not (rollout and name == "skill")
    }
    if "table" in kept:
        kept["table"] = "1"
    place = path_to("rollout", rollout=rollout) if rollout else path_to("fleet")
    return place + (f"?{urlencode(kept)}" if kept else "")
