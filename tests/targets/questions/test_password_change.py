"""Whether passwords can be changed, read from the files of a host."""

import pytest

from app.targets.questions.password_change import probe_password_change
from app.targets.questions.probe_answer import ProbedHost
from app.targets.read_tracking_cache import ReadTrackingCache
from tests.targets.hosts import host, text_of

SYSTEM_AUTH, LOGIN, SSHD = "/etc/pam.d/system-auth", "/etc/pam.d/login", "/etc/pam.d/sshd"
STACK = text_of(SYSTEM_AUTH)
DENY = "password requisite pam_deny.so\n"


def probe(changes=None):
    return probe_password_change(ProbedHost(host(changes), ReadTrackingCache(), 0))


def test_a_host_in_order_lets_everybody_change_a_password():
    answer = probe()
    assert answer.ok
    assert answer.asked
    assert answer.weak == ()
    assert answer.detail == (
        "simulated: root sets a password; its owner changes it; an expired one is changed at the next login; "
        "a password of four characters is refused"
    )


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        (
            {SYSTEM_AUTH: DENY + STACK},
            "simulated: root cannot set a password: /etc/pam.d/system-auth line 1: pam_deny.so: ",
        ),
        (
            {"/etc/pam.d/chpasswd": DENY},
            "simulated: root cannot set a password: /etc/pam.d/chpasswd line 1: pam_deny.so: ",
        ),
        (
            {LOGIN: DENY + text_of(LOGIN)},
            "simulated: an expired password cannot be changed: /etc/pam.d/login line 1: pam_deny.so: ",
        ),
        (
            {SSHD: DENY + text_of(SSHD)},
            "simulated: an expired password cannot be changed: /etc/pam.d/sshd line 1: pam_deny.so: ",
        ),
    ],
)
def test_the_step_that_fails_is_named_with_its_rule(changes, detail):
    answer = probe(changes)
    assert not answer.ok
    assert answer.detail.startswith(detail)


def test_a_stack_that_takes_short_passwords_is_weak():
    answer = probe(
        {SYSTEM_AUTH: STACK.replace("password required pam_unix.so", "password required pam_unix.so minlen=4")}
    )
    assert answer.ok
    assert answer.weak == ("a password of four characters is accepted",)


def test_a_host_without_a_common_stack_is_not_asked():
    answer = probe({SYSTEM_AUTH: None})
    assert (answer.ok, answer.asked) == (True, False)
    assert answer.detail == "not asked: there is no common stack for passwords"
