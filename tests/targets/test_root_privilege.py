import pytest

from app.syntax import sudoers
from app.targets.host_accounts import read_host_accounts
from app.targets.root_privilege import explain_root_refusal
from tests.targets.hosts import host


def asked(*lines, name="deploy"):
    files = host({"/etc/sudoers.d/site": "".join(f"{line}\n" for line in lines)})
    return explain_root_refusal(sudoers.read_sudoers(files), read_host_accounts(files), name)


@pytest.mark.parametrize(
    "lines",
    [
        ["deploy ALL=(ALL) NOPASSWD: ALL"],
        ["#1002 ALL=(ALL : ALL) NOPASSWD: ALL"],
        ["%#991 ALL=(root) NOPASSWD: ALL"],
        ["deploy ALL=(ALL) ALL", "Defaults:deploy !authenticate"],
        ["User_Alias OPS = deploy", "OPS ALL=(!www, ALL) NOPASSWD: ALL"],
    ],
)
def test_it_would(lines):
    assert asked(*lines) == ""


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["deploy ALL=(www) NOPASSWD: ALL"], "no line of sudoers grants it everything"),
        (["deploy ALL=(ALL, !root) NOPASSWD: ALL"], "no line of sudoers grants it everything"),
        (["deploy ALL=(ALL) NOPASSWD: ALL", "ALL, !temper ALL=(ALL) !ALL"], "line 2 takes it away"),
        (["deploy ALL=(ALL) ALL", "Defaults:deploy !authenticate", "Defaults authenticate"], "it has no password"),
        (["deploy ALL"], "sudo does not run"),
    ],
)
def test_it_would_not(lines, why):
    assert why in asked(*lines)
