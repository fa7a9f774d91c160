"""One approved change, with the loop's own decide and perform: how often the host is asked, and what is enforced.

The host is the built-in one with a package manager that counts its dry runs.
"""

import pytest

from app.events.event_field_types import AppendLine, SetOption, WriteFile
from app.events.kinds import (
    ActionApplied,
    ActionApplying,
    ActionFailedToApply,
    ActionProposed,
    ActionRefused,
    ActionRolledBack,
    ActionsAllowed,
    ApprovalEdited,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRequested,
    ItemDeferred,
    PlanMade,
    SentryProbed,
)
from app.events.log_writer import RunLog
from app.events.record import GENESIS
from app.loop.decide import decide_next_effect
from app.loop.effects import Ask, ExpireApproval, Wait, Watch
from app.loop.perform import perform_effect
from app.loop.run_in_progress import Run, RunServices
from app.loop.state import fold_events
from app.resources.kind import ResourceState
from app.resources.package import RemovePackage
from app.scanners.scanner import Verdict
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.program_sandbox import Confinement
from app.targets.resources.resource_dry_run import NONE, DryRun, PerformedChange
from app.targets.target_thread import TargetThread
from tests.loop.playing import pack, request, rule
from tests.loop.test_approvals import Kept

SKILL = pack([rule("A")])
TELNET = RemovePackage(package="telnet")
PARANOID = WriteFile(path="/etc/sysctl.d/50-x.conf", content="kernel.perf_event_paranoid = 2\n")
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

    async def scan(self, _files, rules, _judged=None):
        return [Verdict(one, "fail", "") for one in rules]

    scan_rehearsal_if_supported = scan


class Life:
    """A run that proposes `actions`, up to the change or to a refusal. Its log outlives its workers."""

    def __init__(self, folder, actions, *, mode="review"):
        self.packages, self.folder, self.actions = Packages(), folder, actions
        self.target = FixtureTarget("h", folder, confinement=Confinement("none", ""), resources=self.packages)
        self.kept = Kept()
        self.means = RunServices(SKILL, TargetThread(self.target), Failing(), {}, "w")
        self.restart()
        self.run.append(request(SKILL, mode=mode))

    def restart(self):
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
                    paths = ("package:telnet", *(getattr(one, "path", "") for one in self.actions))
                    at = {"rule": "A", "attempt": self.run.rule_and_attempt_number[1]}
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
    proposed = life.events(ActionProposed)[0]
    assert applied.diff == life.events(ApprovalRequested)[0].diff == proposed.diff
    assert set(proposed.diff.splitlines()[4:]) < set(proposed.around.splitlines()), "more of the same file"
    assert (life.packages.dry_runs, life.packages.performed) == (2, 1)


async def test_a_dry_run_that_differs_under_the_lock_voids_the_approval_and_the_change_is_proposed_again(life):
    await life.until(ApprovalGiven)
    life.packages.goes.append("telnet-ssl")
    expired = await life.until(ApprovalExpired, ActionApplied)
    assert (expired.drifted, life.packages.performed, life.target.list_pending()) == (True, 0, [])
    asked = await life.until(ApprovalRequested)
    assert "resource package:telnet-ssl" in asked.diff
    assert life.events(ActionRolledBack)[0].paths == ()
    applied = await life.until(ActionApplied, *TURNED_DOWN)
    assert (applied.diff, life.packages.performed) == (asked.diff, 1)


async def test_without_an_approval_a_change_is_assessed_anew_where_the_host_has_changed(tmp_path):
    life = Life(tmp_path / "h", (TELNET,), mode="auto")
    await life.until(ActionsAllowed)
    life.packages.goes.append("telnet-ssl")
    applied = await life.until(ActionApplied, *TURNED_DOWN)
    assert "resource package:telnet-ssl" in applied.diff
    assert (life.packages.dry_runs, life.packages.performed) == (2, 1)


