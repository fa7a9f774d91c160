"""What the page shows of a change that two people are asked about."""

from msgspec import structs

from app.events.approval_policy import ChangeRisk, PeopleNeeded
from app.events.kinds import ActionsAllowed, ApprovalGiven, ApprovalRequested
from app.events.record import GENESIS, build_recorded_event
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.open_decisions import InboxSources, list_decisions
from app.skills.stig.pack import STIG
from app.web.pages.inbox import render_decision_or_nothing_selected_notice
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.mission_parts import Scene, render_mission_parts
from app.web.pages.ops.needs import OpsState, list_needs
from tests.runs.test_approval_answer import OF_RULE, PLANNED, PROPOSED, QUEUED, TWO, UNTIL_IT_WAITS

ALLOWED = ActionsAllowed(**OF_RULE, needs=TWO)
ASKED = ApprovalRequested(approval="r1.x", **OF_RULE, binds="b", expires=2e10, needs=TWO)
YES = ApprovalGiven(approval="r1.x", by="ada", reason="<b>looked</b>", via="token", given=1, of=2)


def page_after(*events):
    mission, last = Mission(), GENESIS
    for seq, event in enumerate((QUEUED, *UNTIL_IT_WAITS, PLANNED, PROPOSED, *events), 1):
        one = build_recorded_event("r1", seq, 1000.0, event, last)
        last = one.hash
        mission.apply_event(one)
    return mission, render_mission_parts(mission, Scene(read_lineup(require_lineup_path("simulated")), STIG, "live"))


def test_it_shows_which_rule_asked_and_who_has_said_yes():
    _, drawn = page_after(ALLOWED, ASKED)
    assert "waits for two people" in drawn["approval"]
    assert "needs two people: cuts the line, by approvals.toml line 12" in drawn["approval"]
    assert "of 2" not in drawn["approval"]
    assert "Two people are asked" in drawn["now"]
    mission, drawn = page_after(ALLOWED, ASKED, YES)
    assert "1 of 2: waiting for a second person.</b> ada approved it: &lt;b&gt;looked&lt;/b&gt;" in drawn["approval"]
    assert "One of two people approved this change." in drawn["now"]
    (waits,) = list_decisions(InboxSources(now=1001.0, asking=[(mission.state, None)]))
    (told,) = list_needs(OpsState(now=1001.0, decisions=[waits]))
    assert told.text.endswith("ada approved it; a second person must approve it, too.")
    assert mission.state.idle_since is not None


def test_with_both_nobody_is_asked_any_more():
    other = ApprovalGiven(approval="r1.x", by="bob", reason="so did I", via="token", given=2, of=2)
    mission, drawn = page_after(ALLOWED, ASKED, YES, other)
    assert not drawn["approval"].strip()
    assert "Approved by ada, 1 of 2." in drawn["lane-worker"]
    assert "Approved by bob, 2 of 2." in drawn["lane-worker"]
    assert mission.state.idle_since is None


def test_where_one_person_is_asked_the_page_is_as_it_was():
    _, drawn = page_after(
        ActionsAllowed(**OF_RULE), ApprovalRequested(approval="r1.x", **OF_RULE, binds="b", expires=2e10)
    )
    assert "waits for a person" in drawn["approval"]
    assert "formnovalidate>Approve" in drawn["approval"]


def test_what_outlasts_a_rollback_and_what_nobody_judges_is_on_the_page():
    warned = ("audit -e 2 holds until the next boot", "/etc/<b>x is none of the files that Temper judges")
    risk = ChangeRisk(category="II", breaks=(), cuts_the_line=False, irreversible=True, replayed=False, warnings=warned)
    needs = PeopleNeeded(people=1, why="cannot be undone", by="Temper's own rule", risk=risk)
    asked = structs.replace(ASKED, needs=needs)
    mission, drawn = page_after(ActionsAllowed(**OF_RULE, needs=needs), asked)
    assert "waits for a person, and it cannot be undone" in drawn["approval"]
    assert "<dt>Warning</dt><dd>audit -e 2 holds until the next boot</dd>" in drawn["approval"]
    assert "/etc/&lt;b&gt;x is none of the files" in drawn["approval"]
    (waits,) = list_decisions(InboxSources(now=1001.0, asking=[(mission.state, None)]))
    assert waits.risk == "high"
    assert (
        "<dd>/etc/&lt;b&gt;x is none of the files that Temper judges</dd>"
        in render_decision_or_nothing_selected_notice(waits, None)
    )
