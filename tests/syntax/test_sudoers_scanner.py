import pytest

from app.syntax.sudoers_scanner import SudoersScanner, SudoersSyntaxError, resolve_backslash_escapes


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
    assert SudoersScanner(text).read_command() == command


@pytest.mark.parametrize("text", ["/bin/a\r", "bin/a", "", "/bin/a = b", "all"])
def test_what_is_no_command(text):
    with pytest.raises(SudoersSyntaxError):
        SudoersScanner(text).read_command()


@pytest.mark.parametrize(
    ("text", "runas"), [("(a, !b)", "a, !b"), ("(a : c)", "a : c"), ("(:c)", " : c"), ("()", " "), ("x", None)]
)
def test_whom_a_command_runs_as(text, runas):
    assert SudoersScanner(text).read_runas_if_present() == runas


def test_lists_have_names_with_their_bangs():
    assert SudoersScanner('"a b", !!c, !%#10, +n, fe80::1').read_members(are_hosts=True) == [
        "a b",
        "c",
        "!%#10",
        "+n",
        "fe80::1",
    ]


def test_escapes_are_letters():
    assert resolve_backslash_escapes(r"d\x65p\loy\\") == "deploy\\"