@pytest.mark.parametrize("mode", ["auto", "review"])
async def test_a_file_that_the_policy_read_and_the_change_does_not_touch_is_compared_too(tmp_path, mode):
    """The diff is the same, and behind the new file the change would weaken a setting."""
    life = Life(tmp_path / "h", (PARANOID,), mode=mode)
    await life.until(ApprovalGiven if mode == "review" else ActionsAllowed)
    (tmp_path / "h/root/etc/sysctl.d/10-a.conf").write_text("kernel.perf_event_paranoid = 3\n")
    failed = await life.until(ActionApplied, *TURNED_DOWN)
    assert isinstance(failed, ActionFailedToApply)
    assert failed.reason.startswith("Refused (weakening): ")
    assert life.target.files.read(PARANOID.path) is None


async def test_after_a_crash_the_change_is_assessed_anew_and_compared_with_the_approval_in_the_log(life):
    await life.until(ApprovalGiven)
    life.restart()
    assert life.run.assessed is None
    assert isinstance(await life.until(ActionApplied, *TURNED_DOWN), ActionApplied)
    assert (life.packages.dry_runs, life.packages.performed) == (3, 1)


async def test_an_approval_in_the_log_does_not_cover_what_the_host_became_before_the_restart(life):
    await life.until(ApprovalGiven)
    life.restart()
    life.packages.goes.append("telnet-ssl")
    expired = await life.until(ActionApplied, *TURNED_DOWN)
    assert (expired.drifted, life.events(ActionApplying), life.packages.performed) == (True, [], 0)


async def test_a_crash_between_proposal_and_policy_leaves_the_policy_its_say(tmp_path):
    life = Life(tmp_path / "h", (RemovePackage(package="telnet"),))
    life.packages.goes.append("rsyslog")
    await life.until(ActionProposed)
    life.restart()
    refused = await life.until(ActionApplied, *TURNED_DOWN)
    assert (refused.clause, life.packages.performed) == ("evidence tampering", 0)


async def test_the_sentry_is_shown_the_newest_lines_of_the_hosts_log(tmp_path):
    life = Life(tmp_path / "h", (PARANOID,), mode="auto")
    await life.until(ActionApplied, *TURNED_DOWN)
    for log in (tmp_path / "h/root/var/log").rglob("*.log"):
        log.unlink()
    (tmp_path / "h/root/var/log/messages").unlink(missing_ok=True)
    (tmp_path / "h/root/var/log/secure").write_text("".join(f"line {number}\n" for number in range(20)))
    await perform_effect(life.run, Watch())
    (probed,) = life.events(SentryProbed)
    assert probed.log == tuple(f"secure: line {number}" for number in range(8, 20))


RULES_D, SYSCTL = "/etc/audit/rules.d/audit.rules", "/etc/sysctl.d/50-x.conf"
ONE_WAY = (
    AppendLine(path=RULES_D, line="-e 2"),
    AppendLine(path=RULES_D, line="--loginuid-immutable"),
    SetOption(path=RULES_D, key="e", value="2"),
    WriteFile(path=SYSCTL, content="kernel.kexec_load_disabled = 1\n"),
    WriteFile(path=SYSCTL, content="kernel.yama.ptrace_scope = 3\n"),
)


@pytest.mark.parametrize("action", ONE_WAY)
async def test_a_change_that_no_rollback_takes_back_is_never_made_without_a_person_whatever_its_rule(tmp_path, action):
    life = Life(tmp_path / "h", (action,), mode="auto")
    ended = await life.until(ItemDeferred, ActionApplying, ActionRefused)
    assert isinstance(ended, ItemDeferred)
    assert "a person decides: run it in review mode" in ended.reason
    (needs,) = [one.needs for one in life.events(ActionsAllowed)]
    assert (needs.people, needs.risk.irreversible) == (1, True)
    assert "holds until the next boot, even after a rollback" in needs.risk.warnings[0]


async def test_in_review_mode_a_person_is_asked_and_may_allow_it(tmp_path):
    life = Life(tmp_path / "h", (ONE_WAY[0],))
    assert isinstance(await life.until(ActionApplied, *TURNED_DOWN), ActionApplied)
    assert life.run.attempt.needs.risk.warnings == ("audit -e 2 holds until the next boot, even after a rollback",)


async def test_an_approval_that_nobody_gave_expires_by_its_id(life):
    asked = await life.until(ApprovalRequested)
    await perform_effect(life.run, ExpireApproval())
    (expired,) = life.events(ApprovalExpired)
    assert (expired.approval, expired.reason) == (asked.approval, "nobody approved it in time")
    assert not expired.drifted
