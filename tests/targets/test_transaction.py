import os
from contextlib import suppress

import pytest

from app.errors import ActionFailed
from app.events.event_field_types import AppendLine, Chmod, RemoveLine, SetOption, WriteFile
from app.targets.file_and_account_baseline import build_file_change
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.overlay import Overlay
from app.targets.program_sandbox import Confinement
from tests.targets.raw import everything

UMASK = SetOption(path="/etc/login.defs", key="UMASK", value="077")
ISSUE = WriteFile(path="/etc/issue", content="Kernel \\r on an \\m\n")
BOTH = frozenset({"/etc/login.defs", "/etc/issue"})


def foreseen_changes(seen, files):
    """What the journal records for the files, if the change comes out as it was assessed."""
    return tuple(build_file_change(path, files.state(path), state) for path, state in seen.plan.made.items())


class Meanwhile:
    """Does something to the host right before one step, as another process could."""

    def __init__(self) -> None:
        self.before: dict[str, object] = {}

    def __call__(self, step: str) -> None:
        act = self.before.pop(step, None)
        if callable(act):
            act()


@pytest.fixture
def meanwhile():
    return Meanwhile()


@pytest.fixture
def target(tmp_path, meanwhile):
    made = FixtureTarget("host", tmp_path / "host", confinement=Confinement("none", ""), step=meanwhile)
    made.prepare()
    return made


def test_applied_rolled_back_and_as_before(target, tmp_path):
    before = everything(tmp_path / "host")
    digest = target.compute_digest()
    applied = target.apply("run.V-1.1", [UMASK, ISSUE], BOTH)
    assert target.list_pending() == ["run.V-1.1"]
    assert [change.path for change in applied.changes] == ["/etc/login.defs", "/etc/issue"]
    assert "-UMASK\t\t022" in applied.diff
    assert "+UMASK\t\t077" in applied.diff
    assert target.compute_digest() != digest
    restored = target.roll_back("run.V-1.1")
    assert (restored.paths, restored.differences) == (("/etc/login.defs", "/etc/issue"), ())
    assert everything(tmp_path / "host") == before
    assert target.compute_digest() == digest
    assert target.list_pending() == []
    assert target.roll_back("run.V-1.1").paths == ()


def test_what_is_committed_stays_and_may_be_kept_twice(target):
    target.apply("run.V-1.1", [UMASK], BOTH)
    target.commit("run.V-1.1")
    target.commit("run.V-1.1")
    assert target.list_pending() == []
    with pytest.raises(ActionFailed, match="no longer undone"):
        target.roll_back("run.V-1.1")
    assert target.describe_drift(()) == ()
    target.commit("never.applied.1")


def test_nothing_journalled_is_nothing_to_undo(target):
    assert target.roll_back("run.V-9.1").differences == ()


def test_a_name_that_is_a_path_is_refused(target):
    for name in ("../escape", "", ".hidden", "a/b", "x" * 200):
        with pytest.raises(ActionFailed, match="cannot name a journal"):
            target.apply(name, [UMASK], BOTH)


def test_one_change_is_open_at_a_time_and_a_name_may_come_again_once_it_is_undone(target):
    target.apply("run.V-1.1", [UMASK], BOTH)
    with pytest.raises(ActionFailed, match="still open"):
        target.apply("run.V-1.2", [ISSUE], BOTH)
    target.roll_back("run.V-1.1")
    target.apply("run.V-1.1", [ISSUE], BOTH)
    assert target.list_pending() == ["run.V-1.1"]


def test_a_refused_action_changes_nothing_though_nobody_asked_for_a_review(target, tmp_path):
    before = everything(tmp_path / "host")
    with pytest.raises(ActionFailed, match=r"Refused \(outside the plan\)"):
        target.apply("run.V-1.1", [ISSUE, UMASK], frozenset({"/etc/issue"}))
    assert everything(tmp_path / "host") == before
    assert target.list_pending() == []


def test_an_action_that_cannot_be_made_leaves_the_others_unmade(target, tmp_path):
    before = everything(tmp_path / "host")
    with pytest.raises(ActionFailed, match="has no line"):
        target.apply("run.V-1.1", [UMASK, RemoveLine(path="/etc/login.defs", line="UMASK 022")], BOTH)
    assert everything(tmp_path / "host") == before


def test_new_folders_come_and_go_with_the_change(target, tmp_path):
    before = everything(tmp_path / "host")
    path = "/etc/crypto-policies/policies/modules/NO.pmod"
    action = WriteFile(path=path, content="cipher@SSH = -CHACHA20-POLY1305\n")
    target.apply("run.V-1.1", [action], frozenset({path}))
    assert target.files.read(path) == b"cipher@SSH = -CHACHA20-POLY1305\n"
    assert target.roll_back("run.V-1.1").differences == ()
    assert everything(tmp_path / "host") == before


