"""Jumps, substacks and broken rules. What libpam itself says of many more is tests/differential's."""

import pytest

from app.syntax import pam
from app.targets.pam_outcome import StackRefusal, compute_outcome, find_stack_refusal
from tests.hostfiles import DictFiles


def ends(text, **others):
    files = DictFiles({"/etc/pam.d/x": text, **{f"/etc/pam.d/{name}": one for name, one in others.items()}})
    chains = pam.find_chains_falling_back_to_other_service(files, "x")
    return None if chains is None else compute_outcome(chains["auth"], lambda rule: rule.module)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("auth required success\nauth required auth_err\n", "auth_err"),
        ("auth sufficient success\nauth required auth_err\n", "success"),
        ("auth required auth_err\nauth sufficient success\n", "auth_err"),
        ("auth [success=1 default=ignore] success\nauth required auth_err\nauth required success\n", "success"),
        ("auth [success=2 default=ignore] success\nauth required success\n", "perm_denied"),
        ("auth [default=ok success=reset] success\nauth optional user_unknown\n", "perm_denied"),
        ("auth required success\n\\ #\n", "perm_denied"),
        ("auht sufficient x\nauth required success\n", "success"),
        ("auth [success=oops] success\n", "perm_denied"),
        ("auth include none\n", "perm_denied"),
        ("auth required success\n@include none\n", None),
        ("auth required success \\\n", None),
        ("", "perm_denied"),
    ],
)
def test_a_stack_comes_to(text, code):
    assert ends(text) == code


def test_a_substack_ends_by_itself_and_counts_as_one_rule():
    sub = "auth sufficient success\nauth required auth_err\n"
    assert ends("auth substack sub\nauth required user_unknown\n", sub=sub) == "user_unknown"
    assert ends("auth include sub\nauth required user_unknown\n", sub=sub) == "success"
    jump = "auth [success=1 default=ignore] success\nauth substack sub\nauth required success\n"
    assert ends(jump, sub="auth required auth_err\nauth required auth_err\n") == "success"
    assert ends("auth required success\nauth substack sub\n", sub="auth [default=reset] auth_err\n") == "success"


def test_other_stands_in_and_has_to_be_readable():
    assert ends("account required success\n", other="auth required success\n") == "success"
    assert ends("auth required success\n", other="auth required success \\") is None


@pytest.mark.parametrize(
    ("text", "line", "overshoots"),
    [
        ("auth required success\nauth required auth_err\nauth required perm_denied\n", 2, False),
        ("auth required success\nauth requisite auth_err\nauth sufficient success\n", 2, False),
        ("auth required auth_err\nauth sufficient success\n", 1, False),
        ("auth [success=2 default=ignore] success\nauth required success\n", 1, True),
        ("auth required success\nauth required\n", 2, False),
        ("auth [default=ok] new_authtok_reqd\nauth required success\n", 1, False),
    ],
)
def test_the_rule_that_decided_on_a_refusal_is_found(text, line, overshoots):
    rules = pam.find_chains_falling_back_to_other_service(DictFiles({"/etc/pam.d/x": text}), "x")["auth"]
    assert find_stack_refusal(rules, lambda rule: rule.module) == StackRefusal(rules[line - 1], overshoots)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "auth optional user_unknown\n",
        "auth required success\nauth [default=reset] auth_err\n",
        "auth required perm_denied\nauth [default=reset] auth_err\n",
    ],
)
def test_a_stack_in_which_no_rule_decides_refuses(text):
    chains = pam.find_chains_falling_back_to_other_service(DictFiles({"/etc/pam.d/x": text}), "x")
    assert find_stack_refusal(chains["auth"], lambda rule: rule.module) == StackRefusal(None)


def test_a_stack_that_succeeds_has_no_refusal():
    chains = pam.find_chains_falling_back_to_other_service(
        DictFiles({"/etc/pam.d/x": "auth sufficient success\nauth required auth_err\n"}), "x"
    )
    assert find_stack_refusal(chains["auth"], lambda rule: rule.module) is None
