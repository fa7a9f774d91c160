import pytest

from app.syntax.sudoers_text import BrokenSudoers, SudoersScan, unescaped


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/bin/a b,", "/bin/a b"),
        (r"/bin/a x\:y \, z", "/bin/a x:y , z"),
        (r"/bin/a\ b", "/bin/a b"),
        ('/bin/a "" : ALL', '/bin/a ""'),
        ("! !/bin/a", "/bin/a"),
        ("!ALL", "!ALL"),
        ("/bin/", "/bin/"),
        ("/usr/bin/sudoedit /x", "sudoedit /x"),
        ("^/bin/(a|b),$ ^x, y$, /c", "^/bin/(a|b),$ ^x, y$"),
    ],
)
def test_commands(text, command):
    assert SudoersScan(text).command() == command


@pytest.mark.parametrize("text", ["/bin/a\r", "bin/a", "", "/bin/a = b", "all"])
def test_what_is_no_command(text):
    with pytest.raises(BrokenSudoers):
        SudoersScan(text).command()


@pytest.mark.parametrize(
    ("text", "runas"),
    [("(a, !b)", "a, !b"), ("(a : c)", "a : c"), ("(:c)", " : c"), ("()", " "), ("x", None)],
)
def test_whom_a_command_runs_as(text, runas):
    assert SudoersScan(text).runas() == runas


def test_lists_have_names_with_their_bangs():
    assert SudoersScan('"a b", !!c, !%#10, +n, fe80::1').members(hosts=True) == ["a b", "c", "!%#10", "+n", "fe80::1"]


def test_escapes_are_letters():
    assert unescaped(r"d\x65p\loy\\") == "deploy\\"
