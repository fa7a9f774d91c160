"""What may be told of a host, whoever names it and however."""

import pytest

from app.events.event_field_types import AppendLine, Chmod, ReplaceLine, SetOption, WriteFile
from app.skills.catalog import load_skill
from app.syntax.host_files_protocol import FileState
from app.targets.crash_safe_writes import Disk
from app.targets.files_that_roles_may_see import CLOSED, NO_NEED, ODD, SECRETIVE, explain_withholding
from app.targets.local_tree import LocalTree
from app.targets.planned_effects_of_actions import build_change_plan
from app.targets.resources.resource_dry_run import NONE
from app.targets.writable_areas import find_judge_or_objection
from tests.hostfiles import DictFiles
from tests.secretive import SECRETS, planted

NAMED = ("/etc/named.conf", "/etc/named.d/*.conf", "/root/.pgpass")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/ssh/sshd_config", ""),
        ("/etc/sysctl.d/99-x.conf", ""),
        ("/etc/os-release", ""),
        ("/etc/named.conf", ""),
        ("/etc/named.d/one.conf", ""),
        ("/etc/named.d/closed.conf", CLOSED),
        ("/etc/named.d/deeper/one.conf", NO_NEED),
        ("/root/.pgpass", SECRETIVE),
        ("/etc/shadow", SECRETIVE),
        ("/etc/fstab", NO_NEED),
        ("/etc/sudoers.d/deeper/x", NO_NEED),
        ("/usr/lib/sysctl.d/50-default.conf", NO_NEED),
        ("/etc/ssh/../wireguard/wg0.conf", ODD),
        ("/etc//ssh/sshd_config", ODD),
        ("etc/ssh/sshd_config", ODD),
        ("/etc/sysctl.d/\0.conf", ODD),
        ("/proc/self/environ", NO_NEED),
    ],
)
def test_what_is_judged_or_named_by_the_rule_is_told_and_nothing_else(path, why):
    files = DictFiles({"/etc/named.d/closed.conf": FileState(b"x", 0o640, "root:root"), "/etc/named.conf": "x"})
    assert explain_withholding(path, files, NAMED) == why


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    planted(root)
    (root / "etc/profile.d").mkdir()
    (root / "etc/crypto-policies/back-ends").mkdir(parents=True)
    (root / "usr/share/crypto-policies/FIPS").mkdir(parents=True)
    (root / "usr/share/crypto-policies/FIPS/opensshserver.txt").write_text("Ciphers aes256-ctr\n")
    return LocalTree(tmp_path, Disk()), root


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ("/root/.pgpass", SECRETIVE),
        ("/etc/wireguard/wg0.conf", NO_NEED),
        ("../wireguard/wg0.conf", NO_NEED),
        ("/etc/ssl/private/web.key", SECRETIVE),
        ("../../../../../../etc/passwd", NO_NEED),
        ("/etc/profile.d/other.sh", ""),
    ],
)
def test_a_link_tells_no_more_than_what_it_leads_to(tree, goal, why):
    files, root = tree
    (root / "etc/profile.d/x.sh").symlink_to(goal)
    found = explain_withholding("/etc/profile.d/x.sh", files)
    assert found == why or files.read("/etc/profile.d/x.sh") is None


def test_a_link_to_what_a_package_brought_is_told(tree):
    files, root = tree
    at = root / "etc/crypto-policies/back-ends/opensshserver.config"
    at.symlink_to("/usr/share/crypto-policies/FIPS/opensshserver.txt")
    assert explain_withholding("/etc/crypto-policies/back-ends/opensshserver.config", files) == ""


@pytest.mark.parametrize("path", [path for path, _, _ in SECRETS])
def test_no_action_makes_a_preview_of_a_file_that_nobody_judges(tree, path):
    """Not even whether a line stands there."""
    files, root = tree
    line = (root / path[1:]).read_text().splitlines()[0]
    actions = [
        AppendLine(path=path, line="# x"),
        ReplaceLine(path=path, old=line, new="x"),
        ReplaceLine(path=path, old="no such line", new="x"),
        WriteFile(path=path, content="x\n"),
        Chmod(path=path, mode="0644"),
        SetOption(path=path, key="a", value="b"),
    ]
    plans = [build_change_plan([action], files, NONE) for action in actions]
    assert {(*one.made, one.obstacle) for one in plans} == {(find_judge_or_objection(path).reason,)}


def test_every_file_that_a_shipped_rule_names_is_told_or_holds_secrets():
    rules = load_skill("stig").rules.values()
    unread = {
        path
        for rule in rules
        for path in rule.paths
        if explain_withholding(path.replace("*", "x"), DictFiles({}), ()) != ""
    }
    assert unread == {"/etc/shadow"}
