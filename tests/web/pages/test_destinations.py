"""What the command palette finds, for whom, and in which order."""

from app.people.rights import DEMO, Person
from app.store.models import RunRow
from app.web.pages.destinations import Destination, DestinationGroup, list_actions, list_pages, search_groups

VIEWER, OPERATOR = Person("jo", "viewer", "session"), Person("ada", "operator", "session")
GUEST = Person("", "viewer", "link", runs=("r1",))


def titles(found):
    return [one.title for one in found]


def search(query, **groups):
    made = [
        DestinationGroup(name, [Destination(title, f"/{title}") for title in all_]) for name, all_ in groups.items()
    ]
    return [(group.heading, titles(group.found)) for group in search_groups(made, query)]


def test_pages_are_those_that_the_reader_may_open():
    assert "Audit log" in titles(list_pages(DEMO))
    assert "Audit log" not in titles(list_pages(OPERATOR))
    assert "Inbox" in titles(list_pages(VIEWER))
    assert titles(list_pages(GUEST)) == ["Mission", "Runs", "Help", "API"]


def test_actions_on_runs_are_those_of_their_state_and_need_the_right():
    runs = [RunRow(id=state[:2], host="web1", state=state) for state in ("running", "paused", "queued")]
    assert titles(list_actions(OPERATOR, runs))[:5] == [
        "Pause run ru",
        "Stop run ru",
        "Resume run pa",
        "Stop run pa",
        "Stop run qu",
    ]
    assert list_actions(OPERATOR, runs)[0].address == "/runs/ru#pause-run"
    for reader in (VIEWER, GUEST):
        assert not any("run" in title for title in titles(list_actions(reader, runs)))


def test_the_best_match_is_first_within_a_group_and_among_groups():
    assert search("web", Runs=["nightly web", "x"], Hosts=["db-web", "web 1", "web"]) == [
        ("Hosts", ["web", "web 1", "db-web"]),
        ("Runs", ["nightly web"]),
    ]
    assert search("zz", Runs=["a"]) == []
    assert search("", Runs=[str(number) for number in range(9)]) == [("Runs", list("012345"))]
