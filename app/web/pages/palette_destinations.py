"""What the command palette can find, and the search through it. Pure.

An action leads to its button or to the first field of its form and puts the focus there. Pressing is the person's own
step, so right, reason and confirmation are asked for where they always are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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


PAGES = (
    _Place("Mission", "home", links=True, about="the run in progress, or the newest"),
    _Place("Runs", "runs", links=True, about="all runs"),
    _Place("Fleet", "fleet", about="hosts by rules, and rollouts"),
    _Place("Hosts", "hosts", about="hosts, groups and schedules"),
    _Place("Inbox", "inbox", about="everything that waits for a person"),
    _Place("Lessons", "lessons", about="what failures taught"),
    _Place("Line-up", "lineup", about="roles, engines and GPUs"),
    _Place("Operator", "ops", about="what needs you, engines, webhooks"),
    _Place("Help", "help", links=True, about="documentation"),
    _Place("Waivers", "waivers", about="findings that an owner accepts"),
    _Place("Site values", "parameters", about="values that rules leave to the site"),
    _Place("Scores", "scores", about="line-ups compared on fresh hosts"),
    _Place("People", "people", "admin", about="people, tokens and links"),
    _Place("Audit log", "audit", "admin", about="who did what"),
    _Place("API", "api_docs", links=True, about="every address and its fields"),
)
ACTIONS = (
    _Place("Start a run", "runs", "operator", anchor="start-run"),
    _Place("Start a rollout", "fleet", "operator", anchor="start-rollout"),
    _Place("Add a schedule", "hosts", "operator", anchor="add-schedule"),
    _Place("Add a waiver", "waivers", "operator", anchor="add-waiver"),
    _Place("Add a host", "hosts", "admin", anchor="add-host"),
    _Place("Add a person", "people", "admin", anchor="add-person"),
    _Place("Use a model server of your own", "lineup", "admin", anchor="add-server"),
    _Place("Add a webhook", "ops", "admin", anchor="add-webhook"),
    _Place("Show the tour", "home", links=True, anchor="tour", about="four steps around the mission page"),
)
LOOKS = (
    Destination("Use the colours of the system", "", press="scheme-usual"),
    Destination("Use dark colours", "", press="scheme-dark"),
    Destination("Use light colours", "", press="scheme-light"),
    Destination("Use comfortable density", "", press="density-usual"),
    Destination("Use compact density", "", press="density-compact"),
)


def list_pages(person: Person) -> list[Destination]:
    return [one.to_destination() for one in PAGES if one.is_open_to(person)]


def list_actions(person: Person, unended_runs: Iterable[RunRow]) -> list[Destination]:
    """Return the actions that the person may do now, those on runs in progress first."""
    on_runs = _list_run_actions(unended_runs) if has_right(person.right, "operator") else ()
    return [*on_runs, *(one.to_destination() for one in ACTIONS if one.is_open_to(person)), *LOOKS]


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
        found = sorted(
            (
                (_rank_match(one, words), place, one)
                for place, one in enumerate(group.found)
                if _matches_words(one, words)
            ),
            key=lambda one: one[:2],
        )
        if found:
            ranked.append((found[0][0], DestinationGroup(group.heading, [one for *_, one in found[:SHOWN]])))
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
