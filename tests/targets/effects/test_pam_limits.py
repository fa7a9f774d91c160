import pytest

from tests.targets.effects.change import lost

MAIN, LATER = "/etc/security/limits.conf", "/etc/security/limits.d/90-x.conf"


@pytest.mark.parametrize(
    ("path", "now"),
    [
        (MAIN, "* hard maxlogins 10\n"),
        (MAIN, "* hard maxlogins 3\n* soft maxlogins 10\n"),
        (MAIN, "* hard maxlogins 3\n* hard maxlogins none\n"),
        (MAIN, "* hard maxlogins \u00b2\n"),
        (MAIN, f"* hard maxlogins {'9' * 5000}\n"),
        (LATER, "* soft maxlogins 10\n"),
        (LATER, "* - maxlogins 4\n"),
        (LATER, "deploy -\n"),
        (LATER, "mission hard nofile 64\n"),
        (MAIN, ""),
    ],
)
def test_less_than_what_stands_is_weaker(path, now):
    assert lost({MAIN: "* hard maxlogins 3\n"}, {path: now})


@pytest.mark.parametrize(
    ("path", "now"),
    [
        (MAIN, "* hard maxlogins 3\n* hard core 0\n"),
        (LATER, "* hard maxlogins 3\n"),
        (MAIN, "* soft maxlogins 10\n* hard maxlogins 3\n"),
        (LATER, "# deploy - x\n"),
    ],
)
def test_as_much_or_more_is_not(path, now):
    assert lost({MAIN: "* hard maxlogins 3\n"}, {path: now}) == ""
