"""Faults of the machinery are nobody's attempt: the run waits, and ends as if nothing had happened."""

import errno
import os

import httpx
import pytest

from app.errors import ConnectionLost
from app.events import kinds
from app.loop.state import fold_events
from app.scanners.scanner import BuiltinScanner
from app.skills.stig.pack import STIG
from app.targets.fixture.fixture_target import FixtureTarget
from tests.loop.onfixture import OnFixture, answered

RULE = "V-257820"
FAULTS = [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES, errno.EMFILE]


class FailingDisk:
    """Refuses the next steps from one that is named on, as a full disk does until somebody frees space."""

    def __init__(self, at, code, steps=5):
        self._at, self._code, self.left = at, code, steps
        self._struck = False

    def __call__(self, step):
        self._struck = self._struck or step.startswith(self._at)
        if self._struck and self.left:
            self.left -= 1
            raise OSError(self._code, os.strerror(self._code))


def list_outcome(events):
    """What a run came to, without its clock and its waits."""
    kept = kinds.ItemEnd | kinds.AttemptStarted | kinds.AttemptFailed | kinds.AttemptReflected | kinds.LessonLearnt
    return [event for event in events if isinstance(event, kept | kinds.RunFinished)]


async def work_on(folder, **more):
    on = OnFixture(folder, **more)
    await on.run(RULE)
    return on


@pytest.fixture
async def calm(tmp_path):
    return list_outcome((await work_on(tmp_path / "calm")).events())


def require_same_end(on, calm):
    assert list_outcome(on.events()) == calm
    state = fold_events(on.kept.lines)
    assert state.items[RULE].attempt.number == 1
    assert state.items[RULE].status == "passed"
    assert state.items[RULE].tried == state.items[RULE].lessons == ()
    assert state.waiting is None


@pytest.mark.parametrize("code", FAULTS, ids=errno.errorcode.get)
async def test_a_disk_that_fails_while_the_change_is_written_costs_no_attempt(tmp_path, calm, code):
    disk = FailingDisk("rename dnf.conf", code)
    on = await work_on(tmp_path / "host", target=FixtureTarget("fixture", tmp_path / "host", step=disk))
    require_same_end(on, calm)
    assert disk.left == 0
    (waiting,) = on.events(kinds.RunWaiting)
    assert waiting.cause == "storage"
    assert waiting.reason.endswith("the run resumes by itself.")
    assert len(on.events(kinds.RunWaitEnded)) == 1
    assert on.events(kinds.ActionRolledBack)[0].differences == ()


@pytest.mark.parametrize("at", ["write contents.json", "make folder", "sync the folder of committed", "write baseline"])
async def test_a_disk_that_is_full_at_another_moment_costs_no_attempt(tmp_path, calm, at):
    disk = FailingDisk(at, errno.EACCES)
    on = await work_on(tmp_path / "host", target=FixtureTarget("fixture", tmp_path / "host", step=disk))
    require_same_end(on, calm)
    assert disk.left == 0
    assert len(on.events(kinds.RunWaiting)) == 1


async def test_files_that_cannot_be_read_for_a_verdict_are_no_verdict(tmp_path, calm):
    left = [3]

    def check(files):
        verdict = STIG.rules[RULE].check(files)
        if verdict.word == "pass" and left[0]:
            left[0] -= 1
            raise PermissionError(errno.EACCES, "Permission denied", "/data/hosts/fixture/root")
        return verdict

    on = await work_on(tmp_path / "host", scanner=BuiltinScanner({RULE: check}))
    require_same_end(on, calm)
    assert "the file /data/hosts/fixture/root" in on.events(kinds.RunWaiting)[0].reason


async def test_an_engine_that_is_gone_in_every_role_costs_no_attempt_and_no_budget(tmp_path, calm):
    """Each question meets a dead engine first; a change that is open meanwhile is taken back and made again."""
    refused = set()

    def handler(request):
        if request.url.path.endswith("/chat/completions") and (purpose := name_purpose(request)) not in refused:
            refused.add(purpose)
            return httpx.Response(200, content=b'data: {"error":{"message":"EngineCore died","code":500}}\n\n')
        if refused and len(refused) != ready[0]:
            ready[0] = len(refused)
            return httpx.Response(503, json={})
        return answered(request) if request.method == "POST" else answer_health(request)

    ready = [0]
    on = await work_on(tmp_path / "host", handler=handler)
    require_same_end(on, calm)


def name_purpose(request):
    return request.content.split(b'"name":"')[1].split(b'"')[0]


def answer_health(request):
    return httpx.Response(200, json={"data": [{"id": "m"}]} if request.url.path.endswith("models") else {})


async def test_a_host_that_is_out_of_reach_before_a_change_is_waited_for(tmp_path, calm):
    class Far(FixtureTarget):
        away = 4

        def assess_actions(self, *asked):
            self.assert_usable()
            return super().assess_actions(*asked)

        def assert_usable(self):
            if self.away:
                self.away -= 1
                raise ConnectionLost("web does not answer.")

    on = await work_on(tmp_path / "host", target=Far("fixture", tmp_path / "host"))
    require_same_end(on, calm)
    assert [one.cause for one in on.events(kinds.RunWaiting)] == ["host"]


async def test_a_host_that_stops_to_answer_after_a_change_is_a_failed_attempt(tmp_path):
    class Cut(FixtureTarget):
        cut = False

        def apply(self, *asked):
            done = super().apply(*asked)
            self.cut = True
            return done

        def roll_back(self, journal):
            self.cut = False
            return super().roll_back(journal)

        @property
        def files(self):
            if self.cut:
                raise ConnectionLost("web does not answer.")
            return super().files

    on = await work_on(tmp_path / "host", target=Cut("fixture", tmp_path / "host"))
    assert not on.events(kinds.RunWaiting)
    first = on.events(kinds.AttemptFailed)[0]
    assert (first.cause, first.reason) == ("change failed", "Web does not answer.")
