"""The inbox page: what it shows to whom, what its forms send, and the number in every header."""

import re

import pytest
from sqlmodel import Session, select

from app.events.kinds import ActionsAllowed, ApprovalGiven, ApprovalRequested, ItemEscalated, ItemStarted, RunFinished
from app.people.rights import Person
from app.runs.open_decisions import OpenDecision, PossibleAnswer
from app.store import issued_credentials
from app.store.models import CommandRow, PersonRow
from app.web.pages.inbox import SHOWN, create_answer_form, render_decision_or_nothing_selected_notice, render_queue
from tests.runs.doors import house
from tests.runs.test_approval_answer import OF_RULE, PLANNED, PROPOSED, QUEUED, TWO, UNTIL_IT_WAITS, WAITING, asks
from tests.runs.test_open_decision_reader import STIG, begin

OPERATOR, VIEWER = Person("ada", "operator", "session"), Person("jo", "viewer", "session")
ASKED = (QUEUED, *UNTIL_IT_WAITS, PLANNED, PROPOSED, ActionsAllowed(**OF_RULE))
ITEM = f"approval:{WAITING}"


@pytest.fixture
async def doors(tmp_path):
    async with house(tmp_path / "data") as made:
        yield made


@pytest.fixture
async def waiting(doors):
    doors.append("r1", *ASKED, asks())
    return doors


def count_in_header(page):
    return re.search(r'<b id="inbox-count">(\d*)</b>', page)[1]


async def test_the_list_and_the_chosen_decision_with_diff_breakage_and_answers(waiting):
    begin(waiting, "r2", STIG[0])
    waiting.append(
        "r2",
        ItemStarted(rule=STIG[0], title="", category="I"),
        ItemEscalated(rule=STIG[0], reason="by <b>hand</b>"),
        RunFinished(passed=0, escalated=1, skipped=0, deferred=0, regressions=(), tree=""),
    )
    page = (await waiting.http.get("/inbox", params={"item": ITEM})).text
    assert "<b>2 decisions</b>" in page
    assert 'class="added"' in page
    assert "A failure of the audit system panics the kernel." in page
    assert f'action="/runs/r1/ask" data-item="{ITEM}"' in page
    assert f'name="approval" value="{WAITING}"' in page
    assert re.findall(r'<button name="verb" value="(\w+)" class="(\w+)"', page) == [
        ("approve", "go"),
        ("refuse", "stop"),
    ]
    assert page.count('aria-current="true"') == 1
    other = (await waiting.http.get("/inbox/item", params={"item": "escalated:web1:stig"})).text
    assert "by &lt;b&gt;hand&lt;/b&gt;" in other
    assert f'name="rules" value="{STIG[0]}"' in other
    assert f"/waivers?rule={STIG[0]}&amp;host=web1&amp;skill=stig" in other
    assert "<html" not in other


async def test_an_answer_by_the_form_is_recorded_and_leads_back_to_the_inbox(waiting):
    form = {"verb": "approve", "approval": WAITING, "reason": ""}
    headers = {"referer": f"http://localhost/inbox?item={ITEM}"}
    answered = await waiting.http.post("/runs/r1/ask", data=form, headers=headers)
    assert (answered.status_code, answered.headers["location"]) == (303, "/inbox")
    with Session(waiting.database) as session:
        assert session.exec(select(CommandRow.verb)).all() == ["approve"]


async def test_what_is_answered_elsewhere_is_said_and_nothing_waiting_is_said(doors):
    assert "Nothing waits for you" in (await doors.http.get("/inbox")).text
    gone = await doors.http.get("/inbox/item", params={"item": "approval:none"})
    assert gone.status_code == 200
    assert "was answered or has expired" in gone.text


async def test_every_header_has_the_number_and_none_for_nothing(doors):
    for path in ("/runs", "/help", "/inbox"):
        assert count_in_header((await doors.http.get(path)).text) == ""
    doors.append("r1", *ASKED, asks())
    for path in ("/runs", "/hosts", "/lessons", "/help", "/inbox", "/waivers"):
        assert count_in_header((await doors.http.get(path)).text) == "1", path
    missing = await doors.http.get("/nothing-here", headers={"accept": "text/html"})
    assert count_in_header(missing.text) == "1"


