"""The fleet pages: overview, rollout, host and rule, and the forms for rollouts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from sqlmodel import Session
from starlette.responses import RedirectResponse, Response

from app.people.rights import get_name_to_record, operators, viewers
from app.runs.rollout.named_host_groups_and_selection import select_hosts
from app.runs.rollout.rollout_request import RolloutSpec, create_rollout_request
from app.runs.rollout.rollout_submission_and_commands import command_rollout, create_random_rollout_id, submit_rollout
from app.runtime.health_reading import NO_RUN, read_faults
from app.store.host_groups import read_groups
from app.store.host_rule_states import StandingRow, decode_encoded_cells_by_rule, list_standings, parse_cell
from app.store.rollouts import RolloutRow
from app.store.session_shared_within_request import open_read_session
from app.syntax.host_text import parse_natural_number
from app.web.deps import TheRuntime, TheSession, TheStreams, Words, create_state_dependency
from app.web.pages.changes_since_visit import LastLook, TheLastLook
from app.web.pages.error_pages import render_error_page
from app.web.pages.fleet import grid
from app.web.pages.fleet.fleet_cache import read_rule_titles, select_lines_or_blanks
from app.web.pages.fleet.fleet_page import Fleet, FleetViewer
from app.web.pages.form_field_readers import Fields
from app.web.pages.health_watch import HealthWatch, render_health
from app.web.pages.inbox import TheInboxWatch
from app.web.pages.order_form_parser import parse_order_form, parse_terms_form
from app.web.pages.start_run import FORM_PERSON, MODE_CHOICES
from app.web.pages.templating import render_page
from app.web.url_paths import path_to, redirect_back, redirect_to

router = APIRouter(include_in_schema=False)

A_PAGE = 100
"""Hosts per page of the table."""
Place = Annotated[str, Query(max_length=300)]


AsAsked = Annotated[grid.FleetQuery, Depends()]
TheFleet = Annotated[Fleet, Depends(create_state_dependency("fleet"))]
TheHealth = Annotated[HealthWatch, Depends(create_state_dependency("health"))]


@router.get("/fleet", name="fleet")
@viewers
def show_fleet(fleet: TheFleet, session: TheSession, sought: AsAsked, last_look: TheLastLook) -> Response:
    return _render_fleet(fleet, session, sought, None, last_look)


@router.get("/fleet/stream", name="fleet_stream")
@viewers
def stream_fleet(
    fleet: TheFleet,
    streams: TheStreams,
    health: TheHealth,
    watch: TheInboxWatch,
    skill: Words,
    rollout: Words = "",
    since: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Stream the fleet page. `since` is the epoch and version of the page; another process's epoch counts as 0."""
    known = parse_known_version(since, fleet.get_last_read_or_empty_board(skill).epoch)
    live = FleetViewer(fleet.open_stream(skill, rollout), known)
    return streams.create_live_response(live, [health.create_run_health(NO_RUN), watch])


def parse_known_version(since: str, epoch: str) -> int:
    """Return the version in EPOCH.VERSION, or 0 if it is none of this epoch."""
    known_epoch, _, version = since.partition(".")
    return (parse_natural_number(version) or 0) if known_epoch == epoch else 0


@router.get("/fleet/cell", name="fleet_cell")
@viewers
def redirect_to_cell_item(session: TheSession, host: Place, rule: Place, skill: Words) -> Response:
    """Redirect to the item of the run that set this cell, or to the host's page."""
    row = session.get(StandingRow, (host, skill))
    found = parse_cell(decode_encoded_cells_by_rule(row.cells).get(rule)) if row else parse_cell(None)
    if found.run:
        return RedirectResponse(path_to("run_item", run=found.run, rule=rule), status_code=303)
    asked = f"?{urlencode({'skill': skill})}" if skill else ""
    return RedirectResponse(path_to("fleet_host", host=host) + asked, status_code=303)


@router.get("/fleet/hosts/{host}", name="fleet_host")
@viewers
def show_fleet_host(fleet: TheFleet, session: TheSession, host: str, skill: Words = "") -> Response:
    name, skills = fleet.require_skill_and_choices(session, skill)
    board, row = fleet.refresh_board(session, name), session.get(StandingRow, (host, name))
    line = board.lines.get(host)
    if line is None:
        return render_error_page(f"There is no host {host[:64]!a}: /fleet lists the hosts.", 404)
    told, named = decode_encoded_cells_by_rule(row.cells) if row else {}, read_rule_titles(name)
    cells = [(rule, named.get(rule, ""), parse_cell(told.get(rule))) for rule in board.columns if rule in told]
    return render_page(
        "fleet_host.html",
        here="fleet",
        words=grid.WORDS,
        line=line,
        cells=cells,
        sums=grid.count_cells([line]),
        skill=name,
        skills=skills,
    )


