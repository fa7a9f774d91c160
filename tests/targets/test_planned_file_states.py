import pytest

from app.errors import ActionFailed
from app.events.event_field_types import AppendLine, Chmod, Reload, RemoveLine, ReplaceLine, SetOption, WriteFile
from app.syntax.host_files_protocol import FileState
from app.targets.planned_file_states import compute_changed_file_states
from tests.hostfiles import DictFiles

PATH = "/etc/login.defs"


def result(text, *actions):
    planned = compute_changed_file_states(actions, DictFiles({PATH: FileState(text.encode(), 0o640, "root:mail")}))
    return planned.get(PATH)


def test_each_action_does_its_one_thing_and_keeps_mode_and_owner():
    assert result("UMASK 022\n", SetOption(path=PATH, key="UMASK", value="077")).content == b"UMASK 077\n"
    assert result("a\nb\na\n", ReplaceLine(path=PATH, old="a", new="c")).content == b"c\nb\nc\n"
    assert result("a\nb\n", RemoveLine(path=PATH, line="a")).content == b"b\n"
    assert result("a", AppendLine(path=PATH, line="b")).content == b"a\nb\n"
    assert result("a\n", AppendLine(path=PATH, line="b")) == FileState(b"a\nb\n", 0o640, "root:mail")
    assert result("a\n", WriteFile(path=PATH, content="b\n", mode="0600")) == FileState(b"b\n", 0o600, "root:mail")
    assert result("a\n", Chmod(path=PATH, mode="0000")) == FileState(b"a\n", 0o000, "root:mail")
    assert result("a\n", Reload(service="sshd")) is None


def test_actions_build_on_each_other():
    first, second = AppendLine(path=PATH, line="b"), ReplaceLine(path=PATH, old="b", new="c")
    assert result("a\n", first, second).content == b"a\nc\n"


def test_what_comes_out_as_it_was_is_no_change():
    assert result("a\n", ReplaceLine(path=PATH, old="a", new="a")) is None
    assert result("a\n", AppendLine(path=PATH, line="b"), RemoveLine(path=PATH, line="b")) is None


def test_a_new_file_belongs_to_root():
    new = compute_changed_file_states([AppendLine(path="/etc/new.conf", line="x")], DictFiles({}))
    assert new == {"/etc/new.conf": FileState(b"x\n", 0o644, "root:root")}


def test_blanks_at_the_end_of_a_line_do_not_hide_it_but_other_space_does():
    assert result("a \t\r\nb\n", RemoveLine(path=PATH, line="a")).content == b"b\n"
    with pytest.raises(ActionFailed):
        result("a\u00a0\n", RemoveLine(path=PATH, line="a"))


def test_bytes_that_are_no_text_pass_through():
    files = DictFiles({PATH: b"caf\xe9\nb\n"})
    assert compute_changed_file_states([RemoveLine(path=PATH, line="b")], files)[PATH].content == b"caf\xe9\n"


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (ReplaceLine(path=PATH, old="c", new="d"), "has no line 'c'"),
        (RemoveLine(path=PATH, line=" a"), "has no line ' a'"),
        (RemoveLine(path=PATH, line=""), "has no line ''"),
        (RemoveLine(path="/etc/absent", line="a"), "is not there"),
        (Chmod(path="/etc/absent", mode="0600"), "is not there"),
        (SetOption(path="/etc/hosts", key="a", value="b"), "does not know the syntax"),
        (SetOption(path=PATH, key="UM ASK", value="b"), "cannot hold"),
        (WriteFile(path="/etc/big", content="x" * 300_000), "256 KiB"),
    ],
)
def test_what_cannot_be_done_says_why(action, why):
    with pytest.raises(ActionFailed, match=why):
        result("a\nb\n", action)
