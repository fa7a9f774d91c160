"""What recipes and the content propose, and what the Architect makes of it."""

from dataclasses import replace

import msgspec
import pytest

from app.candidates.recipe_file_reader import Recipe
from app.events.event_field_types import AppendLine, Candidate, Sampling, SetOption, fingerprint_actions
from app.events.kinds import ActionProposed, CandidatesGathered, ItemPassed, PlanMade, TurnFinished, TurnStarted
from app.loop import answer_schemas, prompts
from app.loop.answer_schemas import SCHEMA_BUILDERS
from app.loop.answers import BrokenAnswer, Plan
from app.loop.prompts import CHARS_PER_TOKEN, build_user_prompt
from app.loop.turn_context import build_situation
from app.skills.stig.pack import STIG
from tests.loop.architect import OWN, Architect
from tests.loop.onfixture import OnFixture
from tests.loop.walks import about, host

EMPTY, ROOT = "V-257984", "V-257985"
SSHD = "/etc/ssh/sshd_config"
SHOWN = Sampling(candidates=True)
GUIDED = Sampling(candidates=True, guided=True)


async def played(tmp_path, architect, rule=EMPTY, *, recipes=(), sampling=SHOWN, **more):
    here = OnFixture(tmp_path, handler=architect, recipes=recipes)
    here.sampling = sampling
    await here.run(rule, **more)
    return here


async def test_the_architect_takes_what_the_content_proposes_and_no_worker_is_asked(tmp_path):
    architect = Architect({**OWN, "approach": "The fix text has it.", "candidate": 1, "paths": ["/etc/passwd"]})
    here = await played(tmp_path, architect)
    assert [one.rule for one in here.events(ItemPassed)] == [EMPTY]
    assert [one.purpose for one in here.events(TurnStarted)] == ["plan", "review", "triage"]
    [plan] = here.events(PlanMade)
    assert (plan.candidate, plan.approach, plan.paths) == (1, "The fix text has it.", (SSHD,))
    assert not plan.without_role
    [proposed] = here.events(ActionProposed)
    assert proposed.actions == (SetOption(path=SSHD, key="PermitEmptyPasswords", value="no"),)
    assert proposed.describe().text == "The content's own fix, from the fix text, taken by the Architect"


async def test_what_a_guided_architect_takes_is_applied_and_logged_like_what_any_architect_takes(tmp_path):
    take = {"approach": "The fix text has it.", "candidate": 1}
    guided = await played(tmp_path / "guided", Architect(take), sampling=GUIDED)
    free = await played(tmp_path / "free", Architect({**OWN, **take, "paths": [SSHD]}))
    assert [one.rule for one in guided.events(ItemPassed)] == [EMPTY]
    assert guided.events(ActionProposed) == free.events(ActionProposed)
    assert guided.events(PlanMade) == free.events(PlanMade)
    assert [one.purpose for one in guided.events(TurnStarted)] == ["plan", "review", "triage"]


async def test_a_plan_of_its_own_is_written_by_the_worker_who_sees_the_proposals(tmp_path):
    architect = Architect()
    here = await played(tmp_path, architect)
    assert [one.purpose for one in here.events(TurnStarted)] == ["plan", "act", "review", "triage"]
    assert here.events(ActionProposed)[0].source == ""
    assert '1. [{"do":"set_option"' in architect.read_prompt("act")


async def test_the_architect_sees_the_source_the_policys_answer_and_a_short_diff(tmp_path):
    refused = Recipe(EMPTY, "ana", (SetOption(path=SSHD, key="StrictModes", value="no"),))
    architect = Architect()
    await played(tmp_path, architect, recipes=(refused,))
    told = architect.read_prompt("plan")
    assert f"1. a recipe of ana on {SSHD}: the policy refuses it: " in told
    assert f"2. the fix text on {SSHD}: the policy accepts it\n" in told
    assert "  +PermitEmptyPasswords\tno" in told
    assert "Its number as `candidate` (2) takes it unchanged; 0 is a plan of your own" in told


async def test_a_number_that_is_not_there_is_no_usable_answer(tmp_path):
    wrong = {**OWN, "candidate": 2, "paths": [SSHD]}
    here = await played(tmp_path, Architect(wrong, {**wrong, "candidate": -1}, {**wrong, "candidate": 1}))
    first, second, third = here.events(TurnFinished)[:3]
    assert (first.outcome, second.outcome, third.outcome) == ("broken", "broken", "answered")
    assert "candidate 2 cannot be taken: the numbers are 0, 1" in first.detail
    assert here.events(PlanMade)[0].candidate == 1


