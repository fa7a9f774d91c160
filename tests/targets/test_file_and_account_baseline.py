import os

import pytest

from app.events.event_field_types import WriteFile
from app.syntax.host_files_protocol import FileState
from app.targets.file_and_account_baseline import (
    Baseline,
    BaselineEntry,
    build_file_change,
    describe_drift,
    exclude_paths,
    is_root_file_closed_to_other_accounts,
)
from app.targets.fixture.fixture_target import FixtureTarget


@pytest.fixture
def target(tmp_path):
    made = FixtureTarget("host", tmp_path)
    made.prepare()
    return made


def add_account(root):
    with (root / "etc/passwd").open("a") as file:
        file.write("toor:x:0:0::/:/bin/sh\n")


def make_setuid(root):
    (root / "etc/helper").write_text("x")
    (root / "etc/helper").chmod(0o4755)


def truncate(root):
    os.truncate(root / "var/log/secure", 10)


def grow(root):
    with (root / "var/log/secure").open("a") as file:
        file.write("a line\n")
    (root / "var/log/cron").write_text("begun\n")


@pytest.mark.parametrize(
    ("act", "sentences"),
    [
        (
            add_account,
            ["there is a new account: toor (uid 0)", "the content of /etc/passwd changed, and no action did"],
        ),
        (make_setuid, ["setuid or setgid: a new file that no action made: /etc/helper (mode 4755, owner root:root)"]),
        (
            lambda root: (root / "etc/issue").chmod(0o600),
            ["/etc/issue has mode 0600, owner root:root, and had mode 0644"],
        ),
        (lambda root: (root / "etc/issue").unlink(), ["/etc/issue is gone"]),
        (truncate, ["the log /var/log/secure has become shorter"]),
        (grow, []),
        (lambda root: (root / "srv").mkdir(), ["a new folder that no action made: /srv"]),
        (lambda root: (root / "etc/l").symlink_to("/etc/shadow"), ["a new link that no action made: /etc/l"]),
        (lambda root: (root / "etc/\x1b[2Jx").write_text(""), ["a new file that no action made: /etc/x"]),
    ],
)
def test_what_nobody_announced_is_told(target, tmp_path, act, sentences):
    act(tmp_path / "root")
    found = target.describe_drift(())
    assert len(found) == len(sentences)
    assert all(told.startswith(sentence) for told, sentence in zip(found, sentences, strict=True))


def test_what_was_announced_is_not_and_what_then_changed_again_is(target, tmp_path):
    path = "/etc/crypto-policies/policies/modules/NO.pmod"
    action = WriteFile(path=path, content="cipher@SSH = -CHACHA20-POLY1305\n")
    applied = target.apply("run.V-1.1", [action], frozenset({path}))
    assert target.describe_drift(applied.changes) == ()
    assert any(path in told for told in target.describe_drift(()))
    (tmp_path / "root" / path[1:]).write_text("something else\n")
    assert target.describe_drift(applied.changes) == (f"{path} is not what the change made of it",)


def test_a_committed_change_is_part_of_the_host_and_others_stay_drift(target, tmp_path):
    target.apply(
        "run.V-1.1", [WriteFile(path="/etc/issue", content="Kernel \\r on an \\m\n")], frozenset({"/etc/issue"})
    )
    (tmp_path / "root/etc/motd").write_text("changed meanwhile\n")
    target.commit("run.V-1.1")
    assert target.describe_drift(()) == ("the content of /etc/motd changed, and no action did that",)


def test_a_file_that_was_announced_to_go_and_did_is_no_drift(target, tmp_path):
    state = target.files.state("/etc/motd")
    (tmp_path / "root/etc/motd").unlink()
    assert target.describe_drift([build_file_change("/etc/motd", state, None)]) == ()
    assert target.describe_drift([build_file_change("/etc/motd", state, FileState(b"", 0o644, "root:root"))]) != ()


def test_a_file_that_is_gone_is_drift_even_if_the_digests_cannot_be_compared():
    def list_host(paths, of):
        return Baseline({path: BaselineEntry("file", 0o644, "root:root", 1, of) for path in paths}, {}, of)

    assert describe_drift(list_host(["/a", "/b"], "state"), list_host(["/a"], "content"), ()) == ("/b is gone",)


def test_accounts_that_are_gone_are_listed_in_order():
    names = [f"user{number:02}" for number in range(60)]
    was, now = Baseline({}, dict.fromkeys(reversed(names), 1000)), Baseline({}, {})
    assert describe_drift(was, now, ()) == (*(f"the account {name} is gone" for name in names[:40]), "and 20 more")


def test_a_flood_of_changes_is_bounded(target, tmp_path):
    for number in range(100):
        (tmp_path / "root/etc" / f"n{number}").write_text("")
    found = target.describe_drift(())
    assert len(found) == 41
    assert found[-1] == "and 60 more"


def test_a_generated_file_is_left_out_only_where_root_alone_can_write_it():
    def build(mode, owner="root:root"):
        return Baseline(
            {"/a": BaselineEntry("file", mode, owner, 1, "x"), "/b": BaselineEntry("file", 0, "", 1, "y")}, {}
        )

    assert [is_root_file_closed_to_other_accounts(build(mode), "/a") for mode in (0o600, 0o640, 0o644, 0o660)] == [
        True,
        True,
        False,
        False,
    ]
    assert not is_root_file_closed_to_other_accounts(build(0o600, "ana:root"), "/a")
    assert not is_root_file_closed_to_other_accounts(build(0o600), "/c")
    assert list(exclude_paths(build(0o600), ["/a"]).entries) == ["/b"]