@router.get("/fleet/rules/{rule}", name="fleet_rule")
@viewers
def show_fleet_rule(fleet: TheFleet, session: TheSession, rule: str, skill: Words = "") -> Response:
    name, skills = fleet.require_skill_and_choices(session, skill)
    board = fleet.refresh_board(session, name)
    if rule not in board.columns:
        return render_error_page(f"No host was scanned for {rule[:128]!a} yet: /fleet shows the known results.", 404)
    told = {
        row.host: parse_cell(decode_encoded_cells_by_rule(row.cells).get(rule)) for row in list_standings(session, name)
    }
    turn = {letter: place for place, letter in enumerate(grid.WORDS)}
    cells = sorted(told.items(), key=lambda one: (turn[one[1].letter], one[0]))
    title = read_rule_titles(name).get(rule, "")
    sums = {letter: sum(one.letter == letter for one in told.values()) for letter in grid.WORDS}
    return render_page(
        "fleet_rule.html",
        here="fleet",
        words=grid.WORDS,
        rule=rule,
        title=title,
        cells=cells,
        sums=sums,
        skill=name,
        skills=skills,
    )


@router.post("/fleet", name="fleet")
@operators
def submit_rollout_form(runtime: TheRuntime, fields: Fields) -> Response:
    words = fields.get("hosts", "")
    with open_read_session(runtime.database) as session:
        hosts = select_hosts(words, runtime.settings.hosts_folder, read_groups(session))
    order = parse_order_form(fields, by=get_name_to_record(FORM_PERSON), pace=runtime.settings.speed)
    wanted = RolloutSpec(
        order=replace(order, note=fields.get("note", "")), hosts=hosts, words=words, terms=parse_terms_form(fields)
    )
    request = create_rollout_request(wanted, runtime.lineup, runtime.settings.hosts_folder)
    submit_rollout(runtime.database, request, rollout := create_random_rollout_id())
    return redirect_to("rollout", rollout=rollout)


@router.get("/fleet/{rollout}", name="rollout")
@viewers
def show_rollout(fleet: TheFleet, session: TheSession, rollout: str, sought: AsAsked) -> Response:
    row = session.get(RolloutRow, rollout)
    if row is None:
        return render_error_page(f"There is no rollout {rollout[:40]!a}: /fleet lists the rollouts.", 404)
    return _render_fleet(fleet, session, replace(sought, skill=row.skill), row)


@router.post("/fleet/{rollout}", name="rollout")
@operators
def submit_rollout_command(request: Request, runtime: TheRuntime, rollout: str, fields: Fields) -> Response:
    by, reason = get_name_to_record(FORM_PERSON), fields.get("reason", "")
    command_rollout(runtime.database, rollout, fields.get("verb", ""), by=by, reason=reason)
    return redirect_back(request, ("ops", "fleet", "inbox"), path_to("rollout", rollout=rollout))


def _render_fleet(
    fleet: Fleet,
    session: Session,
    fleet_query: grid.FleetQuery,
    rollout_row: RolloutRow | None,
    last_look: LastLook | None = None,
) -> Response:
    rollout = rollout_row.id if rollout_row else ""
    if rollout_row:
        name, skills = rollout_row.skill, [rollout_row.skill]
    else:
        name, skills = fleet.require_skill_and_choices(session, fleet_query.skill)
    parts = fleet.render_parts(session, name, rollout)
    board, grouped = fleet.get_last_read_or_empty_board(name), read_groups(session)
    hosts = list(fleet.read_rollout_state(session, rollout).parts) if rollout_row else list(board.lines)
    lines = grid.filter_and_sort_lines(select_lines_or_blanks(board.lines, hosts), fleet_query, grouped)
    order: Sequence[int] = range(len(board.columns))
    if fleet_query.columns == "open":
        order = grid.order_column_indexes_by_trouble(lines, board.columns)
    version = f"{board.epoch}.{board.version}"
    return render_page(
        "fleet.html",
        here="fleet",
        row=rollout_row,
        last_look=last_look,
        parts=parts,
        sought=fleet_query,
        skill=name,
        skills=skills,
        lines=lines,
        of=len(hosts),
        columns=board.columns,
        order=order,
        shown=lines[(fleet_query.page - 1) * A_PAGE : fleet_query.page * A_PAGE],
        pages=-(-len(lines) // A_PAGE),
        health=render_health(read_faults(fleet.runtime)),
        stream=f"{path_to('fleet_stream')}?" + urlencode({"skill": name, "rollout": rollout, "since": version}),
        here_as=lambda **other: _build_fleet_address(rollout, fleet_query, **other),
        groups=grouped,
        simulated=any(line.simulated for line in lines),
        sorts=grid.SORTS,
        shows=grid.SHOWN,
        words=grid.WORDS,
        letters=grid.LETTERS,
        modes=MODE_CHOICES,
    )


def _build_fleet_address(rollout: str, fleet_query: grid.FleetQuery, **other: object) -> str:
    usual = grid.FleetQuery()
    said = {name: other.get(name, value) for name, value in vars(fleet_query).items()}
    kept = {
        name: value
        for name, value in said.items()
        if value != getattr(usual, name) and not (rollout and name == "skill")
    }
    if "table" in kept:
        kept["table"] = "1"
    place = path_to("rollout", rollout=rollout) if rollout else path_to("fleet")
    return place + (f"?{urlencode(kept)}" if kept else "")
