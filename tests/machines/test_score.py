"""A trial of a score on a machine that boots: its judge speaks by the console, and leaves nothing of its own."""

from contextlib import closing

import pytest

from app.loop.harm_seen_by_probes import find_first_harm
from app.scores.vendor_fixes_on_vm import FixesOnMachine, MachineJudge, run_fixes_and_reboot
from app.targets.host_registry import open_target
from tests.machines.test_boot import register_machine_in

pytestmark = [pytest.mark.machines, pytest.mark.timeout(1800)]
PROFILE = "anssi_bp28_minimal"


def test_doing_nothing_gives_the_same_verdicts_after_a_reboot_and_harms_nothing(machine, tmp_path):
    machine.reset()
    content = machine.base_image_folder / machine.get_current_image_of_kind().content
    with closing(open_target(machine.name, register_machine_in(tmp_path / "hosts", machine))) as target:
        target.prepare()
        health = target.check_health()
        found = run_fixes_and_reboot(
            machine, FixesOnMachine("nothing", content.name, PROFILE, ()), MachineJudge(content, PROFILE)
        )
        assert found.before == found.after
        assert {"pass", "fail"} <= set(found.after.values())
        assert (found.seen["second"], found.seen["pwquality"]) == ("0", "installed")
        assert find_first_harm(health, target.check_health()) is None
