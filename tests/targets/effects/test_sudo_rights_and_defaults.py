"""What a change to sudoers comes to, for each account."""

import pytest

from app.events.event_field_types import AppendLine, RemoveLine, ReplaceLine
from app.targets import policy
from app.targets.effects.local_programs_on_copied_host_files import create_local_asker
from app.targets.effects.sudo_rights_and_defaults import Sudo
from app.targets.effects.weakened_setting_search import find_weakening_objection_by_programs
from app.targets.program_sandbox import detect_confinement
from tests.differential.linkless import Linkless
from tests.targets.effects.losses import losses
from tests.targets.hosts import FILES, host

SUDO = Sudo()
SITE = "/etc/sudoers.d/site"
LOOSE = "deploy ALL=(ALL) NOPASSWD: ALL"


def on(*lines):
    return host({SITE: "".join(f"{line}\n" for line in lines)})


def linkless(*lines):
    return Linkless({**FILES, SITE: "".join(f"{line}\n" for line in lines)})


def refused(action, *lines):
    return [one.reason for one in policy.list_action_refusals([action], frozenset({action.path}), linkless(*lines))]


@pytest.mark.parametrize(
    "line",
    [
        "deploy ALL=(ALL) PASSWD: ALL, NOPASSWD: /usr/bin/uptime",
        "deploy ALL=(ALL) NOPASSWD: NOEXEC: ALL",
        "deploy ALL=(ALL) NOPASSWD: !sudoedit",
        "%mission ALL=(ALL) NOPASSWD: LOG_OUTPUT: ALL",
        "#1002 ALL=(ALL) NOPASSWD: NOSETENV: ALL",
    ],
)
def test_a_line_with_nopasswd_that_overrules_a_wider_one_stays(line):
    (reason,) = refused(RemoveLine(path=SITE, line=line), LOOSE, line)
    assert "deploy may run is" in reason
    assert reason.endswith("which is weaker.")


@pytest.mark.parametrize("strict", ["!timestamp_timeout", "timestamp_timeout=0", "timestamp_timeout = 2.5"])
@pytest.mark.parametrize("scope", ["", ":deploy", ":stranger"])
def test_a_password_is_not_remembered_for_longer(strict, scope):
    (reason,) = refused(AppendLine(path=SITE, line=f"Defaults{scope} timestamp_timeout=5"), f"Defaults {strict}")
    assert "timestamp_timeout" in reason


@pytest.mark.parametrize(
    ("was", "now"), [("targetpw", "!targetpw"), ("rootpw", "!rootpw"), ("passwd_tries=1", "passwd_tries=3")]
)
def test_whose_password_it_is_and_how_often_it_is_asked_for(was, now):
    """Where the password of root is asked for, everybody may be granted everything; the own one would be enough."""
    assert refused(AppendLine(path=SITE, line=f"Defaults {now}"), "ALL ALL=(ALL) ALL", f"Defaults {was}")


