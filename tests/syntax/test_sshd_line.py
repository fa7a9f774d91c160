import pytest

from app.syntax.sshd_line import extract_comment, parse_directive


@pytest.mark.parametrize(
    ("line", "keyword", "arguments"),
    [
        ("PermitRootLogin no", "PermitRootLogin", ("no",)),
        ("\tPermitRootLogin\t\tno  \t", "PermitRootLogin", ("no",)),
        ("PermitRootLogin=no", "PermitRootLogin", ("no",)),
        ("PermitRootLogin = no\r", "PermitRootLogin", ("no",)),
        ('PermitRootLogin "no"', "PermitRootLogin", ("no",)),
        ("PermitRootLogin no # yes", "PermitRootLogin", ("no",)),
        ("PermitRootLogin no#yes", "PermitRootLogin", ("no#yes",)),
        ("PermitRootLogin no\f", "PermitRootLogin", ("no",)),
        ('Banner "/etc/my issue"', "Banner", ("/etc/my issue",)),
        (r"Banner /etc/my\ issue", "Banner", ("/etc/my issue",)),
        ("AllowUsers a 'b c' d", "AllowUsers", ("a", "b c", "d")),
        ('Banner ""', "Banner", ("",)),
        ("PermitRootLogin\u00a0no", "PermitRootLogin\u00a0no", ()),
    ],
)
def test_a_line_reads_as_sshd_reads_it(line, keyword, arguments):
    found = parse_directive(line)
    assert found is not None
    assert (found.keyword, found.arguments) == (keyword, arguments)


@pytest.mark.parametrize("line", ["", "   \t", "# PermitRootLogin no", "  #PermitRootLogin no", "\r"])
def test_blank_lines_and_comments_say_nothing(line):
    assert parse_directive(line) is None


@pytest.mark.parametrize(
    "line", ["PermitRootLogin", "PermitRootLogin =", "PermitRootLogin # no", 'Banner "open', "= no"]
)
def test_a_line_that_sshd_rejects_has_a_fault(line):
    found = parse_directive(line)
    assert found is not None
    assert found.fault


@pytest.mark.parametrize(
    ("rest", "expected"),
    [("no  # why", "  # why"), ("no#why", ""), ('"a # b" # c', " # c"), ("no", ""), ("no  ", "  "), ('"open # x', "")],
)
def test_a_comment_is_found_behind_the_arguments(rest, expected):
    assert extract_comment(rest) == expected
