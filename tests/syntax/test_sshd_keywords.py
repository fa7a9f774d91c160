import pytest

from app.syntax.sshd_keywords import explain_rejection, parse_seconds


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("600", 600),
        ("10m", 600),
        ("1h30m", 5400),
        ("0", 0),
        ("10M", 600),
        ("", None),
        ("10x", None),
        ("٦", None),
        ("-1", None),
        ("2147483647", 2147483647),
        ("2147483648", None),
        ("99999999999", None),
        ("24855d", 2147472000),
        ("24856d", None),
        ("00000000000600", 600),
        ("1m 30", 90),
        ("10+5", None),
        ("9" * 5000, None),
        ("0" * 5000, 0),
    ],
)
def test_times_are_read_as_sshd_reads_them(value, expected):
    assert parse_seconds(value) == expected


@pytest.mark.parametrize(
    ("keyword", "arguments"),
    [
        ("PermitRootLogin", ("maybe",)),
        ("PermitRootLogin", ("no", "yes")),
        ("ClientAliveInterval", ("soon",)),
        ("ClientAliveCountMax", ("-1",)),
        ("ClientAliveCountMax", ("2147483648",)),
        ("ClientAliveInterval", ("999999999w",)),
        ("MaxSessions", ("9" * 5000,)),
        ("PermitRo\u043etLogin", ("no",)),
        ("PermitRootLogins", ("no",)),
    ],
)
def test_what_sshd_would_refuse_is_named(keyword, arguments):
    assert explain_rejection(keyword, arguments, in_match=False)


@pytest.mark.parametrize(
    ("keyword", "arguments"),
    [
        ("permitrootlogin", ("NO",)),
        ("AllowUsers", ("a", "b")),
        ("Subsystem", ("sftp", "internal-sftp")),
        ("PermitUserEnvironment", ("LANG",)),
        ("Protocol", ("2",)),
        ("LoginGraceTime", ("2147483647",)),
        ("LoginGraceTime", ("+60",)),
        ("MaxAuthTries", ("2147483647",)),
        ("MaxAuthTries", (f"{'0' * 5000}4",)),
    ],
)
def test_what_sshd_takes_is_let_through(keyword, arguments):
    assert not explain_rejection(keyword, arguments, in_match=False)


def test_some_keywords_hold_for_the_whole_server_alone():
    assert explain_rejection("UsePAM", ("yes",), in_match=True)
    assert not explain_rejection("PermitRootLogin", ("no",), in_match=True)
