"""A run that was looked at after a reboot says so, and where."""

import pytest

from app.events.kinds import RebootChecked, RunFinished, RunQueued
from app.events.vocabulary import Budget
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS


def look(of):
    asked = RunQueued(
        host="fixture", skill="stig", rules=("V-257985",), mode="scan", budget=Budget(), lineup="simulated",
        simulated=True, after_reboot=True,
    )  # fmt: skip
    ended = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")
    checked = RebootChecked(of=of, boot_before="a", boot_now="b", rebooted=True, slipped=("V-257985",))
    return asked, checked, ended


@pytest.mark.parametrize(("of", "said"), [("r1", True), ("r0", False)])
async def test_the_page_of_the_run_leads_to_what_held(tmp_path, of, said):
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS)
        made.append("r2", *look(of), at=2000.0)
        page = (await made.http.get("/runs/r1")).text
        assert ('<a href="/runs/r2?at=2">run r2</a>' in page) == said
