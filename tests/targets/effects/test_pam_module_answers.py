import pytest

from app.syntax.pam import PamRule
from app.targets.effects.pam_module_answers import INTRUDERS, RIGHTFUL, create_module_responder


def said(module, who, kind="auth", *arguments, otherwise=True):
    return create_module_responder(who, kind, unknown_modules_accept=otherwise)(
        PamRule(kind, "required", module, arguments, "x", 1)
    )


@pytest.mark.parametrize(
    ("module", "who", "kind", "arguments", "code"),
    [
        ("pam_unix.so", "the right password", "auth", (), "success"),
        ("pam_unix.so", "a wrong password", "auth", (), "auth_err"),
        ("pam_unix.so", "an account without a password", "auth", (), "auth_err"),
        ("pam_unix.so", "an account without a password", "auth", ("nullok",), "success"),
        ("pam_unix.so", "the right password of a directory", "auth", (), "user_unknown"),
        ("pam_sss.so", "the right password of a directory", "auth", (), "success"),
        ("pam_faillock.so", "a locked account", "auth", ("preauth",), "auth_err"),
        ("pam_faillock.so", "the right password", "auth", ("authfail",), "auth_err"),
        ("pam_rootok.so", "root with the right password", "auth", (), "success"),
        ("pam_rootok.so", "the right password", "auth", (), "auth_err"),
        ("pam_unix.so", "an expired account", "account", (), "acct_expired"),
        ("pam_pwquality.so", "a weak one", "password", (), "authtok_err"),
        ("pam_pwhistory.so", "a used one", "password", (), "authtok_err"),
        ("pam_deny.so", "everybody who signed in", "session", (), "session_err"),
    ],
)
def test_what_a_module_returns(module, who, kind, arguments, code):
    assert said(module, who, kind, *arguments) == code


def test_of_a_module_that_nobody_knows_both_are_tried():
    assert said("pam_site.so", "a wrong password") == "success"
    assert said("pam_site.so", "the right password", otherwise=False) == "auth_err"


def test_everybody_has_a_name_of_his_own():
    names = [name for table in (RIGHTFUL, INTRUDERS) for kinds in table.values() for name in kinds]
    assert len(names) == len(set(names))
