"""A trial of a score on a machine that boots: its judge speaks by the console, and leaves nothing of its own."""

import asyncio
import shlex
from contextlib import closing

import pytest

from app.loop.harm_seen_by_probes import find_first_harm
from app.scores.machine_second_check import QUESTIONS, find_whether_in_effect, observe_effects
from app.scores.vendor_fixes_on_vm import FixesOnMachine, MachineJudge, run_fixes_and_reboot
from app.targets.host_registry import open_target
from tests.machines.conftest import ask_root
from tests.machines.test_boot import register_machine_in

pytestmark = [pytest.mark.machines, pytest.mark.timeout(1800)]
PROFILE = "anssi_bp28_minimal"
SKILL = "scap:ssg-debian12:anssi_bp28_enhanced"

WATCHED = ("-w /etc/group -p wa -k deed", "-a always,exit -F arch=b64 -S rmdir -F auid>=1000 -F auid!=unset -k deed")


def list_in_effect(seen):
    return {rule for rule in QUESTIONS[SKILL] if find_whether_in_effect(SKILL, rule, seen)}


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
        assert (found.seen["second"], found.seen["package libpam-pwquality"]) == ("0", "installed")
        failing = {rule.partition("content_rule_")[2] for rule, verdict in found.after.items() if verdict == "fail"}
        assert len(failing & QUESTIONS[SKILL].keys()) > 5
        assert not failing & list_in_effect(found.seen)
        assert find_first_harm(health, target.check_health()) is None


def test_what_the_audit_records_is_in_effect_and_nothing_else(machine):
    machine.reset()
    before = list_in_effect(asyncio.run(observe_effects(machine)))
    ask_root(machine, "; ".join(f"auditctl {shlex.join(rule.split())}" for rule in WATCHED))
    now = list_in_effect(asyncio.run(observe_effects(machine)))
    assert now - before == {"audit_rules_usergroup_modification_group", "audit_rules_file_deletion_events_rmdir"}
