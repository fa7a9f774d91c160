"""What is answered to a change that waits, and what is asked of a run: one rule at every door."""

import time

import pytest
from sqlmodel import Session, select

from app.errors import NotTaken
from app.events.kinds import (
    ApprovalRequested,
    AttemptStarted,
    ItemStarted,
    RunFinished,
    RunPaused,
    RunQueued,
    RunScoped,
    RunStarted,
)
from app.events.words import Budget
from app.loop.answers import read_actions
from app.loop.state import fold
from app.runs.answer import answer
from app.store import queries
from app.store.models import CommandRow
from tests.runs.doors import house

RULE, WAITING = "V-258227", "r1.V-258227.1.6"
ACTIONS = '[{"do": "set_option", "path": "/etc/x", "key": "k", "value": "mine"}]'
QUEUED = RunQueued(
    host="fixture", skill="stig", rules=(RULE,), mode="review", budget=Budget(), lineup="simulated", simulated=True
)
STARTED = RunStarted(worker="w", confinement="", scanner="s", probes=())
UNTIL_IT_WAITS = (
    STARTED,
    RunScoped(order=(RULE,), compliant=(), undecided=()),
    ItemStarted(rule=RULE, title="", category="II"),
    AttemptStarted(rule=RULE, attempt=1, lessons=()),
)
ENDED = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")


def asks(expires=2e10):
    return ApprovalRequested(approval=WAITING, rule=RULE, attempt=1, binds="b", expires=expires)


@pytest.fixture
async def doors(tmp_path):
    async with house(tmp_path / "data") as made:
        made.append("r1", QUEUED)
        yield made


@pytest.fixture
async def waiting(doors):
    doors.append("r1", *UNTIL_IT_WAITS, asks())
    return doors


def commands(doors):
    with Session(doors.database) as session:
        return [(row.verb, row.by, row.reason) for row in session.exec(select(CommandRow)).all()]


async def page(doors, verb, approval=WAITING, reason="", actions=ACTIONS):
    form = {"verb": verb, "approval": approval, "reason": reason, "actions": actions}
    answered = await doors.http.post("/runs/r1/ask", data=form)
    return None if answered.status_code == 303 else (answered.status_code, answered.json()["detail"])


async def api(doors, verb, approval=WAITING, reason=""):
    if verb in ("pause", "resume", "stop"):
        answered = await doors.http.post(f"/api/v1/runs/r1/{verb}", json={"reason": reason})
    else:
        body = {"decision": verb, "reason": reason}
        answered = await doors.http.post(f"/api/v1/approvals/{approval}", json=body)
    return None if answered.status_code == 202 else (answered.json()["status"], answered.json()["detail"])


async def terminal(doors, verb, reason=""):
    wrong = await doors.typed(verb, "r1", "--reason", reason)
    return wrong.sentence if wrong else None


async def test_a_refusal_without_a_reason_is_taken_nowhere(waiting):
    said = (422, "Say why: the Architect learns from it.")
    for reason in ("", "  "):
        assert await page(waiting, "refuse", reason=reason) == await api(waiting, "refuse", reason=reason) == said
        assert await terminal(waiting, "refuse", reason) == said[1]
    assert commands(waiting) == []
    assert await page(waiting, "refuse", reason="not on a Friday") is None
    assert commands(waiting) == [("refuse", "operator on this page", "not on a Friday")]


@pytest.mark.parametrize("second", [page, api])
@pytest.mark.parametrize("first", [page, api])
async def test_the_first_answer_counts_and_the_same_again_is_the_same(waiting, first, second):
    assert await first(waiting, "approve") is None
    assert await second(waiting, "approve") is None
    (verb, by, _) = commands(waiting)[0]
    status, said = await second(waiting, "refuse", reason="no")
    assert (status, said) == (409, f"Approval '{WAITING}' takes no other answer: {by} was first, with approve.")
    assert "was first, with approve" in await terminal(waiting, "refuse", "no")
    assert [one[0] for one in commands(waiting)] == [verb] == ["approve"]


async def test_what_is_late_or_not_there_is_not_waiting(waiting):
    gone = WAITING.replace(".6", ".2")
    said = (409, f"Approval '{gone}' is not waiting for an answer.")
    assert await page(waiting, "approve", gone) == await api(waiting, "approve", gone) == said
    waiting.append("r1", ENDED)
    assert (await page(waiting, "approve"))[0] == (await api(waiting, "approve"))[0] == 409
    assert commands(waiting) == []


async def test_an_approval_that_has_expired_is_not_waiting_though_nobody_wrote_that_down(doors):
    doors.append("r1", *UNTIL_IT_WAITS, asks(expires=time.time() - 1))
    assert (await page(doors, "approve"))[0] == (await api(doors, "approve"))[0] == 409
    assert "waits for no approval" in await terminal(doors, "approve")


async def test_an_edit_is_read_as_the_workers_answer_is(waiting):
    status, said = await page(waiting, "edit", actions="[{}]")
    assert (status, said[:20]) == (422, "These are no actions")
    assert (await page(waiting, "edit", actions=""))[0] == 422
    state = fold(waiting.store.brief("r1"))
    with pytest.raises(NotTaken, match="leave them out"), Session(waiting.database) as session:
        answer(session, state, WAITING, "approve", by="ada", actions=ACTIONS)
    assert await page(waiting, "edit") is None
    with Session(waiting.database) as session:
        (row,) = queries.take_commands(session, "r1")
    assert read_actions(row.actions)[0].value == "mine"


async def test_a_run_is_asked_only_for_what_its_state_allows(doors):
    for events, verb, says in (
        ((), "pause", "Run r1 is queued: only a running run can be asked to pause."),
        ((STARTED,), "resume", "Run r1 is running: only a paused run can be asked to resume."),
        ((RunPaused(by="ada"),), "pause", "Run r1 is paused: only a running run can be asked to pause."),
        ((ENDED,), "stop", "Run r1 has ended (finished): there is nothing to stop."),
    ):
        doors.append("r1", *events)
        assert await page(doors, verb) == await api(doors, verb) == (409, says)
        assert await terminal(doors, verb) == says
    assert commands(doors) == []
    assert (await page(doors, "explode"))[0] == 422


async def test_what_may_be_asked_is_written_once_for_each_who_asks(waiting):
    assert await page(waiting, "pause") is await api(waiting, "pause") is await terminal(waiting, "pause") is None
    assert [verb for verb, _, _ in commands(waiting)] == ["pause"] * 3
    status, said = await page(waiting, "stop", reason="x" * 501)
    assert (status, said) == (422, "The reason has 501 characters: 500 are the most.")
    assert await api(waiting, "stop", reason="x" * 501) == (status, said)
