"""Search pages for the items and events of a run. The query string holds the search."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.errors import TemperError
from app.loop.state import Item
from app.people.rights import guests
from app.skills.catalog import skill
from app.skills.skill import Skill
from app.store.events import EventStore
from app.store.models import RunRow
from app.web.deps import TheFolds, TheRuntime, TheSession
from app.web.pages.missing import known
from app.web.pages.mission.feed import FeedLine, feed_line
from app.web.pages.mission.missions import TOLD
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import OUTCOMES, rendered
from app.web.stream.cursor import MOST_SEQ

LINES = 200
CHUNK, MOST_CHUNKS = 500, 20
"""Events per read, and reads per request. The page says how far the search went and can continue from there."""
SIGNS = {"passed": "✓", "undone": "↺", "alarm": "!", "refused": "✗", "escalated": "▲", "deferred": "◷", "skipped": "–"}

router = APIRouter(include_in_schema=False)
Words = Annotated[str, Query(max_length=200)]


@dataclass(frozen=True)
class ItemLine:
    item: Item
    title: str
    category: str

    def says(self, words: list[str]) -> bool:
        return _says(words, f"{self.item.rule} {self.title} {self.item.reason} {self.item.status}")


@dataclass(frozen=True)
class Found:
    lines: list[FeedLine]
    before: int | None
    """The seq before which the search continues; None if it reached the start of the run."""


@router.get("/runs/{run}/items", name="run_items")
@guests
def all_items(
    session: TheSession,
    folds: TheFolds,
    run: str,
    q: Words = "",
    outcome: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    row = known(session, run)
    pack = _pack(row)
    every = [_line(item, pack) for item in folds.now(run).items.values()]
    lines = [one for one in every if outcome in ("", one.item.status) and one.says(_words(q))]
    context = {"run": row, "lines": lines, "total": len(every), "q": q, "outcome": outcome}
    nonce = new_nonce()
    return page(rendered("items.html", nonce=nonce, here="runs", outcomes=OUTCOMES, **context), nonce)


@router.get("/runs/{run}/events", name="run_events")
@guests
def all_events(
    runtime: TheRuntime,
    session: TheSession,
    run: str,
    q: Words = "",
    kind: Annotated[str, Query(max_length=20)] = "",
    before: Annotated[int | None, Query(ge=1, le=MOST_SEQ)] = None,
) -> Response:
    row = known(session, run)
    found = look(runtime.store, run, _words(q), kind, before)
    context = {"run": row, "found": found, "q": q, "kind": kind, "paged": before is not None}
    nonce = new_nonce()
    return page(rendered("events.html", nonce=nonce, here="runs", signs=SIGNS, **context), nonce)


def look(store: EventStore, run: str, words: list[str], kind: str, before: int | None) -> Found:
    """Return the events that match, newest first, with the seq to continue from."""
    lines: list[FeedLine] = []
    upto = None if before is None else before - 1
    for _ in range(MOST_CHUNKS):
        told = store.newest(run, upto, TOLD, CHUNK)
        for line in filter(None, map(feed_line, told)):
            if kind in ("", line.kind) and _says(words, line.text):
                lines.append(line)
                if len(lines) == LINES:
                    return Found(lines, line.seq)
        if len(told) < CHUNK:
            return Found(lines, None)
        upto = told[-1].seq - 1
    return Found(lines, None if upto is None else upto + 1)


def _pack(row: RunRow) -> Skill | None:
    """Return the run's skill, or None if its content is no longer on this machine."""
    try:
        return skill(row.skill)
    except TemperError:
        return None


def _line(item: Item, pack: Skill | None) -> ItemLine:
    rule = pack.rules.get(item.rule) if pack else None
    return ItemLine(item, rule.title if rule else "", rule.category if rule else "")


def _words(q: str) -> list[str]:
    return q.lower().split()


def _says(words: list[str], text: str) -> bool:
    low = text.lower()
    return all(word in low for word in words)
