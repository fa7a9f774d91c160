import pytest

from app.syntax.pam_lexer import BUFFER, UnfinishedPamFile, join_pam_lines, parse_actions, split_pam_words


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a b\n\n  # c\nd\n", [(1, "a b\n"), (4, "d\n")]),
        ("a \\\n  b\n", [(1, "a    b\n")]),
        ("a \\ \t\nb", [(1, "a  b")]),
        ("a \\\n# between\n\nb\n", [(1, "a  b\n")]),
        ("\\ #\nb\n", [(1, "\\ "), (2, "b\n")]),
        ("a \\ # c\nb\n", [(1, "a \\ "), (2, "b\n")]),
        ("a \\\nb # c\n", [(1, "a  b ")]),
        ("# a \\\nb\n", [(2, "b\n")]),
    ],
)
def test_what_is_one_line(text, read):
    assert list(join_pam_lines(text)) == read


@pytest.mark.parametrize("text", ["a \\", "a \\\n", "a \\\n# b\n", f"{'a' * (BUFFER - 2)}\\b\n"])
def test_a_line_without_an_end_is_the_end_of_the_file(text):
    with pytest.raises(UnfinishedPamFile):
        list(join_pam_lines(text))


def test_a_long_line_is_several():
    assert [len(line) for _, line in join_pam_lines("x" * 3000)] == [BUFFER - 1, BUFFER - 1, 3000 - 2 * (BUFFER - 1)]


def test_words_and_brackets():
    assert split_pam_words("auth\t[a b=c \\] d]e  f [g\n") == ["auth", "a b=c ] d", "e", "f", "g\n"]
    assert split_pam_words("a\rb\fc [] d\n") == ["a\rb\fc", "", "d"]


@pytest.mark.parametrize(
    ("control", "means"),
    [
        ("REQUIRED", {"success": "ok", "new_authtok_reqd": "ok", "ignore": "ignore", "default": "bad"}),
        ("success=1 default=die", {"success": "1", "default": "die"}),
        ("default=ok auth_err = bad", {"default": "ok", "auth_err": "bad"}),
        ("default=ok default=bad", {"default": "ok"}),
        ("success=02", {"success": "2", "default": "bad"}),
        ("", {"default": "bad"}),
        ("success=0", None),
        ("success=okay", None),
        ("succes=ok", None),
        ("sometimes", None),
        ("success=-1", None),
    ],
)
def test_controls(control, means):
    assert parse_actions(control) == means
