"""One approved change, with the loop's own decide and perform: how often the host is asked, and what is enforced.

The host is the built-in one with a package manager that counts its dry runs.
"""

from types import SimpleNamespace

import pytest

from app.events.kinds import (
    ActionApplied,
    ActionFailedToApply,
    ActionProposed,
    ActionRefused,
    ApprovalEdited,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRequested,
    PlanMade,
)
from app.events.log import RunLog
from app.events.record import GENESIS
from app.events.vocabulary import RemovePackage, SetOption
from app.loop.decide import decide_next_effect
from app.loop.effects import Ask, Wait
from app.loop.perform import perform_effect
from app.loop.run import Run, RunServices
from app.loop.state import fold_events
from app.scanners.scanner import Verdict
from app.targets.confinement import Confinement
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.resources.dry_run import NONE, DryRun, PerformedChange, ResourceState
from app.targets.target_thread import TargetThread
from tests.loop.playing import pack, request, rule
from tests.loop.test_approvals import Kept

SKILL = pack([rule("A")])
TELNET = RemovePackage(package="telnet")
UMASK = SetOption(path="/etc/login.defs", key="UMASK", value="077")
TURNED_DOWN = (ActionRefused, ActionFailedToApply, ApprovalExpired)


class Packages:
    """A package manager: what goes with telnet, and how often it was asked for a dry run."""

    def __init__(self):
        self.dry_runs, self.performed, self.goes = 0, 0, ["telnet"]

    def predict_changes(self, actions):
        if TELNET not in actions:
            return NONE
        self.dry_runs += 1
        return DryRun(tuple(ResourceState(f"package:{name}", "installed 1", "") for name in self.goes))

    def perform_actions(self, _journal, actions, _foreseen):
        self.performed += TELNET in actions
        return PerformedChange()


class Failing:
    name = "s"

    async def scan(self, _files, rules):
        return [Verdict(one, "fail", "") for one in rules]

    scan_rehearsal = scan


class Life:
    """A run that proposes `actions`, up to the change or to a refusal. Its log outlives its workers."""

    def __init__(self, folder, actions, *, mode="review"):
        self.packages, self.folder, self.actions = Packages(), folder, actions
        self.target = FixtureTarget("h", folder, confinement=Confinement("none", ""), resources=self.packages)
        self.kept = Kept()
        self.means = RunServices(
            SKILL, TargetThread(self.target), Failing(), {}, SimpleNamespace(list_known_lessons=lambda _: ()), "w"
        )
        self.resume()
        self.run.append(request(SKILL, mode=mode))

    def resume(self):
        """A worker that knows nothing but the log."""
        last = (self.kept.lines[-1].seq, self.kept.lines[-1].hash) if self.kept.lines else (0, GENESIS)
        self.run = Run(fold_events(self.kept.lines), RunLog("r", self.kept, last), self.means)

    def events(self, *kinds):
        return [one.event for one in self.kept.lines if isinstance(one.event, kinds or object)]

    async def until(self, *kinds):
        """Go on until one of these has come; a person approves what they are asked for."""
        before = len(self.events(*kinds))
        while len(self.events(*kinds)) == before:
            effect = decide_next_effect(self.run.state, SKILL, self.means.clock())
            match effect:
                case Ask(purpose="plan"):
                    paths = ("package:telnet", UMASK.path)
                    at = {"rule": "A", "attempt": self.run.position[1]}
                    self.run.append(
                        PlanMade(**at, approach="", paths=paths, steps=(), risk="", rollback="", validation="")
                    )
                case Ask(purpose="act"):
                    self.run.append(ApprovalEdited(approval="", by="p", reason="", actions=self.actions))
                case Wait():
                    asked = self.events(ApprovalRequested)[-1]
                    self.run.append(ApprovalGiven(approval=asked.approval, by="p", reason=""))
                case _:
                    await perform_effect(self.run, effect)
        return self.events(*kinds)[-1]


@pytest.fixture
def life(tmp_path):
    return Life(tmp_path / "h", (TELNET,))


async def test_one_approved_package_change_asks_the_host_for_two_dry_runs(life):
    await life.until(ApprovalGiven)
    applied = await life.until(ActionApplied, *TURNED_DOWN)
    assert isinstance(applied, ActionApplied)
    assert applied.diff == life.events(ApprovalRequested)[0].diff == life.events(ActionProposed)[0].diff
    assert (life.packages.dry_runs, life.packages.performed) == (2, 1)
