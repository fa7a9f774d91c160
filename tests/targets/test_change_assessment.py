"""An assessment counts as long as everything that it follows from is the same, and then it is the one enforced."""

from dataclasses import replace

import pytest

from app.errors import ActionFailed, HostDrifted
from app.events.event_field_types import Chmod, WriteFile
from app.resources.kind import ResourceState
from app.syntax.host_files_protocol import FileState
from app.targets.change_assessment import assess_change
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.planned_effects_of_actions import ProposedChange, Refusal
from app.targets.program_sandbox import Confinement
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.resources.resource_dry_run import NONE, DryRun
from tests.hostfiles import DictFiles
from tests.targets.hosts import FILES

ISSUE = WriteFile(path="/etc/issue", content="Kernel \\r on an \\m\n")
SSHD = WriteFile(path="/etc/ssh/sshd_config.d/10-x.conf", content="X11Forwarding no\n", mode="0600")
CHANGE = ProposedChange((SSHD,), frozenset({SSHD.path}))
DRY_RUN = DryRun((ResourceState("package:x", "installed 1", ""),), frozenset({"package:y"}), 20_000)
KEYS = "/home/opsadmin/.ssh/authorized_keys"
INCLUDING = FileState(b"Include /etc/ssh/sshd_config.d/*.conf\n", 0o600, "root:root")


class Host(DictFiles):
    links = frozenset()

    def find_first_link(self, path):
        return next((link for link in self.links if path.startswith(link)), None)


def host(**changes):
    return Host({**FILES, "/etc/ssh/sshd_config": INCLUDING, **changes})


@pytest.fixture(scope="module")
def seen():
    return assess_change(CHANGE, host(), DRY_RUN, ReadTrackingCache(), None)


def test_an_assessment_of_the_same_is_the_same(seen):
    assert (seen.refusals, seen.plan.obstacle) == ((), "")
    assert seen.is_current(CHANGE, host(), DRY_RUN)
    assert seen.is_current(CHANGE, host(**{"/etc/hostname": "read by nobody"}), DRY_RUN)
    younger = replace(FILES["/etc/passwd"], modified=1)
    assert seen.is_current(CHANGE, host(**{"/etc/passwd": younger}), DRY_RUN)


def test_its_difference_is_shown_with_more_of_the_file_around(seen):
    lines = "".join(f"# {number}\n" for number in range(40))
    edit = ProposedChange((WriteFile(path=SSHD.path, content=f"{lines}X11Forwarding no\n"),), frozenset({SSHD.path}))
    before = host(**{SSHD.path: f"{lines}X11Forwarding yes\n"})
    assessed = assess_change(edit, before, DRY_RUN, ReadTrackingCache(), None)
    assert len(assessed.diff.splitlines()) < len(assessed.around.splitlines())
    assert (seen.around == "") == (seen.plan.obstacle != "")


@pytest.mark.parametrize(
    "files",
    [
        {SSHD.path: "X11Forwarding yes\n"},
        {KEYS: replace(FILES[KEYS], mode=0o666)},
        {"/etc/ssh/sshd_config.d/05-a.conf": "X11Forwarding no\n"},
        {"/etc/passwd": FileState(FILES["/etc/passwd"].content + b"x:x:9:9::/:/bin/sh\n", 0o644, "root:root")},
        {KEYS: replace(FILES[KEYS], owner="deploy:deploy")},
    ],
    ids=["its own file", "a mode", "a file beside it", "an account", "an owner"],
)
def test_any_file_that_was_read_for_it_ends_it(seen, files):
    assert not seen.is_current(CHANGE, host(**files), DRY_RUN)


@pytest.mark.parametrize(
    "dry_run",
    [
        NONE,
        replace(DRY_RUN, states=(ResourceState("package:x", "installed 2", ""),)),
        replace(DRY_RUN, needed=frozenset()),
        replace(DRY_RUN, today=20_001),
        replace(DRY_RUN, lacking="no space"),
        replace(DRY_RUN, outcome="abc"),
        replace(DRY_RUN, files={"/etc/motd": FileState(b"", 0o644, "root:root")}),
    ],
)
def test_another_dry_run_ends_it(seen, dry_run):
    assert not seen.is_current(CHANGE, host(), dry_run)


@pytest.mark.parametrize(
    "change",
    [
        replace(CHANGE, actions=(ISSUE,)),
        replace(CHANGE, allowed_paths=frozenset()),
        replace(CHANGE, asks=frozenset({"sshd x11forwarding yes"})),
    ],
)
def test_it_is_for_one_change_under_one_plan(seen, change):
    assert not seen.is_current(change, host(), DRY_RUN)


def test_a_link_on_the_way_ends_it(seen):
    linked = host()
    linked.links = frozenset({"/etc/ssh/sshd_config.d"})
    assert not seen.is_current(CHANGE, linked, DRY_RUN)


def test_a_file_that_cannot_be_read_any_more_ends_it(seen):
    class Torn(Host):
        def read(self, path):
            raise OSError

    assert not seen.is_current(CHANGE, Torn(FILES), DRY_RUN)


@pytest.fixture
def target(tmp_path):
    made = FixtureTarget("host", tmp_path / "host", confinement=Confinement("none", ""))
    made.prepare()
    return made


def test_the_answer_that_was_seen_is_the_one_enforced_while_nothing_has_changed(target, tmp_path):
    allowed = frozenset({ISSUE.path})
    seen = target.assess_actions([ISSUE], allowed)
    marked = replace(seen, refusals=(Refusal(ISSUE, "lockout", "as it was seen"),))
    with pytest.raises(ActionFailed, match=r"Refused \(lockout\): as it was seen"):
        target.apply("one", [ISSUE], allowed, frozenset(), marked)
    assert target.list_pending() == []
    (tmp_path / "host/root/etc/issue").write_text(f"another\n{ISSUE.content}")
    assert "-another" in target.apply("one", [ISSUE], allowed, frozenset(), marked).diff


def test_an_approved_diff_is_the_only_one_that_is_applied(target, tmp_path):
    allowed = frozenset({ISSUE.path})
    seen = replace(target.assess_actions([ISSUE], allowed), approved=True)
    issue = tmp_path / "host/root/etc/issue"
    was = issue.read_bytes()
    issue.write_text("another\n")
    with pytest.raises(HostDrifted):
        target.apply("one", [ISSUE], allowed, frozenset(), seen)
    assert (issue.read_text(), target.list_pending()) == ("another\n", [])
    issue.write_bytes(was)
    assert target.apply("one", [ISSUE], allowed, frozenset(), seen).diff == seen.diff


def test_an_assessment_of_other_actions_allows_nothing(target):
    other = target.assess_actions([ISSUE], frozenset({ISSUE.path}))
    wide = Chmod(path=ISSUE.path, mode="0666")
    with pytest.raises(ActionFailed, match=r"Refused \(privilege\)"):
        target.apply("one", [wide], frozenset({wide.path}), frozenset(), other)


def test_what_cannot_be_made_says_why_and_is_not_shown(target):
    missing = Chmod(path="/etc/modprobe.d/none.conf", mode="0600")
    seen = target.assess_actions([missing], frozenset({missing.path}))
    assert (seen.diff, seen.refusals) == ("", ())
    assert seen.diff_or_obstacle == "/etc/modprobe.d/none.conf is not there; write_file or append_line would make it."
    with pytest.raises(ActionFailed, match="is not there"):
        target.apply("one", [missing], frozenset({missing.path}), frozenset(), seen)