async def test_strangers_and_links_are_not_told_the_number(tmp_path):
    async with house(tmp_path / "data", sign_in=True) as made:
        made.append("r1", *ASKED, asks())
        with Session(made.database) as session, session.begin():
            session.add(PersonRow(name="jo", right="operator", made_at=1.0))
            session.flush()
            issued = {
                kind: issued_credentials.issue_credential(
                    session, person="jo", right="viewer", kind=kind, label="", run=run, seconds=3600.0
                )[1]
                for kind, run in (("link", "r1"), ("token", ""))
            }
        assert count_in_header((await made.http.get("/sign-in")).text) == ""
        for kind, number in (("token", "1"), ("link", None)):
            sent = {"authorization": f"Bearer {issued[kind]}"}
            headers = sent if kind == "token" else {"cookie": f"temper-session={issued[kind]}"}
            page = (await made.http.get("/runs", headers=headers)).text
            found = re.search(r'<b id="inbox-count">(\d*)</b>', page)
            assert (found[1] if found else None) == number, kind
            status = (await made.http.get("/inbox", headers=headers)).status_code
            assert status == (200 if kind == "token" else 403)


async def test_a_viewer_sees_the_decision_without_a_form_and_why(waiting):
    decision = waiting.application.state.decisions.find_decision(ITEM)
    shown = render_decision_or_nothing_selected_notice(decision, VIEWER)
    assert "<form" not in shown
    assert "Your right is viewer: an operator answers this." in shown
    assert 'class="added"' in shown
    assert "<form" in render_decision_or_nothing_selected_notice(decision, OPERATOR)


async def test_who_approved_already_can_still_refuse(doors):
    asked = ApprovalRequested(approval=WAITING, **OF_RULE, binds="b", expires=2e10, needs=TWO)
    yes = ApprovalGiven(approval=WAITING, by="ada", reason="read it", via="session", given=1, of=2)
    doors.append("r1", QUEUED, *UNTIL_IT_WAITS, PLANNED, PROPOSED, ActionsAllowed(**OF_RULE, needs=TWO), asked, yes)
    decision = doors.application.state.decisions.find_decision(ITEM)
    form = create_answer_form(decision, OPERATOR)
    assert [one.verb for one in form.answers] == ["refuse", "edit"]
    assert form.denials == ["Ada has said yes already: it waits for another person."]


def test_of_a_thousand_decisions_the_first_are_listed_and_all_are_counted():
    many = [
        OpenDecision(kind="host", id=f"host:{n}", title="t", why="w", since=9.0, risk="low", host=f"web{n}")
        for n in range(SHOWN + 5)
    ]
    drawn = render_queue(many, 10.0)
    assert drawn.count("<li>") == SHOWN
    assert f"{SHOWN + 5} decisions" in drawn
    assert "5 more wait" in drawn


@pytest.mark.parametrize(
    ("kind", "parts", "action", "hidden"),
    [
        ("rollout", {"rollout": "o1"}, "/fleet/o1", {}),
        ("waiver", {"waiver": "w1"}, "/waivers/w1", {}),
        ("run", {"run": "r1"}, "/runs/r1/ask", {}),
        ("host", {"host": "web1", "skill": "stig", "mode": "auto"}, "/runs",
         {"host": "web1", "skill": "stig", "mode": "auto"}),
    ],
)  # fmt: skip
def test_each_kind_posts_to_the_address_that_exists_for_it(kind, parts, action, hidden):
    answer = PossibleAnswer("go", "Go on", "go")
    one = OpenDecision(kind=kind, id=f"{kind}:x", title="t", why="w", since=9.0, risk="low", answers=(answer,), **parts)
    form = create_answer_form(one, OPERATOR)
    assert (form.action, form.hidden) == (action, hidden)
    assert f'action="{action}"' in render_decision_or_nothing_selected_notice(one, OPERATOR)


def test_hostile_text_stays_text():
    one = OpenDecision(kind="host", id="host:x", title="<script>", why="<img>", since=9.0, risk="low", host="<i>")
    assert "<script>" not in render_decision_or_nothing_selected_notice(one, OPERATOR) + render_queue([one], 10.0)
