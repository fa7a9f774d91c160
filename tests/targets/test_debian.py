"""Debian's own names for things: the group sudo, and stacks of PAM that jump over pam_deny."""

import pytest

from app.events.event_field_types import AppendLine, ReplaceLine, SetOption, WriteFile
from app.skills.scap.pack import ASKS
from app.syntax import pam
from app.targets import policy
from app.targets.config_validation import find_complaints
from app.targets.effects.local_programs_on_copied_host_files import create_local_asker
from app.targets.health_probes import run_health_probes
from app.targets.host_accounts import read_host_accounts
from app.targets.pam_outcome import is_user_admitted
from app.targets.program_sandbox import Confinement
from app.targets.ssh.ssh_health_probes import probe_files
from tests.targets.hosts import FILES, TODAY, host, text_of

AUTH, ACCOUNT, PASSWORD = (f"/etc/pam.d/common-{kind}" for kind in ("auth", "account", "password"))
UNIX = "auth [success=1 default=ignore] pam_unix.so nullok"
TEXT = {
    AUTH: f"{UNIX}\nauth requisite pam_deny.so\nauth required pam_permit.so\nauth optional pam_cap.so\n",
    ACCOUNT: "account [success=1 new_authtok_reqd=done default=ignore] pam_unix.so\n"
    "account requisite pam_deny.so\naccount required pam_permit.so\n",
    PASSWORD: "password [success=1 default=ignore] pam_unix.so obscure yescrypt\n"
    "password requisite pam_deny.so\npassword required pam_permit.so\n",
}
END = "auth required pam_permit.so"
TWO_WAYS = f"""auth [success=2 default=ignore] pam_unix.so
auth [success=1 default=ignore] pam_sss.so
auth requisite pam_deny.so
{END}
"""
GROUP, SUDOERS = "/etc/group", "/etc/sudoers"


def debian(**changed):
    """By keyword auth, account or password: another text, or None where the file is gone."""
    given = {"auth": AUTH, "account": ACCOUNT, "password": PASSWORD}
    texts = {**TEXT, **{given[kind]: text for kind, text in changed.items()}}
    rhel = dict.fromkeys((path for path in FILES if path.startswith("/etc/pam.d/")), None)
    names = {GROUP: text_of(GROUP).replace("wheel:", "sudo:"), SUDOERS: text_of(SUDOERS).replace("%wheel", "%sudo")}
    return host({**rhel, **{path: text for path, text in texts.items() if text is not None}, **names})


def test_three_tries_are_allowed_to_the_rule_that_asks_for_them_and_to_no_other():
    path, name = "/etc/security/pwquality.conf", "accounts_password_pam_retry"
    for value, asks, clauses in [
        ("3", ASKS[name], []),
        ("3", frozenset(), ["weakening"]),
        ("4", ASKS[name], ["weakening"]),
    ]:
        action = SetOption(path=path, key="retry", value=value)
        found = policy.list_action_refusals([action], frozenset({path}), Plain(host({path: "minlen = 15\n"})), asks)
        assert [one.clause for one in found] == clauses


class Plain:
    """A host without a link."""

    def __init__(self, files):
        self.read, self.state, self.glob = files.read, files.state, files.glob

    def find_first_link(self, _path):
        return None


def probes(files):
    return {one.name: one for one in run_health_probes(files, TODAY)}


