import pytest

from app.resources.account import SetAgeing, judge_ageing_for_weakening_and_lockout
from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from tests.resources.case import KindCase, Sample

WAS = "min 0, max 99999, warn 7, inactive -, changed 1"
CASE = KindCase(
    samples=(
        Sample(
            SetAgeing(account="opsadmin", setting="min", days=1),
            HostState(WAS),
            ResourceState("account:opsadmin", WAS, WAS.replace("min 0", "min 1")),
            ResourceState("account:opsadmin", WAS, WAS.replace("warn 7", "warn 3")),
        ),
    ),
    rule=RuleTexts("x", "Run: chage -m 1 USER", ("opsadmin",)),
)

TODAY = 20_000


def change(before, after, changed=TODAY - 10, name="ana", needed=()):
    rest = f", changed {changed}"
    state = ResourceState(f"account:{name}", before + rest, after + rest)
    return ForeseenStates((state,), frozenset(needed), TODAY)


def test_a_password_may_age_sooner():
    assert (
        judge_ageing_for_weakening_and_lockout(
            change("min 0, max 99999, warn 7, inactive -", "min 0, max 60, warn 7, inactive -")
        )
        is None
    )
    assert (
        judge_ageing_for_weakening_and_lockout(
            change("min 0, max 60, warn 7, inactive -", "min 0, max 60, warn 7, inactive 35")
        )
        is None
    )


@pytest.mark.parametrize(
    "after",
    [
        "min 1, max 90, warn 7, inactive 30",
        "min 0, max 60, warn 7, inactive 30",
        "min 1, max 60, warn 3, inactive 30",
        "min 1, max 60, warn 7, inactive 60",
        "min 1, max -1, warn 7, inactive 30",
        "min 1, max 60, warn 7, inactive -",
    ],
)
def test_nothing_becomes_laxer(after):
    assert (
        judge_ageing_for_weakening_and_lockout(change("min 1, max 60, warn 7, inactive 30", after)).clause
        == "weakening"
    )


def test_nobody_is_expired_on_the_spot():
    was, now = "min 0, max 99999, warn 7, inactive -", "min 0, max 60, warn 7, inactive -"
    assert judge_ageing_for_weakening_and_lockout(change(was, now, changed=TODAY - 59)) is None
    assert judge_ageing_for_weakening_and_lockout(change(was, now, changed=TODAY - 60)).clause == "lockout"
    assert "at once" in judge_ageing_for_weakening_and_lockout(change(was, now, changed=1)).reason


def test_whoever_comes_by_a_key_is_never_shut_out_by_a_passwords_end():
    was, now = "min 0, max 99999, warn 7, inactive -", "min 0, max 60, warn 7, inactive -"
    found = judge_ageing_for_weakening_and_lockout(change(was, now, name="root", needed={"account:root"}))
    assert (found.clause, "with a key" in found.reason) == ("lockout", True)


def test_a_password_can_be_changed_before_it_ends():
    assert (
        judge_ageing_for_weakening_and_lockout(
            change("min 0, max 7, warn 7, inactive -", "min 9, max 7, warn 7, inactive -")
        ).clause
        == "lockout"
    )
