from app.events.event_field_types import PendingSetting, Probe
from app.events.kinds import InForceChecked, ItemEscalated, ItemPassed, RunStarted, VerdictGiven
from app.loop.running_settings_check import build_in_force_events, compare_rules_with_last_run_after_reboot
from app.loop.state import RunState
from app.store.prior_knowledge import PreviousState, build_end_state
from app.targets.running_settings_report import InForceReport
from tests.evidence.logs import chain

LATE = PendingSetting(program="sysctl", setting="kernel.x", wanted="1", running="0", by="a reboot")
WELL, ILL = Probe("agent-login", True, "fine"), Probe("agent-login", False, "refused")


def state(words, probes=(WELL,)):
    opening = {
        rule: VerdictGiven(rule=rule, phase="opening", word=word, evidence="", scanner="s")
        for rule, word in words.items()
    }
    return RunState(opening=opening, started=RunStarted(worker="", confinement="", scanner="", probes=probes))


def test_a_host_on_which_nothing_runs_is_not_asked():
    assert build_in_force_events(InForceReport()) == []
    assert build_in_force_events(InForceReport(boot="b"), "V-1", 1) == []
    assert build_in_force_events(InForceReport(boot="b"))[0].boot == "b"


def test_what_a_reboot_changed_is_told_by_rule():
    was = PreviousState(
        "r1", "b1", (WELL,), frozenset({"V-1", "V-2"}), frozenset({"V-2", "V-3", "V-4"}), (("V-2", LATE),)
    )
    found = compare_rules_with_last_run_after_reboot(
        state({"V-1": "fail", "V-2": "pass", "V-3": "pass", "V-4": "fail"}), was, InForceReport("b2")
    )
    assert (found.rebooted, found.slipped, found.arrived, found.waiting) == (True, ("V-1",), ("V-2", "V-3"), ())
    said = found.describe().text
    assert "rebooted since run r1. hold now that did not before: V-2, V-3. no longer hold: V-1" in said


def test_what_still_waits_for_a_reboot_is_told_as_waiting():
    was = PreviousState("r1", "b1", (WELL,), frozenset({"V-2"}), frozenset({"V-2"}), (("V-2", LATE),))
    found = compare_rules_with_last_run_after_reboot(
        state({"V-2": "pass"}, (ILL,)), was, InForceReport("b1", ("sysctl",), (LATE,))
    )
    assert (found.rebooted, found.waiting, found.arrived) == (False, ("V-2",), ())
    assert found.worse == "agent-login: refused"
    assert "has not rebooted" in found.describe().text
    assert "kernel.x is 0, 1 wanted: a reboot" in found.describe().text


def test_without_an_earlier_run_there_is_nothing_to_compare():
    found = compare_rules_with_last_run_after_reboot(state({"V-1": "fail"}), PreviousState(), InForceReport("b2"))
    assert (found.of, found.rebooted, found.slipped, found.worse) == ("", False, (), "")
    assert "no earlier run" in found.describe().text


def test_how_the_last_run_left_a_host_is_read_off_its_log():
    def verdict(rule, word, phase):
        return VerdictGiven(rule=rule, phase=phase, word=word, evidence="", scanner="s")

    events = chain(
        [
            RunStarted(worker="", confinement="", scanner="", probes=(WELL,)),
            InForceChecked(boot="b1", asked=("sshd",)),
            verdict("V-1", "fail", "opening"),
            InForceChecked(rule="V-1", attempt=1, boot="b1", asked=("sysctl",)),
            InForceChecked(rule="V-1", attempt=2, boot="b1", asked=("sysctl",), behind=(LATE,)),
            InForceChecked(rule="V-9", attempt=1, boot="b1", asked=("sysctl",), behind=(LATE,)),
            ItemPassed(rule="V-1", attempts=2),
            verdict("V-1", "pass", "closing"),
            verdict("V-9", "pass", "attempt"),
        ]
    )
    found = build_end_state("r1", events)
    assert found == PreviousState("r1", "b1", (WELL,), frozenset({"V-1"}), frozenset({"V-1"}), (("V-1", LATE),))


def test_what_a_reboot_undid_is_no_longer_what_the_run_passed():
    events = chain(
        [
            InForceChecked(boot="b1", asked=("sshd",)),
            ItemPassed(rule="V-1", attempts=1),
            ItemPassed(rule="V-2", attempts=1),
            InForceChecked(boot="b2", asked=("sshd",)),
            ItemEscalated(rule="V-2", reason="does not survive a reboot", reopened=True),
        ]
    )
    found = build_end_state("r1", events)
    assert (found.boot, found.passed) == ("b2", frozenset({"V-1"}))
