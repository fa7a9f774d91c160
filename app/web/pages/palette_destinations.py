"""What the command palette can find, and the search through it. Pure.

An action leads to its button or to the first field of its form and puts the focus there. Pressing is the person's own
step, so right, reason and confirmation are asked for where they always are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.people.rights import Person, Right, has_right
from app.store.models import RunRow
from app.web.url_paths import path_to

SHOWN = 6
"""Results of one kind."""


@dataclass(frozen=True)
class Destination:
    title: str
    address: str
    about: str = ""
    press: str = ""
    """Id of a control of every page, which does it at once; only the page's script can press it."""


@dataclass(frozen=True)
class DestinationGroup:
    heading: str
    found: Sequence[Destination]


@dataclass(frozen=True)
class _Place:
    title: str
    route: str
    right: Right = "viewer"
    links: bool = False
    """Whether a shared link may open it."""
    anchor: str = ""
    """Id of the form's first field; empty for a page."""
    about: str = ""

    def is_open_to(self, person: Person) -> bool:
        return has_right(person.right, self.right) and (self.links or person.runs is None)

    def to_destination(self) -> Destination:
        address = path_to(self.route) + (f"#{self.anchor}" if self.anchor else "")
        return Destination(self.title, address, self.about)


class _Tables(msgspec.Struct):
    pages: tuple[_Place, ...]
    actions: tuple[_Place, ...]
    looks: tuple[Destination, ...]


_TABLES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Tables)
PAGES, ACTIONS = _TABLES.pages, _TABLES.actions


def list_pages(person: Person) -> list[Destination]:
    return [one.to_destination() for one in PAGES if one.is_open_to(person)]


def list_actions(person: Person, unended_runs: Iterable[RunRow]) -> list[Destination]:
    """Return the actions that the person may do now, those on runs in progress first."""
    on_runs = _list_run_actions(unended_runs) if has_right(person.right, "operator") else ()
    return [*on_runs, *(one.to_destination() for one in ACTIONS if one.is_open_to(person)), *_TABLES.looks]


def _list_run_actions(unended_runs: Iterable[RunRow]) -> Iterator[Destination]:
    """Yield what the run's page has a button for, in the run's present state."""
    for run in unended_runs:
        verbs = {"running": ("Pause", "Stop"), "paused": ("Resume", "Stop")}.get(run.state, ("Stop",))
        for verb in verbs:
            address = f"{path_to('run', run=run.id)}#{verb.lower()}-run"
            yield Destination(f"{verb} run {run.id}", address, f"{run.host}: goes to its button")


def search_groups(groups: Iterable[DestinationGroup], query: str) -> list[DestinationGroup]:
    """Return the best matches of each group, the group with the best match first; without a query, the beginnings."""
    words = query.lower().split()
    ranked = []
    for group in groups:
        found = [one for one in group.found if _matches_words(one, words)]
        if found:
            best = sorted(found, key=lambda one: _rank_match(one, words))[:SHOWN]
            ranked.append((_rank_match(best[0], words), DestinationGroup(group.heading, best)))
    return [group for _, group in sorted(ranked, key=lambda one: one[0])]


def _matches_words(destination: Destination, words: Sequence[str]) -> bool:
    text = f"{destination.title} {destination.about}".lower()
    return all(word in text for word in words)


def _rank_match(destination: Destination, words: Sequence[str]) -> int:
    """Return 0 for the title itself, 1 for its beginning, 2 for a beginning of its words, 3 for any other place."""
    title, query = destination.title.lower(), " ".join(words)
    if not words or title == query:
        return 0
    if title.startswith(query):
        return 1
    return 2 if all(any(part.startswith(word) for part in title.split()) for word in words) else 3
