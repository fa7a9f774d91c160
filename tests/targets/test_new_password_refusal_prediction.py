"""Why a new password would not be set, by the rule that stops it."""

import pytest

from app.syntax import pam
from app.targets.new_password_refusal_prediction import predict_password_change_refusal
from tests.hostfiles import DictFiles

UNIX = "password required pam_unix.so\n"
QUALITY = "password requisite pam_pwquality.so retry=3\n"
DEBIAN = (
    "password [success=1 default=ignore] pam_unix.so obscure\n"
    "password requisite pam_deny.so\npassword required pam_permit.so\n"
)
UNTYPED = "leaves the asking to an earlier rule, and none asks for the new password"
AT = "/etc/pam.d/x line"


def explain(text, **options):
    chains = pam.find_chains_falling_back_to_other_service(DictFiles({"/etc/pam.d/x": text}), "x")
    return predict_password_change_refusal(None if chains is None else chains["password"], **options)


@pytest.mark.parametrize(
    "text",
    [
        UNIX,
        DEBIAN,
        f"{QUALITY}password sufficient pam_unix.so use_authtok\npassword required pam_deny.so\n",
        f"password sufficient pam_sss.so\n{UNIX}",
        f"password optional pam_site.so\n{UNIX}",
    ],
)
def test_a_stack_in_order_takes_a_new_password(text):
    assert explain(text) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"password requisite pam_deny.so\n{UNIX}", f"{AT} 1: pam_deny.so: it refuses every new password"),
        ("password required pam_unix.so use_authtok\n", f"{AT} 1: pam_unix.so: use_authtok {UNTYPED}"),
        (
            f"password requisite pam_pwhistory.so use_authtok remember=5\n{UNIX}",
            f"{AT} 1: pam_pwhistory.so: use_authtok {UNTYPED}",
        ),
        (DEBIAN.replace("success=1", "success=3"), f"{AT} 1: pam_unix.so: its jump leads past the end of the stack"),
        (f"password required\n{UNIX}", f"{AT} 1: the rule: libpam cannot read it"),
        (QUALITY, "no rule stores the new password: pam_unix.so is missing or skipped"),
        (
            f"password sufficient pam_permit.so\n{UNIX}",
            "no rule stores the new password: pam_unix.so is missing or skipped",
        ),
        ("auth required pam_unix.so\n", "no rule decides"),
        (f"{UNIX}@include nowhere\n", "PAM gives the service up"),
    ],
)
def test_the_rule_that_stops_a_new_password_is_named(text, reason):
    assert explain(text) == reason


def test_what_an_unknown_module_does_is_the_callers_choice():
    text = f"password required pam_site.so\n{UNIX}"
    assert explain(text, unknown_modules_succeed=False) == f"{AT} 1: pam_site.so: it refuses every new password"


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        (UNIX, True),
        ("password required pam_unix.so minlen=5\n", True),
        ("password required pam_unix.so minlen=4\n", False),
        ("password required pam_unix.so minlen=4 obscure\n", True),
        (f"{QUALITY}password required pam_unix.so use_authtok minlen=1\n", True),
        ("password required pam_pwhistory.so\npassword required pam_unix.so use_authtok minlen=1\n", False),
        ("password optional pam_unix.so\npassword required pam_permit.so\n", True),
    ],
)
def test_a_short_password_is_refused_by_the_modules_that_measure_it(text, refuses):
    assert explain(text) == ""
    assert bool(explain(text, password_is_short=True)) is refuses
