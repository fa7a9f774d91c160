"""Two runs side by side, and a run that is asked for on the page."""

import re

import httpx
import pytest

from app.events.kinds import ItemEscalated, ItemPassed, ItemStarted, RunScoped
from app.loop.state import fold_events
from app.web.pages.runs import RulePair, _build_side, _describe_difference_in_passed_rule_counts
from tests.loop.playing import World, pack, request, rule
from tests.runs.doors import house
from tests.served import served
from tests.web.pages.mission_log import EVENTS

BROWSER = {"accept": "text/html"}


def state(*events, rules=("R1", "R2")):
    world = World(pack(rule(name) for name in rules), lambda _, choices: choices[0])
    world.put(request(world.skill), *events)
    return fold_events(world.log)


def scoped(*, order=("R1",), compliant=("R2",)):
    return RunScoped(order=order, compliant=compliant, undecided=())


def taken_up(name):
    return ItemStarted(rule=name, title="", category="II")


PASSED = state(scoped(), taken_up("R1"), ItemPassed(rule="R1", attempts=1))
ESCALATED = state(scoped(), taken_up("R1"), ItemEscalated(rule="R1", reason="never right"))
AT_WORK = state(scoped(), taken_up("R1"))


@pytest.mark.parametrize(
    ("run", "name", "absent"),
    [
        (PASSED, "R2", "no finding"),
        (state(scoped(order=(), compliant=())), "R2", "undecided by the scan"),
        (state(), "R2", "not scanned yet"),
        (PASSED, "R3", "not in this run"),
    ],
)
def test_a_rule_without_an_item_says_why(run, name, absent):
    assert _build_side(run, name).absent == absent


@pytest.mark.parametrize(("other", "differs"), [(ESCALATED, True), (PASSED, False), (AT_WORK, False)])
def test_only_what_both_runs_decided_can_differ(other, differs):
    assert RulePair("R1", "", _build_side(PASSED, "R1"), _build_side(other, "R1")).is_different is differs


def test_the_headline_and_the_difference_are_in_words():
    pair = RulePair("R1", "", _build_side(PASSED, "R1"), _build_side(ESCALATED, "R1"))
    assert pair.difference_text == "passed → escalated"
    assert (
        _describe_difference_in_passed_rule_counts([pair])
        == "0 of 1 rules pass after the second run, 1 fewer than after the first"
    )
    assert RulePair("R1", "", pair.left, pair.left).difference_text == ""
    assert _describe_difference_in_passed_rule_counts([]) == "No rule was decided in both runs"


def test_what_one_run_was_not_asked_for_is_no_difference():
    small = state(RunScoped(order=(), compliant=(), undecided=()), rules=("R2",))
    assert not RulePair("R1", "", _build_side(PASSED, "R1"), _build_side(small, "R1")).is_different


def test_the_page_starts_a_run_of_a_few_rules_that_asks_before_each_change(tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server, httpx.Client(base_url=server.url) as http:
        wrong = http.post("/runs", data={"mode": "auto", "rules": "V-257"}, headers=BROWSER)
        assert wrong.status_code == 422
        assert "There is no rule &#39;V-257&#39;" in wrong.text
        made = http.post("/runs", data={"mode": "review", "rules": "V-257985, V-258074"})
        assert made.status_code == 303
        server.wait_for_kind("approval.requested")
        run = http.get(f"/api/v1{made.headers['location']}").json()
        assert (run["mode"], run["findings"]) == ("review", 2)
        ops = http.get("/ops").text
        assert f"Run {run['id']} waits for you" in ops
        assert "✓ Nothing needs you" not in ops
        item = http.get(f"/runs/{run['id']}/items/V-257985").text
        assert "ARCHITECT</b> planned" in item
        assert "Gemma 4 31B NVFP4" in item


def test_a_run_of_another_skill_is_started_again_as_it_was(tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server, httpx.Client(base_url=server.url) as http:
        wrong = http.post("/runs", data={"skill": "nope"}, headers=BROWSER)
        assert (wrong.status_code, "There is no skill" in wrong.text) == (422, True)
        first = http.post("/runs", data={"skill": "drift", "rules": "V-257985"}).headers["location"]
        server.wait_for_kind("run.finished")
        form = http.get(first).text.partition("Start again</button>")[0].rpartition("<form")[2]
        again = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
        assert again == {
            "host": "fixture",
            "skill": "drift",
            "mode": "dry-run",
            "rules": "V-257985",
            "engine": "lineup",
        }
        second = http.post("/runs", data=again).headers["location"]
        assert http.get(f"/api/v1{second}").json()["skill"] == "drift"
        both = f"/compare?left={first.rpartition('/')[2]}&right={second.rpartition('/')[2]}"
        assert "V-257985" in http.get(both).text


async def test_the_form_names_the_run_and_chooses_whether_fixes_of_elsewhere_are_tried(tmp_path):
    async with house(tmp_path / "data") as made:
        made.append("r1", *EVENTS)
        form = {"host": "fixture", "rules": "V-257985", "name": "before the audit", "tags": "nightly web"}
        wrong = await made.http.post("/runs", data=form | {"tags": "<b>"}, headers=BROWSER)
        assert (wrong.status_code, made.submitted) == (422, [])
        assert (await made.http.post("/runs", data=form | {"replay": ["0", "1"]})).status_code == 303
        assert (await made.http.post("/runs", data=form | {"replay": "0"})).status_code == 303
        assert [one.replay_fixes for one in made.submitted] == [True, False]
        listed = (await made.http.get("/runs?tag=nightly")).text
        assert "before the audit" in listed
