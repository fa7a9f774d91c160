"""What the pages and the API say of a reboot: while it is asked about, while the host is away, and afterwards."""

import pytest

from app.events.event_field_types import Budget
from app.events.kinds import RebootChecked, RunFinished, RunQueued
from tests.runs.doors import house
from tests.runs.rebooting import ANNOUNCED, ASKED, TO_THE_END, UNTIL_IT_ASKS, YES
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


async def test_a_reboot_waits_for_a_person_on_the_page_in_the_inbox_and_over_the_api(tmp_path):
    async with house(tmp_path) as made:
        made.append("r1", *UNTIL_IT_ASKS)
        page = (await made.http.get("/runs/r1")).text
        assert "The reboot waits for a person.</b> Reboot web1 now" in page
        assert "Edit the actions" not in page
        assert "web1 is rebooted once a person approves it." in page
        inbox = (await made.http.get("/inbox")).text
        assert "Approve reboot" in inbox
        assert "It needs one person: the host is not disposable, by Temper&#39;s own rule." in inbox
        [asked] = (await made.http.get("/api/v1/approvals")).json()["approvals"]
        assert (asked["about"], asked["host"], asked["rule"], asked["actions"]) == ("reboot", "web1", "", [])
        [waits] = (await made.http.get("/api/v1/inbox")).json()["decisions"]
        assert (waits["risk"], [one["verb"] for one in waits["answers"]]) == ("high", ["approve", "refuse"])
        assert waits["why"].startswith("Run r1 waits for your approval. Reboot web1 now")
        edit = {"decision": "edit", "actions": []}
        refused = await made.http.post(f"/api/v1/approvals/{ASKED.approval}", json=edit)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "decision")
        taken = await made.http.post(f"/api/v1/approvals/{ASKED.approval}", json={"decision": "approve"})
        assert (taken.status_code, taken.json()["people"]) == (202, 1)


async def test_while_the_host_is_away_the_page_says_since_when_and_until_when(tmp_path):
    async with house(tmp_path) as made:
        made.append("r1", *UNTIL_IT_ASKS, YES, ANNOUNCED)
        page = (await made.http.get("/runs/r1")).text
        assert "Rebooting web1; waiting for it until 14:22 UTC." in page
        assert 'since <span class="num" data-since="' in page
        assert "Approve reboot" not in page
        assert (await made.http.get("/api/v1/approvals")).json()["approvals"] == []


async def test_the_end_page_and_the_report_say_what_holds_after_the_reboot(tmp_path):
    async with house(tmp_path) as made:
        made.append("r1", *UNTIL_IT_ASKS, *TO_THE_END)
        page = (await made.http.get("/runs/r1")).text
        assert "web1 rebooted in 41 s; 2 logins work. After the reboot the fix still holds. " in page
        report = (await made.http.get("/api/v1/runs/r1/report.html")).text
        assert "<p>After the reboot the fix still holds.</p>" in report
        assert "and holds after the reboot" in report