async def test_what_the_policy_refuses_can_be_taken_by_no_number(tmp_path):
    refused = Recipe(EMPTY, "ana", (SetOption(path=SSHD, key="StrictModes", value="no"),))
    here = await played(tmp_path, Architect({**OWN, "candidate": 1, "paths": [SSHD]}), recipes=(refused,))
    assert here.events(TurnFinished)[0].outcome == "broken"
    assert "the numbers are 0, 2" in here.events(TurnFinished)[0].detail


async def test_what_has_failed_is_named_and_cannot_be_taken_again(tmp_path):
    take = {**OWN, "candidate": 1, "paths": [SSHD]}
    architect = Architect(take, take)
    here = await played(tmp_path, architect, ROOT)
    assert here.events(CandidatesGathered)[0].rule == ROOT
    assert len(here.events(CandidatesGathered)) == 1
    again = [text for purpose, text in architect.prompts if purpose == "plan"][1]
    assert "Proposals that failed on this host and cannot be taken: 1." in again
    assert "Taking a proposal" not in again
    assert [one.outcome for one in here.events(TurnFinished) if one.purpose == "plan"][:2] == ["answered", "broken"]
    assert here.events(ItemPassed)[0].attempts == 2


async def test_a_seat_without_candidates_has_the_prompts_and_shapes_of_before(tmp_path):
    architect = Architect()
    here = await played(tmp_path, architect, sampling=Sampling())
    assert here.events(CandidatesGathered)[0].candidates[0].is_usable
    assert "Proposals" not in architect.read_prompt("plan")
    assert "Proposals" not in architect.read_prompt("act")


def proposing(*candidates, guided=False):
    asked = about(EMPTY, host(), guided=guided)
    return replace(asked, item=msgspec.structs.replace(asked.item, candidates=candidates), shows_candidates=True)


GOOD = Candidate(source="the fix text", actions=(AppendLine(path=SSHD, line="x"),), diff="+x\n" * 400)


def test_the_shapes_allow_exactly_the_numbers_that_can_be_taken():
    known = (GOOD, Candidate(source="s", actions=GOOD.actions, refusal="no"), Candidate(source="t", gap="none"))
    now = build_situation("plan", proposing(*known))
    assert SCHEMA_BUILDERS["plan"](now)["properties"]["candidate"] == {"enum": [0, 1]}
    takes, own = SCHEMA_BUILDERS["plan"](build_situation("plan", proposing(*known, guided=True)))["anyOf"]
    assert takes["properties"]["candidate"] == {"enum": [1]}
    assert "paths" not in takes["properties"]
    assert "candidate" not in own["properties"]
    with pytest.raises(BrokenAnswer):
        answer_schemas.resolve_candidate_paths(Plan("", (SSHD,), candidate=2), now)


def test_a_failed_proposal_is_named_to_a_seat_that_may_take_proposals_and_to_no_other():
    fresh = proposing(GOOD)
    failed = replace(fresh, item=msgspec.structs.replace(fresh.item, tried=(fingerprint_actions(GOOD.actions),)))
    assert "cannot be taken: 1." in build_user_prompt("plan", failed, 3000)
    assert "Failed here before" not in build_user_prompt("plan", fresh, 3000)
    assert "Failed here before" not in build_user_prompt("plan", replace(failed, shows_candidates=False), 3000)


def test_a_guided_shape_no_longer_offers_a_proposal_that_has_failed():
    asked = proposing(GOOD, guided=True)
    failed = msgspec.structs.replace(asked.item, tried=(fingerprint_actions(GOOD.actions),))
    shape = SCHEMA_BUILDERS["plan"](build_situation("plan", replace(asked, item=failed)))
    assert set(shape["properties"]) == {"approach", "paths"}


@pytest.mark.parametrize("tokens", [700, 1500, 3000])
def test_many_long_proposals_leave_room_for_the_file_that_decides(tokens):
    many = tuple(msgspec.structs.replace(GOOD, source=f"source {n}") for n in range(8))
    told = build_user_prompt("plan", proposing(*many, guided=True), tokens)
    assert len(told) <= tokens * CHARS_PER_TOKEN
    assert "1. source 0 on " in told
    assert f"## File {SSHD}" in told
    assert told.count("  +x\n") <= 8 * prompts._DIFF_LINES


def test_without_candidates_a_guided_prompt_is_as_it_was():
    asked = proposing(GOOD, guided=True)
    plain = replace(asked, item=msgspec.structs.replace(asked.item, candidates=()), shows_candidates=False)
    assert build_user_prompt("plan", replace(asked, shows_candidates=False), 2000) == build_user_prompt(
        "plan", plain, 2000
    )
    assert STIG.rules[EMPTY].id in build_user_prompt("plan", plain, 2000)
