"""A visit, and what changed since the one before it."""

import time

import pytest

from app.runs.open_decisions import OpenDecision
from app.runtime.health_faults import HealthFault
from app.web.pages.changes_since_visit import (
    _iterate_new_fault_changes,
    _summarize_new_decisions_and_failed_hosts,
    find_previous_visit_end,
)
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS

NOW = 10_000.0


@pytest.mark.parametrize(
    ("cookie", "since"),
    [
        ("", None),
        ("8000.0-9000.0-", 9000.0),  # the visit before ended then
        ("8000.0-9900.0-", 8000.0),  # this visit goes on
        ("8000.0-9000.0-other", None),  # somebody else, in the same browser
        ("9000.0-20000.0-", None),  # a clock that ran ahead
        ("nan-inf-", None),
        ("x", None),
    ],
)
def test_a_visit_goes_on_for_ten_minutes_after_the_last_page(cookie, since):
    assert find_previous_visit_end(cookie, "", NOW) == since


def test_only_new_decisions_and_what_is_still_away_are_told():
    def decision(kind, since, host=""):
        return OpenDecision(kind=kind, id=f"{kind}{since}", title="t", why="w", since=since, risk="low", host=host)

    waiting = [decision("approval", 5.0), decision("approval", 1.0), decision("host", 6.0, "web1")]
    assert [one.text for one in _summarize_new_decisions_and_failed_hosts(waiting, 2.0)] == [
        "1 new decision waits",
        "the last run failed on web1",
    ]
    faults = [HealthFault("engine", "ENGINE DOWN", "t.", "r", 5.0, ("a", "b")), HealthFault("node", "N", "t", "r", 1.0)]
    assert [one.text for one in _iterate_new_fault_changes(faults, 2.0)] == ["a, b went away"]


@pytest.mark.parametrize("path", ["/", "/runs/r1", "/fleet"])
async def test_the_pages_say_what_changed_since_the_last_visit(tmp_path, path):
    async with house(tmp_path) as made:
        now = time.time()
        made.append("r1", *EVENTS, at=now - 60)
        first = (await made.http.get(path)).text
        assert 'id="looked"' in first
        assert "findings fixed" not in first
        cookie = {"cookie": f"temper-looked={now - 9000:.1f}-{now - 8000:.1f}-"}
        again = (await made.http.get(path, headers=cookie)).text
        assert "1 finding fixed" in again
        assert "run r1 on fixture finished" in again
        assert (
            "run r1 on fixture"
            not in (
                await made.http.get(path, headers={"cookie": f"temper-looked={now - 9000:.1f}-{now - 30:.1f}-x"})
            ).text
        )