def test_a_file_that_changes_between_review_and_write_is_not_overwritten(target, meanwhile, tmp_path):
    issue = tmp_path / "host/root/etc/issue"
    meanwhile.before["rename .run.V-1.1.new to run.V-1.1"] = lambda: issue.write_text("somebody else's\n")
    with pytest.raises(ActionFailed, match="changed while"):
        target.apply("run.V-1.1", [ISSUE], BOTH)
    assert issue.read_text() == "somebody else's\n"


@pytest.mark.parametrize("step", ["rename .run.V-1.1.new to run.V-1.1", "write 20-x.conf", "rename 20-x.conf"])
def test_a_folder_swapped_for_a_link_after_the_review_leads_nowhere(target, meanwhile, tmp_path, step):
    outside, modprobe = tmp_path / "outside", tmp_path / "host/root/etc/modprobe.d"
    outside.mkdir()

    def swap() -> None:
        modprobe.rename(tmp_path / "away")
        modprobe.symlink_to(outside)

    meanwhile.before[step] = swap
    action = WriteFile(path="/etc/modprobe.d/20-x.conf", content="blacklist sctp\n")
    with suppress(ActionFailed):
        target.apply("run.V-1.1", [action], frozenset({action.path}))
    restored = target.roll_back("run.V-1.1")
    assert list(outside.iterdir()) == []
    assert len(restored.differences) == 1
    assert "a link" in restored.differences[0].lower()


def test_a_rollback_that_cannot_restore_says_what_is_wrong_and_stays_open(target, tmp_path):
    target.apply("run.V-1.1", [ISSUE], BOTH)
    issue = tmp_path / "host/root/etc/issue"
    issue.unlink()
    issue.mkdir()
    (issue / "something").write_text("")
    restored = target.roll_back("run.V-1.1")
    assert len(restored.differences) == 1
    assert restored.differences[0].startswith("/etc/issue: ")
    assert target.list_pending() == ["run.V-1.1"]


def test_owners_and_modes_come_back_too(target, tmp_path):
    action = Chmod(path="/etc/mission/mission.conf", mode="0440")
    state = target.files.state(action.path)
    target.apply("run.V-1.1", [action], frozenset({action.path}))
    owners = tmp_path / "host/owners.json"
    owners.write_text(owners.read_text().replace('"root:mission"', '"root:kiosk"'))
    assert target.files.state(action.path).owner == "root:kiosk"
    assert target.roll_back("run.V-1.1").differences == ()
    assert target.files.state(action.path) == state


def test_a_host_laid_out_anew_has_nothing_to_undo(target):
    target.apply("run.V-1.1", [ISSUE], BOTH)
    target.prepare()
    assert target.list_pending() == []
    assert target.roll_back("run.V-1.1").paths == ()
    assert target.describe_drift(()) == ()


def test_a_preview_shows_the_change_and_touches_nothing(target, tmp_path):
    before = everything(tmp_path / "host")
    actions = [ISSUE, AppendLine(path="/etc/issue", line="\\S")]
    seen = target.assess_actions(actions, BOTH)
    foreseen = foreseen_changes(seen, target.files)
    assert "+Kernel" in seen.diff
    assert Overlay(target.files, seen.plan.after).read("/etc/issue") == b"Kernel \\r on an \\m\n\\S\n"
    assert everything(tmp_path / "host") == before
    assert target.apply("run.V-1.1", actions, BOTH).changes == foreseen


def test_a_change_is_new_and_what_is_taken_back_is_as_old_as_it_was(target, tmp_path):
    at = tmp_path / "host/root/etc/login.defs"
    os.utime(at, (1_600_000_000, 1_600_000_000))
    target.apply("one", [UMASK], BOTH)
    assert at.stat().st_mtime > 1_700_000_000
    target.roll_back("one")
    assert at.stat().st_mtime == 1_600_000_000


def test_a_file_with_a_second_name_is_refused_before_anything_is_written(target, tmp_path):
    before = everything(tmp_path / "host")
    (tmp_path / "host/root/etc/second").hardlink_to(tmp_path / "host/root/etc/login.defs")
    with pytest.raises(ActionFailed, match=r"/etc/login\.defs has 2 names"):
        target.apply("one", [ISSUE, UMASK], BOTH)
    (tmp_path / "host/root/etc/second").unlink()
    assert (everything(tmp_path / "host"), target.list_pending()) == (before, [])


def test_a_name_that_is_no_text_is_in_the_baseline_and_its_change_is_seen(target, tmp_path):
    odd = tmp_path / "host/root/etc/caf\udce9"
    odd.touch()
    target.prepare(keep=True)
    digest = target.compute_digest()
    assert target.describe_drift(()) == ()
    odd.write_bytes(b"x")
    assert target.describe_drift(()) == ("the content of /etc/caf\ufffde9 changed, and no action did that",)
    assert target.compute_digest() != digest