def test_an_administrator_is_in_the_group_sudo():
    assert "%sudo" in debian().read(SUDOERS).decode()
    assert [one.name for one in read_host_accounts(debian()).list_other_administrators()] == ["opsadmin"]
    assert probes(debian())["administrator"].ok
    assert {"administrator", "pam"} <= {one.name for one in probe_files(debian())}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"auth": "auth sufficient pam_permit.so\n" + TEXT[AUTH]}, "lets everybody in without asking"),
        ({"auth": TEXT[AUTH].replace("auth requisite pam_deny.so\n", "")}, "lets everybody in"),
        ({"auth": TEXT[AUTH].replace("requisite pam_deny", "optional pam_deny")}, "lets everybody in without asking"),
        ({"auth": "auth requisite pam_deny.so\n" + TEXT[AUTH]}, "refuses everybody"),
        ({"auth": "auth required pam_faillock.so authfail\n" + TEXT[AUTH]}, "refuses everybody"),
        ({"auth": UNIX.replace("=1", "=2") + "\nauth requisite pam_deny.so\nauth required pam_permit.so\n"}, "refuses"),
        ({"auth": None}, "is absent"),
        ({"account": None}, "is absent"),
        ({"account": "account requisite pam_deny.so\n" + TEXT[ACCOUNT]}, "refuses everybody"),
        ({"account": "account sometimes pam_unix.so\n"}, "PAM does not know the control"),
    ],
)
def test_a_stack_that_is_of_no_use_is_told(changed, says):
    found = probes(debian(**changed))["pam"]
    assert not found.ok
    assert says in found.detail


def test_a_stack_as_debian_ships_it_is_fine():
    assert probes(debian())["pam"].ok, probes(debian())["pam"].detail


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("auth required pam_unix.so", True, False),
        ("auth sufficient pam_unix.so\nauth required pam_deny.so", True, False),
        ("auth sufficient pam_unix.so\nauth sufficient pam_sss.so\nauth required pam_deny.so", True, False),
        ("auth optional pam_unix.so\nauth required pam_permit.so", True, True),
        ("auth required pam_faillock.so preauth\nauth required pam_unix.so", True, False),
        (TWO_WAYS, True, False),
        ("auth [success=1 default=bad] pam_unix.so\nauth [default=die] pam_faillock.so authfail\n" + END, True, False),
        ("auth [success=ok default=reset] pam_unix.so\nauth required pam_permit.so", True, True),
        ("auth required pam_deny.so", False, False),
        ("", False, False),
    ],
)
def test_what_a_stack_comes_to(text, right, wrong):
    rules = pam.parse_service(text, AUTH).list_rules_of_kind("auth")
    assert (is_user_admitted(rules, has_right_password=True), is_user_admitted(rules, has_right_password=False)) == (
        right,
        wrong,
    )


@pytest.mark.parametrize(
    "action",
    [
        ReplaceLine(path=AUTH, old=UNIX, new=UNIX.removesuffix(" nullok")),
        WriteFile(path=PASSWORD, content="password requisite pam_pwquality.so retry=3\n" + TEXT[PASSWORD]),
        WriteFile(path=ACCOUNT, content="account required pam_faillock.so\n" + TEXT[ACCOUNT]),
    ],
)
def test_a_stack_may_become_stricter(action):
    assert policy.list_action_refusals([action], frozenset({action.path}), Plain(debian())) == []


@pytest.mark.parametrize(
    "action",
    [
        AppendLine(path=AUTH, line="auth sufficient pam_rootok.so"),
        ReplaceLine(path=AUTH, old="auth requisite pam_deny.so", new="auth optional pam_deny.so"),
        ReplaceLine(path=AUTH, old=UNIX, new=UNIX.replace("success=1", "success=2")),
        WriteFile(path=AUTH, content="auth required pam_permit.so\n"),
        SetOption(path=GROUP, key="sudo", value="kiosk"),
        AppendLine(path="/etc/pam.d/common-tricks", line="auth required pam_unix.so"),
    ],
)
def test_a_stack_is_not_opened(action):
    assert [one.action for one in policy.list_action_refusals([action], frozenset({action.path}), Plain(debian()))] == [
        action
    ]


def test_a_stack_that_no_longer_parses_is_told_before_it_is_written():
    after = debian(password="password sometimes pam_unix.so\n")
    walls = Confinement("none", "")
    assert list(find_complaints([PASSWORD], debian(), debian(), create_local_asker(walls))) == []
    assert "PAM does not know the control" in next(
        iter(find_complaints([PASSWORD], debian(), after, create_local_asker(walls)))
    )
