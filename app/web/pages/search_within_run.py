"""Search pages for the items and events of a run. The query string holds the search."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.errors import TemperError
from app.loop.state import Item
from app.people.rights import guests
from app.skills.catalog import load_skill
from app.skills.skill import Skill
from app.store.events import EventStore
from app.store.models import RunRow
from app.web.deps import TheFolds, TheRuntime, TheSession, Words
from app.web.pages.error_pages import require_run
from app.web.pages.mission.feed import FEED_KINDS, FeedLine, to_feed_line
from app.web.pages.templating import OUTCOMES, render_page
from app.web.stream.resume_position import MOST_SEQ

LINES = 200
CHUNK, MOST_CHUNKS = 500, 20
"""Events per read, and reads per request. The page says how far the search went and can continue from there."""
SIGNS = {"passed": "✓", "undone": "↺", "alarm": "!", "refused": "✗", "escalated": "▲", "deferred": "◷", "skipped": "–"}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ItemLine:
    item: Item
    title: str
    category: str

    def matches_words(self, lowercase_words: list[str]) -> bool:
        return contains_words(lowercase_words, f"{self.item.rule} {self.title} {self.item.reason} {self.item.status}")


@dataclass(frozen=True)
class EventSearch:
    lines: list[FeedLine]
    before: int | None
    """The seq before which the search continues; None if it reached the start of the run."""


@router.get("/runs/{run}/items", name="run_items")
@guests
def show_items(
    session: TheSession, folds: TheFolds, run: str, q: Words = "", outcome: Annotated[str, Query(max_length=20)] = ""
) -> Response:
    row = require_run(session, run)
    pack = find_run_skill(row)
    every = [build_item_line(item, pack) for item in folds.read_current(run).items.values()]
    lines = [
        one
        for one in every
        if outcome in ("", one.item.status) and one.matches_words(split_query_at_blanks_in_lowercase(q))
    ]
    return render_page(
        "items.html", here="runs", outcomes=OUTCOMES, run=row, lines=lines, total=len(every), q=q, outcome=outcome
    )


@router.get("/runs/{run}/events", name="run_events")
@guests
def show_events(
    runtime: TheRuntime,
    session: TheSession,
    run: str,
    q: Words = "",
    kind: Annotated[str, Query(max_length=20)] = "",
    before: Annotated[int | None, Query(ge=1, le=MOST_SEQ)] = None,
) -> Response:
    row = require_run(session, run)
    found = search_events(runtime.store, run, split_query_at_blanks_in_lowercase(q), kind, before)
    return render_page(
        "events.html", here="runs", signs=SIGNS, run=row, found=found, q=q, kind=kind, paged=before is not None
    )


def search_events(
    store: EventStore, run: str, lowercase_words: list[str], line_kind: str, before_seq: int | None
) -> EventSearch:
    """Return the events that match, newest first, with the seq to continue from."""
    lines: list[FeedLine] = []
    upto = None if before_seq is None else before_seq - 1
    for _ in range(MOST_CHUNKS):
        told = store.read_events_of_kinds_newest_first(run, upto, FEED_KINDS, CHUNK)
        for line in filter(None, map(to_feed_line, told)):
            if line_kind in ("", line.kind) and contains_words(lowercase_words, line.text):
                lines.append(line)
                if len(lines) == LINES:
                    return EventSearch(lines, line.seq)
        if len(told) < CHUNK:
            return EventSearch(lines, None)
        upto = told[-1].seq - 1
    return EventSearch(lines, None if upto is None else upto + 1)


def find_run_skill(row: RunRow) -> Skill | None:
    """Return the run's skill, or None if its content is no longer on this machine."""
    try:
        return load_skill(row.skill)
    except TemperError:
        return None


def build_item_line(item: Item, skill: Skill | None) -> ItemLine:
    rule = skill.rules.get(item.rule) if skill else None
    return ItemLine(item, rule.title if rule else "", rule.category if rule else "")


def split_query_at_blanks_in_lowercase(q: str) -> list[str]:
    return q.lower().split()


def contains_words(lowercase_words: list[str], text: str) -> bool:
    low = text.lower()
    return all(word in low for word in lowercase_words)
