"""What the palette offers is what the route behind it allows, and the best match comes first."""

import re

import pytest
from starlette.routing import Route

from app.config import PACKAGE
from app.people.rights import RIGHTS, Person, find_access_needs
from app.store.models import RunRow
from app.web.access.right_check import find_handler
from app.web.pages.palette_destinations import (
    ACTIONS,
    PAGES,
    Destination,
    DestinationGroup,
    list_actions,
    search_groups,
)
from app.web.routes import ROUTES

TEMPLATES = "".join(one.read_text() for one in (PACKAGE / "templates").rglob("*.html"))


def run(state):
    return RunRow(id="r1", host="web1", state=state, skill="stig", mode="auto", queued_at=1.0)


def titles(right, *runs):
    return [one.title for one in list_actions(Person("ada", right, "session"), runs)]


def test_a_page_is_offered_to_those_who_may_open_it():
    needs = {
        route.name: find_access_needs(find_handler(route))
        for route in ROUTES
        if isinstance(route, Route) and "GET" in route.methods
    }
    for page in PAGES:
        assert (page.right, page.links) == (needs[page.route].right, needs[page.route].links), page.title


def test_an_action_needs_the_right_of_its_form_and_leads_to_a_field_that_is_there():
    posts = {
        route.path: find_access_needs(find_handler(route))
        for route in ROUTES
        if "POST" in (getattr(route, "methods", None) or ())
    }
    forms = {"start-run": "/runs", "start-rollout": "/fleet", "add-schedule": "/schedules", "add-waiver": "/waivers"}
    forms |= {"add-host": "/hosts", "add-person": "/people", "add-webhook": "/ops/webhooks"}
    for action in ACTIONS:
        assert re.search(f'id="{action.anchor}"', TEMPLATES), action.title
        if action.anchor in forms:
            assert posts[forms[action.anchor]].right == action.right, action.title


@pytest.mark.parametrize(
    ("state", "verbs"), [("running", ["Pause", "Stop"]), ("paused", ["Resume", "Stop"]), ("queued", ["Stop"])]
)
def test_a_run_in_progress_has_the_buttons_of_its_state(state, verbs):
    assert [one for one in titles("operator", run(state)) if "r1" in one] == [f"{verb} run r1" for verb in verbs]


def test_a_viewer_is_offered_nothing_to_do_but_how_the_page_looks():
    assert {one for one in titles("viewer", run("running")) if not one.startswith("Use ")} == {"Show the tour"}
    assert "Add a person" not in titles("operator")
    assert "Add a person" in titles(RIGHTS[-1])


def test_the_best_match_comes_first_and_every_word_must_match():
    groups = [
        DestinationGroup(
            "Pages", [Destination("Operator", "/ops", "fleet of engines"), Destination("Fleet", "/fleet")]
        ),
        DestinationGroup("Runs", [Destination("fleet check", "/runs/r1", "web1")]),
    ]
    found = search_groups(groups, "fleet")
    assert [one.title for group in found for one in group.found] == ["Fleet", "Operator", "fleet check"]
    assert [one.heading for one in search_groups(groups, "check WEB1")] == ["Runs"]
    assert search_groups(groups, "nowhere") == []
