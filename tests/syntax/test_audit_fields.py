import pytest

from app.syntax.audit_fields import (
    UNSET,
    HostNames,
    RefusedRule,
    parse_field,
    parse_field_to_field_comparison,
    parse_leading_number,
)

NAMES = HostNames({"root": 0, "ops": 1000}, {"wheel": 10}, {}, "x86_64")


@pytest.mark.parametrize(
    ("pair", "where", "number"),
    [
        ("auid>=1000", "exit", 1000),
        ("loginuid!=unset", "exit", UNSET),
        ("uid=ops", "exit", 1000),
        ("uid=-1", "exit", UNSET),
        ("uid=010", "exit", 8),
        ("uid=1x", "exit", 1),
        ("gid=wheel", "exit", 10),
        ("exit=-EACCES", "exit", UNSET - 12),
        ("msgtype=USER_LOGIN", "exclude", 1112),
        ("msgtype=cwd", "user", 1307),
        ("filetype=dir", "exit", 16384),
        ("fstype=debugfs", "filesystem", 0x64626720),
        ("a0&=0x4", "exit", 4),
        ("sessionid=x", "exit", 0),
        ("saddr_fam=10", "exit", 10),
    ],
)
def test_a_value_is_the_number_that_the_kernel_gets(pair, where, number):
    assert parse_field(pair, where, NAMES).number == number


@pytest.mark.parametrize(
    ("pair", "where"),
    [
        ("uid", "exit"),
        ("uid=", "exit"),
        ("nosuch=1", "exit"),
        ("uid=nobody", "exit"),
        ("gid=-1", "exit"),
        ("exit=ENOSUCH", "exit"),
        ("msgtype=USER_LOGIN", "exit"),
        ("path=/x", "user"),
        ("perm=wz", "exit"),
        ("perm!=w", "exit"),
        ("exe>/bin/x", "exit"),
        ("arch=b65", "exit"),
        ("a0=x", "exit"),
        ("pid=-1", "exit"),
        ("saddr_fam=46", "exit"),
        ("key=x", "exclude"),
        ("euid=0", "exclude"),
    ],
)
def test_what_a_list_does_not_take(pair, where):
    with pytest.raises(RefusedRule):
        parse_field(pair, where, NAMES)


@pytest.mark.parametrize(
    ("pair", "fits"), [("uid!=euid", True), ("gid=obj_gid", True), ("uid=gid", False), ("uid=0", False)]
)
def test_only_accounts_and_only_groups_compare(pair, fits):
    if fits:
        assert parse_field_to_field_comparison(pair, "exit") == parse_field_to_field_comparison(
            "{2}{1}{0}".format(*_split(pair)), "exit"
        )
        return
    with pytest.raises(RefusedRule):
        parse_field_to_field_comparison(pair, "exit")


def _split(pair):
    sign = "!=" if "!=" in pair else "="
    one, _, other = pair.partition(sign)
    return one, sign, other


@pytest.mark.parametrize(("text", "number"), [("0x1F", 31), ("-0x5", -5), ("08", 0), ("12ab", 12), ("x", 0)])
def test_numbers_are_read_as_far_as_they_go(text, number):
    assert parse_leading_number(text) == number
