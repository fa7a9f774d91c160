"""A fix that held on one host, offered to the next one: when, what then happens to it, and what the log says of it."""

from dataclasses import replace

import httpx
import msgspec
import pytest

from app.events.event_field_types import Budget, SetOption
from app.events.kinds import (
    ActionApplied,
    ActionProposed,
    ApprovalRequested,
    AttemptFailed,
    AttemptReflected,
    AttemptStarted,
    FixProven,
    ItemEscalated,
    ItemPassed,
    Rehearsed,
    SentryProbed,
    TurnStarted,
)
from app.loop.proven_fix import compute_deciding_files_digest
from app.skills.skill import Rule
from app.store.prior_knowledge import RunHistory
from app.targets.fixture.fixture_target import FixtureTarget
from tests.hostfiles import DictFiles
from tests.loop.onfixture import OnFixture, answered

RULE = "V-258069"
VETOED_FIRST = "V-257981"
"""The scripted Auditor vetoes attempt 1 of it, whatever the change."""


class Fixes(RunHistory):
    def __init__(self, *fixes):
        self.fixes, self.asked = fixes, []

    def list_fixes_proven_elsewhere(self, rule, seen, *, is_host_simulated):
        self.asked.append((rule, is_host_simulated))
        return [one for one in self.fixes if (one.rule, one.seen) == (rule, seen)]


@pytest.fixture
async def proven(tmp_path):
    """What held on web1, as the log has it."""

    async def proved(rule):
        first = OnFixture(tmp_path / "web1", host="web1")
        await first.run(rule, run="r1")
        [told] = first.events(FixProven)
        return told.fix

    return proved


async def second(tmp_path, fix, *, change=None, **asked):
    here = OnFixture(tmp_path / "web2", host="web2", history=Fixes(fix))
    if change:
        await here.target.run_blocking(lambda target: (target.prepare(), change(target.tree)))
    await here.run(fix.rule, run="r2", **{"replay_fixes": True, "keep": bool(change), **asked})
    return here


def purposes(played):
    return [one.purpose for one in played.events(TurnStarted)]


async def test_what_held_elsewhere_is_made_without_a_plan_and_looked_at_as_any_other(tmp_path, proven):
    fix = await proven(RULE)
    assert (fix.id, fix.host, fix.run, fix.attempt, fix.played) == (f"r1.{RULE}.1", "web1", "r1", 1, True)
    here = await second(tmp_path, fix)
    assert purposes(here) == ["review", "triage"]
    assert here.events(AttemptStarted)[0].offered == fix
    [proposed] = here.events(ActionProposed)
    assert (proposed.actions, proposed.replayed) == (fix.actions, fix.id)
    assert proposed.diff
    assert [one.word for one in here.events(Rehearsed)] == ["pass"]
    assert here.events(ActionApplied)
    assert here.events(SentryProbed)
    assert here.events(ItemPassed)[0].replayed == fix.id
    assert not here.events(FixProven), "a repetition is no proof of its own"


async def test_one_byte_or_bit_of_difference_in_what_decides_the_rule_and_the_roles_work_it_out(tmp_path, proven):
    fix = await proven(RULE)

    def changed(tree):
        state = tree.state("/etc/security/limits.conf")
        tree.write("/etc/security/limits.conf", replace(state, mode=0o640))

    here = await second(tmp_path, fix, change=changed)
    assert purposes(here)[:2] == ["plan", "act"]
    assert here.events(AttemptStarted)[0].offered is None


async def test_whoever_wants_no_replay_gets_none_and_is_not_asked_for(tmp_path, proven):
    here = await second(tmp_path, await proven(RULE), replay_fixes=False)
    assert purposes(here) == ["plan", "act", "review", "triage"]
    assert here.state.services.history.asked == []


async def test_what_fails_on_a_copy_never_reaches_the_host_and_the_roles_take_over(tmp_path, proven):
    fix = await proven(RULE)
    useless = SetOption(path="/etc/security/limits.conf", key="soft maxlogins", value="9")
    here = await second(tmp_path, msgspec.structs.replace(fix, actions=(useless,)), budget=Budget(attempts=1))
    failed = here.events(AttemptFailed)[0]
    assert (failed.cause, failed.replayed) == ("scanner", fix.id)
    assert failed.reason.startswith("on a copy: ")
    assert "never came as far" in here.events(AttemptReflected)[0].reason
    assert purposes(here) == ["plan", "act", "review", "triage"]
    assert len(here.events(ActionApplied)) == 1
    assert here.events(ItemPassed)[0].attempts == 2, "the replay took none of the budget's attempts"
    assert [one.offered for one in here.events(AttemptStarted)][1:] == [None]
    assert here.events(FixProven)


async def test_what_is_vetoed_here_is_undone_here_and_learnt_from(tmp_path, proven):
    fix = await proven(VETOED_FIRST)
    assert fix.attempt == 2
    here = await second(tmp_path, fix)
    failed = here.events(AttemptFailed)[0]
    assert (failed.cause, failed.replayed) == ("vetoed", fix.id)
    assert purposes(here)[:3] == ["review", "reflect", "plan"]


async def test_a_person_is_asked_for_a_replay_as_for_any_change(tmp_path, proven):
    fix = await proven(RULE)
    here = await second(tmp_path, fix, mode="review", budget=Budget(approval_seconds=0.1))
    assert purposes(here) == []
    assert here.events(ApprovalRequested)[0].diff == here.events(ActionProposed)[0].diff
    assert not here.events(ActionApplied)
    assert not here.events(ItemPassed)
    assert not here.events(ItemEscalated)


async def test_a_change_that_the_sentry_stayed_silent_on_proves_nothing(tmp_path):
    def deaf(request):
        refused = httpx.Response(400, json={"error": {"message": "no"}})
        return refused if b'"triage"' in request.content else answered(request)

    here = OnFixture(tmp_path / "web1", host="web1", handler=deaf)
    await here.run(RULE, run="r1")
    assert here.events(ItemPassed)
    assert not here.events(FixProven)


class Unprobed(FixtureTarget):
    """A host on which one probe cannot be asked."""

    def __init__(self, folder, name):
        super().__init__("web1", folder)
        self._unprobed = name

    def check_health(self):
        return tuple(
            msgspec.structs.replace(probe, asked=False) if probe.name == self._unprobed else probe
            for probe in super().check_health()
        )


@pytest.mark.parametrize(("unasked", "proofs"), [("password-change", 0), ("audit-disk", 1)])
async def test_a_change_whose_probe_could_not_be_asked_proves_nothing(tmp_path, unasked, proofs):
    """The rule changes /etc/security/limits.conf, which can stop passwords from being set."""
    here = OnFixture(tmp_path, target=Unprobed(tmp_path, unasked))
    await here.run(RULE, run="r1")
    assert here.events(ItemPassed)
    assert len(here.events(FixProven)) == proofs


@pytest.mark.parametrize(("paths", "rulebook"), [((), "book"), (("/etc/x",), "")])
def test_without_files_that_decide_or_a_rulebook_there_is_no_digest(paths, rulebook):
    rule = Rule("R-1", "", "II", "t", "r", "f", paths, None)
    assert compute_deciding_files_digest(rule, DictFiles({"/etc/x": "a"}), rulebook) == ""
