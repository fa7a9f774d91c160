"""Before a person is asked, what no role has tried is tried. The roles' own changes are refused here."""

import asyncio
import re

import msgspec
import pytest

from app.candidates.recipe_file_reader import Recipe
from app.engines.simulator.reply_creation import ChatRequest
from app.events.event_field_types import Budget, SetOption, WriteFile
from app.events.kinds import (
    ActionProposed,
    ActionRolledBack,
    ApprovalRequested,
    AttemptFailed,
    AttemptReflected,
    AttemptStarted,
    CandidatesGathered,
    FactsGathered,
    ItemEscalated,
    ItemPassed,
    TurnStarted,
)
from app.targets.fixture.fixture_target import FixtureTarget
from tests.loop.architect import OWN, Architect, reply
from tests.loop.onfixture import OnFixture, answered

EMPTY, ROOT = "V-257984", "V-257985"
SSHD = "/etc/ssh/sshd_config"
ONCE = Budget(attempts=1)


def answer_with(**answers):
    """Answer these purposes so, and all others by the script."""

    def answer(request):
        purpose = msgspec.json.decode(request.content, type=ChatRequest).purpose
        return reply(answers[purpose]) if purpose in answers else answered(request)

    return answer


STRAYING = answer_with(
    plan={**OWN, "paths": [SSHD]},
    act={"actions": [{"do": "set_option", "path": SSHD, "key": "StrictModes", "value": "no"}]},
)
"""The policy refuses each change of the roles."""


async def played(tmp_path, rule=EMPTY, *, handler=STRAYING, recipes=(), **more):
    here = OnFixture(tmp_path, handler=handler, recipes=recipes)
    await here.run(rule, **{"budget": ONCE, **more})
    return here


async def test_a_proposal_that_no_role_tried_is_tried_after_their_last_attempt(tmp_path):
    here = await played(tmp_path, budget=Budget(attempts=2))
    assert [one.attempts for one in here.events(ItemPassed)] == [3]
    first, second, third = (one.why_roles_stopped for one in here.events(AttemptStarted))
    assert (first, second) == ("", "")
    assert third.startswith("2 attempts did not pass; the last: outside the rule")
    told = "Attempt 3 takes what is proposed and no role has tried"
    assert here.events(AttemptStarted)[2].describe().text == told
    [proposed] = here.events(ActionProposed)
    order = "taken in the stated order, after the roles' last attempt"
    assert proposed.describe().text == f"The content's own fix, from the fix text, {order}"


async def test_lines_that_harmed_the_host_are_not_tried_elsewhere_in_their_file(tmp_path):
    """The Worker's line locks out the backup; a recipe has it at the top of the file."""
    other = FixtureTarget("fixture", tmp_path / "other")
    other.prepare()
    moved = "PermitRootLogin no\n" + re.sub(r"(?m)^PermitRootLogin .*\n", "", other.files.read(SSHD).decode())
    recipe = Recipe(ROOT, "ana", (WriteFile(path=SSHD, content=moved, mode="0600"),))
    lock = {"do": "set_option", "path": SSHD, "key": "PermitRootLogin", "value": "no"}
    answer = answer_with(plan={**OWN, "paths": [SSHD]}, act={"actions": [lock]})
    here = await played(tmp_path / "host", ROOT, handler=answer, recipes=(recipe,))
    assert here.events(CandidatesGathered)[0].candidates[0].is_usable
    assert [one.cause for one in here.events(AttemptFailed)] == ["alarm"]
    assert [one.rule for one in here.events(ItemEscalated)] == [ROOT]


async def test_its_auditor_and_sentry_are_asked_as_about_any_change(tmp_path):
    here = await played(tmp_path)
    assert [one.purpose for one in here.events(TurnStarted)][-2:] == ["review", "triage"]


async def test_one_that_harms_is_undone_and_a_person_is_asked(tmp_path):
    here = await played(tmp_path, ROOT)
    assert [one.cause for one in here.events(AttemptFailed)] == ["refused", "alarm"]
    assert here.events(ActionRolledBack)[0].differences == ()
    assert here.events(FactsGathered) == []  # they are for the Architect, who gets no further attempt
    assert here.events(AttemptReflected)[-1].reason == "no role chose it"
    assert here.events(ItemEscalated)[0].question == "would harm this host"
    why = here.events(ItemEscalated)[0].reason
    assert why.startswith("1 attempt did not pass; the last: outside the rule")
    assert "What is proposed did not pass either: backup-login" in why


async def test_each_is_tried_once_in_the_stated_order(tmp_path):
    wrong = Recipe(EMPTY, "ana", (SetOption(path=SSHD, key="X11Forwarding", value="no"),))
    here = await played(tmp_path, recipes=(wrong,))
    assert [one.source for one in here.events(ActionProposed)] == ["a recipe of ana", "the fix text"]
    assert [one.cause for one in here.events(AttemptFailed)] == ["refused", "scanner"]
    assert [one.attempts for one in here.events(ItemPassed)] == [3]


async def test_what_the_architect_has_tried_is_not_tried_again(tmp_path):
    here = OnFixture(tmp_path, handler=Architect({**OWN, "candidate": 1, "paths": [SSHD]}))
    here.sampling = msgspec.structs.replace(here.sampling, candidates=True)
    await here.run(ROOT, budget=ONCE)
    assert len(here.events(ActionProposed)) == len(here.events(AttemptStarted)) == 1
    assert [one.rule for one in here.events(ItemEscalated)] == [ROOT]


@pytest.mark.parametrize("engine", ["lineup", "none"])
async def test_a_proposal_that_a_person_refuses_is_not_proposed_to_them_again(tmp_path, engine):
    here = OnFixture(tmp_path, handler=STRAYING)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(here.run(EMPTY, mode="review", budget=ONCE, engine=engine))
        await here.kept.until(ApprovalRequested, count=1)
        [asked] = here.events(ApprovalRequested)
        here.person.says("refuse", approval=asked.approval, reason="not here")
    assert len(here.events(ApprovalRequested)) == 1
    assert here.events(AttemptFailed)[-1].cause == "disapproved"
    assert [one.rule for one in here.events(ItemEscalated)] == [EMPTY]


async def test_after_an_escalation_of_the_architect_no_role_is_asked_for_another_plan(tmp_path):
    """It escalates at the third of six attempts; both proposals then fail, and its words reach the person."""
    answer = answer_with(
        plan={**OWN, "paths": [SSHD]},
        act={"actions": [{"do": "set_option", "path": SSHD, "key": "PermitRootLogin", "value": "yes"}]},
        reflect={"mechanism": "m", "environment": "e", "advice": "a", "decision": "ESCALATE", "reason": "not here"},
    )
    wrong = Recipe(ROOT, "ana", (SetOption(path=SSHD, key="X11Forwarding", value="no"),))
    here = await played(tmp_path, ROOT, handler=answer, recipes=(wrong,), budget=Budget())
    assert [bool(one.why_roles_stopped) for one in here.events(AttemptStarted)] == [False, False, False, True, True]
    assert here.events(ItemEscalated)[0].reason.startswith("the Architect escalates: not here. What is proposed did")
