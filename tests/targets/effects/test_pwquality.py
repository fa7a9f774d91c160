import pytest

from app.targets.effects.pwquality import MAIN
from tests.targets.effects.change import lost

DROP_IN = "/etc/security/pwquality.conf.d/50-site.conf"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("minlen = 128", "minlen = 12"),
        ("minlen = 9", "minlen = 3"),
        ("minlen = 15", "# minlen = 15"),
        ("minlen = 15", "minlen = 15\nminlen"),
        ("minlen = 15", "minlen = 0x20"),
        ("maxrepeat = 1", "maxrepeat = 3"),
        ("maxrepeat = 3", "maxrepeat = 0"),
        ("dcredit = -2", "dcredit = -1"),
        ("dictcheck = 1", "dictcheck = 0"),
        ("", "local_users_only"),
        ("", "local_users_only = 0"),
        ("enforce_for_root", ""),
        ("badwords = a b", "badwords = a"),
    ],
)
def test_less_than_what_stands_is_weaker(was, now):
    assert lost({MAIN: was}, {MAIN: now})


@pytest.mark.parametrize(("was", "now"), [("minlen = 8", "MinLen 15"), ("", "enforce_for_root"), ("", "minclass = 4")])
def test_as_much_or_more_is_not(was, now):
    assert lost({MAIN: was}, {MAIN: now}) == ""


def test_the_file_itself_is_read_behind_its_folder():
    assert lost({MAIN: "minlen = 15\n"}, {DROP_IN: "minlen = 8\n"}) == ""
    assert lost({DROP_IN: "minlen = 15\n"}, {MAIN: "minlen = 12\n"})
    assert lost({DROP_IN: "minlen = 15\n", MAIN: "difok = 8\n"}, {DROP_IN: "minlen\n"})
