"""A run that asks no model: what the content proposes is tried in order, and scanner and probes judge it."""

from dataclasses import replace

import pytest

from app.events.event_field_types import SetOption
from app.events.kinds import (
    ActionProposed,
    ActionRolledBack,
    AttemptReflected,
    AttemptStarted,
    CandidatesGathered,
    FactsGathered,
    ItemEscalated,
    ItemPassed,
    PlanMade,
    RunStarted,
    SentryAlarm,
    TurnStarted,
    VerdictExplained,
)
from app.skills.skill import ContentFix
from app.skills.stig.pack import STIG
from tests.loop.onfixture import OnFixture

EMPTY, ROOT, CIPHERS = "V-257984", "V-257985", "V-257989"
"""A finding whose proposal holds, one whose proposal cuts the backup, and one without a proposal."""


async def test_a_proposal_of_the_content_passes_without_a_turn(tmp_path):
    here = OnFixture(tmp_path)
    await here.run(EMPTY, engine="none")
    assert [one.rule for one in here.events(ItemPassed)] == [EMPTY]
    assert here.events(TurnStarted) == []
    assert here.events(RunStarted)[0].seats == ()
    [proposed] = here.events(ActionProposed)
    wanted = SetOption(path="/etc/ssh/sshd_config", key="PermitEmptyPasswords", value="no")
    assert (proposed.source, proposed.actions) == ("the fix text", (wanted,))
    order = "taken in the stated order, as no model is asked"
    assert proposed.describe().text == f"The content's own fix, from the fix text, {order}"
    assert (here.events(PlanMade)[0].candidate, here.events(PlanMade)[0].without_role) == (1, True)
    assert here.events(VerdictExplained)[0].explanation == "No model is asked; the scanner's verdict stands alone."


async def test_where_no_fix_is_proven_elsewhere_the_first_attempt_begins_without_one(tmp_path):
    here = OnFixture(tmp_path)
    await here.run(EMPTY, engine="none", replay_fixes=True)
    [begun] = here.events(AttemptStarted)
    assert (begun.offered, bool(begun.seen)) == (None, True)
    assert [one.rule for one in here.events(ItemPassed)] == [EMPTY]


async def test_a_proposal_that_harms_is_undone_and_the_item_escalated(tmp_path):
    here = OnFixture(tmp_path)
    await here.run(ROOT, engine="none")
    assert here.events(SentryAlarm)[0].by == "probe"
    assert here.events(ActionRolledBack)[0].differences == ()
    assert here.events(FactsGathered) == []
    assert here.events(AttemptReflected)[0].reason == "no model is asked"
    assert "all that is proposed was tried; the last: backup-login" in here.events(ItemEscalated)[0].reason


async def test_an_item_without_a_proposal_is_escalated_with_the_reason(tmp_path):
    here = OnFixture(tmp_path)
    await here.run(CIPHERS, engine="none")
    assert here.events(ActionProposed) == []
    assert "the fix text: The fix text holds no line and no command" in here.events(ItemEscalated)[0].reason


async def test_what_the_policy_refuses_is_not_tried(tmp_path):
    harmful = replace(STIG.rules[ROOT], fix="Set StrictModes to no.")
    here = OnFixture(tmp_path, skill=replace(STIG, rules={**STIG.rules, ROOT: harmful}))
    await here.run(ROOT, engine="none")
    [gathered] = here.events(CandidatesGathered)
    assert gathered.candidates[0].refusal
    assert gathered.describe().text == f"Proposed for {ROOT} and refused by the policy: the fix text"
    assert here.events(ActionProposed) == []


async def test_a_script_is_tried_on_a_copy_when_all_else_has_failed(tmp_path):
    """Here it cannot be, as the host is a tree of files; the item is escalated with both reasons."""
    script = (ContentFix("the content's script", "true"),)
    foreign = replace(STIG.rules[ROOT], foreign=True)
    skill = replace(STIG, rules={**STIG.rules, ROOT: foreign}, list_scripts=lambda _: script)
    here = OnFixture(tmp_path, skill=skill)
    await here.run(ROOT, engine="none")
    assert len(here.events(ActionProposed)) == 1
    first, second = here.events(CandidatesGathered)
    assert [one.is_script_trial for one in first.candidates] == [False]
    assert [one.is_script_trial for one in second.candidates] == [False, True]
    assert second.candidates[0] == first.candidates[0]
    assert here.events(ItemEscalated)[0].question == "would harm this host"


@pytest.mark.parametrize(
    ("rule", "question"), [(ROOT, "would harm this host"), (CIPHERS, "has no proposal that is safe here")]
)
async def test_an_escalated_item_names_the_question_that_it_leaves(tmp_path, rule, question):
    here = OnFixture(tmp_path)
    await here.run(rule, engine="none")
    assert [one.question for one in here.events(ItemEscalated)] == [question]
    assert here.state.state.items[rule].question == question
