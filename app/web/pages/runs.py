"""Pages for the list of runs, the comparison of two runs, and one item of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.errors import TemperError
from app.loop.state import Item, RunState
from app.people.rights import guests, only, opens
from app.runs.labels import LONGEST_TAG
from app.skills.catalog import SHIPPED, skill
from app.store import queries
from app.store.run_list import ListPlace, RunSearch
from app.store.run_list import page as run_page
from app.targets.registry import fixtures, listed
from app.web.addresses import path_to
from app.web.deps import TheFolds, TheRuntime, TheSession
from app.web.pages.energy import energy_table
from app.web.pages.missing import known, missing
from app.web.pages.mission.item import item_page
from app.web.pages.order_form import USUAL_MODE
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

SHOWN = 50
STATES = ("queued", "running", "paused", "finished", "stopped", "failed")
MODES = (
    (USUAL_MODE, "usual: auto on the built-in host, review on others"),
    ("auto", "auto: changes at once"),
    ("review", "review: asks before each change"),
    ("dry-run", "dry-run: changes nothing, shows the diffs"),
    ("scan", "scan: only looks"),
)

router = APIRouter(include_in_schema=False)


@router.get("/runs", name="runs")
@guests
def all_runs(
    runtime: TheRuntime,
    session: TheSession,
    state: Annotated[str, Query(max_length=20)] = "",
    host: Annotated[str, Query(max_length=200)] = "",
    tag: Annotated[str, Query(max_length=LONGEST_TAG)] = "",
    q: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """List runs by the filters in the query string. `after` is the last run of the previous page."""
    last = queries.run(session, after) if after else None
    place = ListPlace(forward=True, at=last.queued_at, id=last.id) if last else None
    found = run_page(session, RunSearch(state, host, tag, q, only()), place, SHOWN)
    asked = {"state": state, "host": host, "tag": tag, "q": q}
    given = {name: value for name, value in asked.items() if value}
    hosts = (
        _hosts(runtime.settings.hosts) if only() is None else []
    )  # a shared link shows a run, not what else there is
    context = {
        "rows": found.rows,
        "asked": asked,
        "sifted": bool(given),
        "older": f"{path_to('runs')}?{urlencode(given | {'after': found.rows[-1].id})}" if found.more_after else "",
        "newest": f"{path_to('runs')}?{urlencode(given)}" if last else "",
        "states": STATES,
        "modes": MODES,
        "hosts": hosts,
        "skills": SHIPPED.names(),
    }
    nonce = new_nonce()
    return page(rendered("runs.html", nonce=nonce, here="runs", **context), nonce)


def _hosts(folder: Path) -> list[str]:
    return [*fixtures(folder), *(one.name for one in listed(folder))]


@dataclass(frozen=True)
class Pair:
    rule: str
    title: str
    left: "Side"
    right: "Side"

    @property
    def differs(self) -> bool:
        """True if both runs have decided the rule, with different outcomes."""
        return self.left.known and self.right.known and self.left.outcome != self.right.outcome

    @property
    def delta(self) -> str:
        """The change from the left run to the right, in a few words; empty if there is none."""
        if not self.differs:
            return ""
        (before, tries), (after, later) = self.left.outcome, self.right.outcome
        if before != after:
            return f"{before} → {after}"
        return f"{later - tries:+d} attempt{'s' if abs(later - tries) != 1 else ''}"


@dataclass(frozen=True)
class Side:
    """The result of one rule in one of the two runs."""

    item: Item | None
    known: bool
    """True if the run included the rule and has finished with it."""
    absent: str = ""
    """The reason that there is no item."""

    @property
    def outcome(self) -> tuple[str, int]:
        if self.item is None:
            return self.absent, 0
        return self.item.status, self.item.attempt.number if self.item.attempt else 0


@router.get("/compare")
@guests
def compare(
    runtime: TheRuntime,
    session: TheSession,
    folds: TheFolds,
    left: Annotated[str, Query(max_length=40)] = "",
    right: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    rows = [queries.run(session, one) if opens(one) else None for one in (left, right)]
    if rows[0] is None or rows[1] is None:
        return missing(session, left if rows[0] is None else right)
    pairs = _pairs(*(folds.now(row.id) for row in rows if row))
    context = {"rows": rows, "pairs": pairs, "tables": [energy_table(runtime, row) for row in rows if row]}
    nonce = new_nonce()
    html = rendered("compare.html", nonce=nonce, here="runs", headline=_headline(pairs), **context)
    return page(html, nonce)


def _headline(pairs: Sequence[Pair]) -> str:
    """Compare the numbers of rules that hold after each run, in one sentence."""
    decided = [pair for pair in pairs if pair.left.known and pair.right.known]
    if not decided:
        return "There is no rule that both runs decided"
    left, right = sum(_held(pair.left) for pair in decided), sum(_held(pair.right) for pair in decided)
    many = "as many as" if left == right else f"{abs(right - left)} {'more' if right > left else 'fewer'} than"
    return f"{right} of {len(decided)} rules hold after the second run, {many} after the first"


def _held(side: Side) -> bool:
    return side.outcome[0] in ("passed", "no finding")


def _pairs(left: RunState, right: RunState) -> list[Pair]:
    titles = _titles(left) | _titles(right)
    rules = dict.fromkeys([*left.items, *right.items])
    return [Pair(rule, titles.get(rule, ""), _side(left, rule), _side(right, rule)) for rule in rules]


def _titles(state: RunState) -> dict[str, str]:
    """Return rule titles by id; empty if the skill's content is no longer on this machine."""
    try:
        pack = skill(state.request.skill if state.request else "stig")
    except TemperError:
        return {}
    return {rule.id: rule.title for rule in pack.rules.values()}


def _side(state: RunState, rule: str) -> Side:
    if item := state.items.get(rule):
        return Side(item, known=item.status not in ("working", "waiting"))
    if state.request is None or rule not in state.request.rules:
        return Side(None, known=False, absent="not asked for")
    if state.scope is None:
        return Side(None, known=False, absent="not scanned yet")
    compliant = rule in state.scope.compliant
    return Side(None, known=True, absent="no finding" if compliant else "undecided by the scan")


@router.get("/runs/{run}/items/{rule}", name="run_item")
@guests
def one_item(runtime: TheRuntime, session: TheSession, run: str, rule: str) -> Response:
    row = known(session, run)
    return item_page(runtime, row, rule)