@pytest.mark.parametrize(
    ("action", "lines"),
    [
        (RemoveLine(path=SITE, line=LOOSE), [LOOSE]),
        (ReplaceLine(path=SITE, old=LOOSE, new="deploy ALL=(ALL) ALL"), [LOOSE]),
        (RemoveLine(path=SITE, line="Defaults !authenticate"), ["Defaults !authenticate"]),
        (RemoveLine(path=SITE, line="Defaults:stranger !authenticate"), ["Defaults:stranger !authenticate"]),
        (AppendLine(path=SITE, line="Defaults timestamp_timeout=0"), ["Defaults timestamp_timeout=5"]),
        (AppendLine(path=SITE, line="Defaults use_pty"), []),
        (AppendLine(path=SITE, line="Defaults !targetpw"), []),
        (AppendLine(path=SITE, line="Defaults !rootpw"), ["Defaults !targetpw"]),
        (AppendLine(path=SITE, line="Defaults timestamp_timeout=5"), []),
    ],
)
def test_what_takes_away_is_allowed(action, lines):
    assert refused(action, *lines) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            ["deploy ALL=(ALL) ALL", "deploy ALL=(root) !/usr/bin/su"],
            ["deploy ALL=(root) !/usr/bin/su", "deploy ALL=(ALL) ALL"],
        ),
        (
            ["User_Alias OPS = opsadmin", LOOSE.replace("deploy", "OPS")],
            ["User_Alias OPS = opsadmin, deploy", LOOSE.replace("deploy", "OPS")],
        ),
        (
            ["Cmnd_Alias NO = /usr/bin/su, /usr/bin/sh", "deploy ALL=(ALL) ALL, !NO"],
            ["Cmnd_Alias NO = /usr/bin/su", "deploy ALL=(ALL) ALL, !NO"],
        ),
        (["deploy ALL=(www) /usr/bin/a"], ["deploy ALL=(root) /usr/bin/a"]),
        (["deploy web=(ALL) ALL"], ["deploy ALL=(ALL) ALL"]),
        (["deploy ALL=/usr/bin/a -x"], ["deploy ALL=/usr/bin/a"]),
        (["deploy ALL=/usr/bin/a"], ["deploy ALL=/usr/bin/*"]),
        (["deploy ALL=CWD=/srv /usr/bin/a"], ["deploy ALL=CWD=/tmp /usr/bin/a"]),
        (["Defaults noexec", "deploy ALL=ALL"], ["deploy ALL=ALL"]),
        (["Defaults@ALL noexec"], []),
        (["Defaults>root log_output"], []),
        (["Defaults!/usr/bin/vi noexec"], []),
        (['Defaults env_keep -= "HOME"'], []),
        ([], ['Defaults env_keep += "LD_X"']),
        ([], ["Defaults secure_path=/tmp"]),
        ([], ["stranger ALL=(ALL) ALL"]),
        (
            ["ALL ALL=(ALL) NOPASSWD: /usr/bin/a", "%strangers ALL=(ALL) PASSWD: /usr/bin/a"],
            ["ALL ALL=(ALL) NOPASSWD: /usr/bin/a"],
        ),
        ([], ["deploy ALL"]),
    ],
)
def test_what_gives_somebody_more(before, after):
    assert losses(SUDO, on(*before), on(*after)) != []
    assert losses(SUDO, on(*after), on(*after)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["deploy ALL=(ALL) ALL"], ["deploy ALL=(ALL) ALL, !/usr/bin/su"]),
        (["deploy ALL=(ALL : ALL) ALL"], ["deploy ALL=(ALL) ALL"]),
        (["deploy ALL=/usr/bin/a"], ["deploy ALL=/usr/bin/a -x"]),
        (["deploy ALL=(ALL) ALL"], ["deploy ALL=(ALL) NOEXEC: ALL"]),
        (["deploy ALL=(ALL) NOPASSWD: ALL", "stranger ALL=ALL"], ["deploy ALL=(ALL) ALL"]),
        (["Cmnd_Alias OK = /usr/bin/a, /usr/bin/b", "deploy ALL=OK"], ["deploy ALL=/usr/bin/b"]),
        (["deploy ALL=/usr/bin/a, /usr/bin/b"], ["deploy ALL=/usr/bin/b, /usr/bin/a"]),
        (["deploy ALL"], []),
    ],
)
def test_what_takes_from_somebody(before, after):
    assert losses(SUDO, on(*before), on(*after)) == []


def test_sudo_says_the_same_and_is_asked_before_anything_is_written():
    before, after = on(LOOSE, "deploy ALL=(ALL) PASSWD: ALL"), on(LOOSE)
    ask = create_local_asker(detect_confinement())
    assert SUDO.ask_settings(before, ask) == SUDO.read_settings(before)
    found = find_weakening_objection_by_programs([SITE], before, after, frozenset(), ask)
    assert found
    assert "deploy may run" in found.reason
    asked = frozenset({f"sudo {key} {value}" for key, value in SUDO.read_settings(after).items()})
    assert find_weakening_objection_by_programs([SITE], before, after, asked, ask) is None


def test_where_cvtsudoers_is_not_at_hand_nothing_is_said():
    assert SUDO.ask_settings(on(), lambda _files, _question: None) is None
