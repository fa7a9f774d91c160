"""The reboot at the end of a run: who is asked, whether the host may be away, and what comes into force by it."""

import pytest
from msgspec.structs import replace

from app.events.approval_policy import PeopleNeeded
from app.events.event_field_types import PendingSetting
from app.events.kinds import (
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    InForceChecked,
    RebootAnnounced,
    RebootLost,
    RebootReturned,
    RebootSkipped,
    RebootUndone,
)
from app.events.record import GENESIS, build_recorded_event
from app.loop.attempt_state import Attempt
from app.loop.reboot_state import RebootProgress, advance_reboot, drop_no_longer_pending_settings

ASKED = ApprovalRequested(approval="a1", rule="", attempt=0, binds="", expires=50.0, about="reboot")
YES = ApprovalGiven(approval="a1", by="ada", reason="", about="reboot")
NO = ApprovalRefused(approval="a1", by="ada", reason="not at noon", about="reboot")
LATE = ApprovalExpired(approval="a1", reason="late")
SKIPPED = RebootSkipped(host="h", reason="it refuses")
ANNOUNCED = RebootAnnounced(host="h", boot="b1", until=600.0, rules=("A",))
RETURNED = RebootReturned(host="h", boot="b2", seconds=41.0, probes=())
LOST = RebootLost(host="h", seconds=600, reason="silent")
UNDONE = RebootUndone(host="h", snapshot="", rules=("A",), paths=(), differences=(), probes=(), seconds=0.1)


def fold(*events):
    reboot = RebootProgress()
    for seq, event in enumerate(events, 1):
        reboot = advance_reboot(reboot, build_recorded_event("r", seq, 100.0 + seq, event, GENESIS))
    return reboot


def test_one_person_is_asked_until_there_is_an_answer():
    assert not fold().awaits_person
    assert fold(ASKED).awaits_person
    assert [fold(ASKED, answer).awaits_person for answer in (YES, NO, LATE, SKIPPED)] == [False] * 4
    assert [fold(ASKED, answer).is_approved for answer in (YES, NO, LATE, SKIPPED)] == [True, False, False, False]


def test_where_two_people_are_asked_each_of_them_counts_once():
    asked = replace(ASKED, needs=PeopleNeeded(people=2, why="", by=""))
    once, twice, both = fold(asked, YES), fold(asked, YES, YES), fold(asked, YES, replace(YES, by="bob"))
    assert [one.is_approved for one in (once, twice, both)] == [False, False, True]
    assert [one.awaits_person for one in (once, twice, both)] == [True, True, False]
    assert [one.by for one in both.given] == ["ada", "bob"]


def test_no_policy_makes_it_fewer_people_than_one():
    assert fold(replace(ASKED, needs=PeopleNeeded(people=0, why="", by=""))).people_required == 1


@pytest.mark.parametrize(
    ("events", "underway", "awaited"),
    [
        ((), False, False),
        ((ASKED, YES), False, False),
        ((ANNOUNCED,), True, True),
        ((ANNOUNCED, SKIPPED), False, False),
        ((ANNOUNCED, RETURNED), True, False),
        ((ANNOUNCED, LOST), True, False),
    ],
)
def test_the_host_may_be_away_from_the_announcement_until_it_is_back_or_given_up(events, underway, awaited):
    reboot = fold(*events)
    assert (reboot.is_announced_and_unskipped, reboot.is_awaited) == (underway, awaited)


def test_each_event_of_the_reboot_is_kept():
    reboot = fold(ANNOUNCED, RETURNED, LOST, UNDONE, SKIPPED)
    assert (reboot.announced, reboot.announced_at, reboot.returned, reboot.lost) == (ANNOUNCED, 101.0, RETURNED, LOST)
    assert (reboot.undone, reboot.skipped) == (UNDONE, SKIPPED)
    assert fold(ASKED, NO, LATE).disapproved == NO
    assert fold(ASKED, NO, LATE).expired == LATE


def test_a_setting_that_the_reboot_brought_into_force_is_pending_no_more():
    one, other = (
        PendingSetting(program="sysctl", setting=name, wanted="1", running="0", by="a reboot") for name in "ab"
    )
    before = InForceChecked(rule="A", attempt=1, asked=("sysctl",), behind=(one, other))
    attempt = Attempt(1, 0.0, force=before)
    after = drop_no_longer_pending_settings(attempt, replace(before, behind=(replace(other, running="2"),)))
    assert after.force.behind == (other,)
    assert drop_no_longer_pending_settings(None, before) is None
    assert drop_no_longer_pending_settings(Attempt(1, 0.0), before) == Attempt(1, 0.0)
