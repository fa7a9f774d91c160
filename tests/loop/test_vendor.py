"""The content's own script, from the last attempt to a refusal: on a host that is a tree of files it is never run."""

import asyncio
from dataclasses import replace

from app.events.event_field_types import Budget
from app.events.kinds import ActionApplying, ActionProposed, ActionRefused, ApprovalRequested, ItemEscalated, PlanMade
from app.resources.vendor_script import create_vendor_action
from app.skills.stig.pack import STIG
from tests.loop.onfixture import SCANNER, OnFixture

RULE = "V-257985"
SKILL = replace(STIG, rules={**STIG.rules, RULE: replace(STIG.rules[RULE], remedy=True)})


class Content:
    """The built-in checks, and content that has a script, or another one each time."""

    name = SCANNER.name
    scan = SCANNER.scan
    scan_rehearsal_if_supported = SCANNER.scan_rehearsal_if_supported

    def __init__(self, *scripts):
        self._scripts = [*scripts]

    async def fetch_fix_script(self, _rule):
        return self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]


async def went(folder, *scripts):
    here = OnFixture(folder, skill=SKILL, scanner=Content(*scripts))
    async with asyncio.TaskGroup() as group:
        group.create_task(here.run(RULE, mode="review", budget=Budget(attempts=1)))
        await here.kept.until(ApprovalRequested, count=1)
        asked = here.events(ApprovalRequested)[0]
        here.person.says("refuse", approval=asked.approval, reason="no")
    return here


async def test_it_is_proposed_whole_by_nobodys_hand_and_refused_where_it_cannot_be_seen_on_a_copy(tmp_path):
    here = await went(tmp_path / "host", "chmod 600 /etc/x\n")
    proposed = here.events(ActionProposed)[-1]
    assert proposed.actions == (create_vendor_action(SKILL.rules[RULE].stig_id, "chmod 600 /etc/x\n"),)
    assert here.events(PlanMade)[-1].approach.startswith("The vendor's script")
    assert "a tree of files" in here.events(ActionRefused)[-1].reason
    assert "the last resort, did not pass either" in here.events(ItemEscalated)[0].reason
    assert here.events(ActionApplying) == []


async def test_a_script_that_is_not_the_contents_own_any_more_is_refused(tmp_path):
    here = await went(tmp_path / "host", "chmod 600 /etc/x\n", "chmod 666 /etc/x\n")
    assert "not the script that OpenSCAP makes" in here.events(ActionRefused)[-1].reason
    assert here.events(ActionApplying) == []
