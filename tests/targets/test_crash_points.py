"""Kill it anywhere; the host comes back byte for byte."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.errors import ActionFailed, EnvironmentUnusable
from app.events.event_field_types import (
    AnyAction,
    AppendLine,
    Chmod,
    Reload,
    RemoveLine,
    ReplaceLine,
    SetOption,
    WriteFile,
)
from app.targets import full_disk_retry
from app.targets.crash_safe_writes import ignore_step
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.program_sandbox import Confinement
from tests.targets.forked import KILLED, Killer, give_to_nobody, in_child
from tests.targets.raw import everything
from tests.thorough import examples

ALONE = Confinement("none", "built-in checks only")
CHANGES: list[AnyAction] = [
    SetOption(path="/etc/ssh/sshd_config", key="PermitRootLogin", value="no"),
    SetOption(path="/etc/ssh/sshd_config", key="ClientAliveInterval", value="600"),
    WriteFile(path="/etc/ssh/sshd_config.d/10-first.conf", content="UsePAM yes\n", mode="0600"),
    ReplaceLine(path="/etc/audit/audit.rules", old="-f 1", new="-f 2"),
    RemoveLine(path="/etc/sudoers.d/opsadmin", line="Defaults:opsadmin !authenticate"),
    AppendLine(path="/etc/login.defs", line="FAIL_DELAY 4"),
    WriteFile(path="/etc/issue", content="Kernel \\r on an \\m\n"),
    WriteFile(path="/etc/crypto-policies/policies/modules/NO.pmod", content="cipher@SSH = -CHACHA20-POLY1305\n"),
    WriteFile(path="/etc/profile.d/tmout.sh", content="declare -xr TMOUT=600\n"),
    Chmod(path="/etc/shadow", mode="0000"),
    SetOption(path="/etc/mission/mission.conf", key="inbox.upload_umask", value="0027"),
    Reload(service="sshd"),
]
SEVERAL = st.lists(st.sampled_from(CHANGES), min_size=1, max_size=6, unique_by=repr)


def opened(folder: Path, kill_at: int = 0) -> FixtureTarget:
    return FixtureTarget("host", folder, confinement=ALONE, step=Killer(kill_at) if kill_at else ignore_step)


def applied(folder: Path, actions: Sequence[AnyAction], kill_at: int) -> None:
    allowed = frozenset(action.path for action in actions if not isinstance(action, Reload))
    opened(folder, kill_at).apply("run.V-1.1", actions, allowed)


def rolled_back(folder: Path, kill_at: int = 0) -> tuple[str, ...]:
    return opened(folder, kill_at).roll_back("run.V-1.1").differences


def prepared(folder: Path, kill_at: int = 0) -> None:
    opened(folder, kill_at).prepare()


@pytest.fixture(scope="module", params=["root", "nobody"])
def place(request):
    """A folder that root and nobody can reach, and which of them works there."""
    with tempfile.TemporaryDirectory(prefix="temper-host-") as name:
        prepared(Path(name))
        if request.param == "nobody":
            give_to_nobody(name)
        yield Path(name), request.param == "nobody"


@settings(max_examples=examples(12, 375), deadline=None)
@example(actions=[CHANGES[7]], first=12, second=3)
@example(actions=[CHANGES[9], CHANGES[0]], first=17, second=6)
@given(actions=SEVERAL, first=st.integers(1, 45), second=st.integers(1, 25))
def test_a_change_that_is_killed_anywhere_is_undone_even_when_that_is_killed_too(place, actions, first, second):
    folder, as_nobody = place
    shutil.rmtree(folder / "journal", ignore_errors=True)
    before = everything(folder)
    assert in_child(lambda: applied(folder, actions, first), as_nobody=as_nobody)[0] in (0, KILLED)
    assert in_child(lambda: rolled_back(folder, second), as_nobody=as_nobody)[0] in (0, KILLED)
    assert in_child(lambda: rolled_back(folder), as_nobody=as_nobody) == (0, ())
    assert everything(folder) == before
    assert opened(folder).list_pending() == []
    assert opened(folder).describe_drift(()) == ()


@pytest.mark.parametrize("step", [1, 2, 5, 7, 9, 11, 12, 13, 14, 15])
def test_a_host_that_is_being_laid_out_is_the_old_one_or_the_new_one(tmp_path, step):
    prepared(tmp_path)
    new = everything(tmp_path)
    applied(tmp_path, [CHANGES[6]], 0)
    old = everything(tmp_path)
    assert in_child(lambda: prepared(tmp_path, step))[0] in (0, KILLED)
    target = opened(tmp_path)
    found = everything(tmp_path)
    assert found in (old, new)
    assert target.list_pending() == ([] if found == new else ["run.V-1.1"])


@pytest.mark.parametrize("step", range(1, 20, 3))
def test_a_full_disk_is_told_and_what_was_written_is_undone(tmp_path, step):
    prepared(tmp_path)
    before = everything(tmp_path)
    target = FixtureTarget("host", tmp_path, confinement=ALONE, step=FullDisk(step))
    actions = [CHANGES[6], CHANGES[7]]
    with pytest.raises(ActionFailed, match="No space left on device"):
        target.apply("run.V-1.1", actions, frozenset(action.path for action in actions))
    assert opened(tmp_path).roll_back("run.V-1.1").differences == ()
    assert everything(tmp_path) == before


@pytest.mark.parametrize("step", range(1, 7))
def test_a_disk_that_is_full_while_a_change_is_taken_back_is_waited_for(tmp_path, monkeypatch, step):
    monkeypatch.setattr(full_disk_retry, "PAUSE", 0.001)
    prepared(tmp_path)
    before = everything(tmp_path)
    applied(tmp_path, [CHANGES[6], CHANGES[1]], 0)
    target = FixtureTarget("host", tmp_path, confinement=ALONE, step=FullDisk(step, 5))
    assert target.roll_back("run.V-1.1").differences == ()
    assert everything(tmp_path) == before


@pytest.mark.parametrize("step", [1, 4])
def test_a_disk_that_is_full_while_a_host_is_laid_out_is_waited_for_or_said(tmp_path, monkeypatch, step):
    monkeypatch.setattr(full_disk_retry, "PAUSE", 0.001)
    prepared(tmp_path)
    new = everything(tmp_path)
    applied(tmp_path, [CHANGES[6]], 0)
    FixtureTarget("host", tmp_path, confinement=ALONE, step=FullDisk(step, 3)).prepare()
    assert everything(tmp_path) == new
    monkeypatch.setattr(full_disk_retry, "SECONDS", 0.0)
    with pytest.raises(EnvironmentUnusable, match="host cannot be made ready for a run: No space left on device"):
        FixtureTarget("host", tmp_path, confinement=ALONE, step=FullDisk(step, 10**6)).prepare()
    assert everything(tmp_path) == new


class FullDisk:
    """From a step on, for as many steps."""

    def __init__(self, after: int, times: int = 1) -> None:
        self._full = range(after, after + times)
        self._step = 0

    def __call__(self, _step: str) -> None:
        self._step += 1
        if self._step in self._full:
            raise OSError(28, "No space left on device")
