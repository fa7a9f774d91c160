"""What is proposed and what was asked, on the pages of a run and in its API."""

from contextlib import contextmanager

import pytest

from app.events.architect_questions_about_host import AnsweredQuestion, AskFile
from app.events.event_field_types import AppendLine, Budget, Candidate, fingerprint_actions
from app.events.kinds import (
    ActionProposed,
    AttemptFailed,
    AttemptReflected,
    AttemptStarted,
    CandidatesGathered,
    ItemStarted,
    PlanMade,
    QuestionsAnswered,
    RunQueued,
    RunScoped,
    RunStarted,
    ScanFinished,
    TurnFinished,
    TurnStarted,
    VerdictGiven,
)
from app.events.record import GENESIS, build_recorded_event
from app.lineups.reader import read_lineup, require_lineup_path
from app.people.rights import WHO, Person
from app.skills.stig.pack import STIG
from app.store.models import RunRow
from app.web.pages.mission.item import build_item_context
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.mission_parts import Scene, render_mission_parts
from app.web.pages.templating import render_template_to_text
from tests.loop.playing import FIX
from tests.runs.doors import house

LINEUP = read_lineup(require_lineup_path("simulated"))
RULE, AT = "V-257984", {"rule": "V-257984", "attempt": 1}
FIRST, SECOND = ((AppendLine(path="/etc/issue", line=line),) for line in "ab")
CANDIDATES = (
    Candidate(
        source="a recipe of <ana>", actions=FIRST, diff="--- a\n+++ b/etc/issue\n+a<b>\n", also=("the fix text",)
    ),
    Candidate(source="the content's Ansible tasks", actions=SECOND, refusal="weakening: no.", diff="+x\n"),
    Candidate(source="other", gap="It would change nothing on this host."),
)
TURN = {"role": "architect", "purpose": "plan"}
ASKED = QuestionsAnswered(
    **AT, answers=(AnsweredQuestion(question=AskFile(path="/etc/issue"), answer="1: SEEN <there>"),)
)


def recorded(*events):
    return [build_recorded_event("r1", seq, 1000.0 + seq, event, GENESIS) for seq, event in enumerate(events, 1)]


def turn(name):
    started = TurnStarted(turn=name, **AT, **TURN, engine="e", model="m", replica=0, max_tokens=9, prompt=("s", "u"))
    return started, TurnFinished(turn=name, **TURN, outcome="answered", detail="", thought="", answer="{}")


PLAN = PlanMade(
    **AT, approach="Take it.", paths=("/etc/issue",), steps=(), risk="", rollback="", validation="", candidate=1
)
PROPOSED = ActionProposed(
    **AT, actions=FIRST, note="taken by the Architect", fingerprint="f", diff="+a\n", source="a recipe of ana"
)
BEGUN = (
    RunQueued(
        host="fixture", skill="stig", rules=(RULE,), mode="auto", budget=Budget(), lineup="simulated", simulated=True
    ),
    RunStarted(worker="w", confinement="none", scanner="built-in", probes=()),
    VerdictGiven(rule=RULE, phase="opening", word="fail", evidence="", scanner="s"),
    ScanFinished(phase="opening", seconds=0.1),
    RunScoped(order=(RULE,), compliant=(), undecided=()),
    ItemStarted(rule=RULE, title="t", category="I"),
    CandidatesGathered(rule=RULE, candidates=CANDIDATES),
    AttemptStarted(**AT, lessons=()),
    *turn("r1.1"),
    ASKED,
)
EVENTS = (*BEGUN, *turn("r1.2"), PLAN, PROPOSED)
FAILED = (
    AttemptFailed(**AT, cause="alarm", reason="harm"),
    AttemptReflected(**AT, decision="CONTINUE", reason="", banned=(fingerprint_actions(FIRST),)),
)


@contextmanager
def seen_by(right):
    before = WHO.set(Person("ada", right, "session"))
    try:
        yield
    finally:
        WHO.reset(before)


def item_page(*events, right="operator"):
    row = RunRow(id="r1", host="fixture", skill="stig", mode="auto", state="running", queued_at=0.0, simulated=True)
    with seen_by(right):
        context = build_item_context(LINEUP, row, RULE, recorded(*events))
        return render_template_to_text("item.html", nonce="n", here="runs", **context)


def test_the_items_page_folds_each_proposal_with_its_verdict_and_its_diff():
    page = item_page(*EVENTS)
    assert "a recipe of &lt;ana&gt; and the fix text</span> (taken)" in page
    assert "accepted by the policy</span>, taken" in page
    assert "refused by the policy, weakening: no." in page
    assert "It would change nothing on this host." in page
    assert "a&lt;b&gt;" in page
    assert "<b>" not in page.partition('class="proposals"')[2].partition("<h2>")[0]
    assert "A recipe of ana, taken by the Architect" in page
    assert "accepted by the policy; failed here, or a person refused it" in item_page(*EVENTS, *FAILED)


def test_the_items_page_says_where_a_replayed_fix_is_from():
    page = item_page(*BEGUN[:-4], AttemptStarted(**AT, lessons=(), offered=FIX))
    assert f"This change is {FIX.provenance}: the same files, the same rule." in page


def test_what_was_asked_is_a_turn_and_its_answers_are_for_operators():
    page = item_page(*EVENTS)
    assert page.count("asked about the host") == 1
    assert "1: SEEN &lt;there&gt;" in page
    guest = item_page(*EVENTS, right="viewer")
    assert "asked about the host" in guest
    assert "SEEN" not in guest
    assert "(for operators: " in guest


@pytest.mark.parametrize(
    ("events", "gist"), [(BEGUN, "The Architect asks about the file /etc/issue"), (EVENTS, "Take it.")]
)
def test_the_mission_page_shows_both_in_the_architects_turn_and_no_answer(events, gist):
    mission = Mission()
    for one in recorded(*events):
        mission.apply_event(one)
    lane = render_mission_parts(mission, Scene(LINEUP, STIG, "live"))["lane-architect"]
    assert gist in lane.partition('class="body"')[0]
    assert 'class="proposals"' in lane
    assert "The Architect asks about the file /etc/issue" in lane
    assert "SEEN" not in lane


async def test_the_api_lists_the_candidates_and_hides_the_answers_from_guests(tmp_path):
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS, *FAILED)
        story = (await made.http.get(f"/api/v1/runs/r1/items/{RULE}")).json()
    first, second, third = story["candidates"]
    assert first == {
        "number": 1,
        "source": "a recipe of <ana>",
        "also": ["the fix text"],
        "accepted": True,
        "refusal": "",
        "gap": "",
        "diff": CANDIDATES[0].diff,
        "actions": [{"do": "append_line", "path": "/etc/issue", "line": "a"}],
        "taken": True,
        "failed": True,
    }
    assert (second["accepted"], second["refusal"], second["failed"]) == (False, "weakening: no.", False)
    assert (third["actions"], third["gap"]) == ([], "It would change nothing on this host.")
    assert [one["answers"][0]["answer"] for one in story["events"] if one["kind"] == "questions"] == ["1: SEEN <there>"]
