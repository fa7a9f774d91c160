from app.events.kinds import ForceAsked, ItemPassed, RunStarted, VerdictGiven
from app.events.words import Behind, Probe
from app.loop.force import after_reboot, told
from app.loop.state import RunState
from app.loop.telling import telling
from app.store.before import Left, left
from app.targets.running import InForce
from tests.evidence.logs import chain

LATE = Behind(program="sysctl", setting="kernel.x", wanted="1", running="0", by="a reboot")
WELL, ILL = Probe("agent-login", True, "fine"), Probe("agent-login", False, "refused")


def state(words, probes=(WELL,)):
    opening = {
        rule: VerdictGiven(rule=rule, phase="opening", word=word, evidence="", scanner="s")
        for rule, word in words.items()
    }
    return RunState(opening=opening, started=RunStarted(worker="", confinement="", scanner="", probes=probes))


def test_a_host_on_which_nothing_runs_is_not_asked():
    assert told(InForce()) == []
    assert told(InForce(boot="b"), "V-1", 1) == []
    assert told(InForce(boot="b"))[0].boot == "b"


def test_what_a_reboot_changed_is_told_by_rule():
    was = Left("r1", "b1", (WELL,), frozenset({"V-1", "V-2"}), frozenset({"V-2", "V-3", "V-4"}), (("V-2", LATE),))
    found = after_reboot(state({"V-1": "fail", "V-2": "pass", "V-3": "pass", "V-4": "fail"}), was, InForce("b2"))
    assert (found.rebooted, found.slipped, found.arrived, found.waiting) == (True, ("V-1",), ("V-2", "V-3"), ())
    said = telling(found).text
    assert "began anew since run r1. hold now that did not before: V-2, V-3. no longer hold: V-1" in said


def test_what_still_waits_for_a_reboot_is_told_as_waiting():
    was = Left("r1", "b1", (WELL,), frozenset({"V-2"}), frozenset({"V-2"}), (("V-2", LATE),))
    found = after_reboot(state({"V-2": "pass"}, (ILL,)), was, InForce("b1", ("sysctl",), (LATE,)))
    assert (found.rebooted, found.waiting, found.arrived) == (False, ("V-2",), ())
    assert found.worse == "agent-login: refused"
    assert "has not begun anew" in telling(found).text
    assert "kernel.x is 0, 1 wanted: a reboot" in telling(found).text


def test_without_an_earlier_run_there_is_nothing_to_compare():
    found = after_reboot(state({"V-1": "fail"}), Left(), InForce("b2"))
    assert (found.of, found.rebooted, found.slipped, found.worse) == ("", False, (), "")
    assert "no earlier run" in telling(found).text


def test_how_the_last_run_left_a_host_is_read_off_its_log():
    def verdict(rule, word, phase):
        return VerdictGiven(rule=rule, phase=phase, word=word, evidence="", scanner="s")

    events = chain(
        [
            RunStarted(worker="", confinement="", scanner="", probes=(WELL,)),
            ForceAsked(boot="b1", asked=("sshd",)),
            verdict("V-1", "fail", "opening"),
            ForceAsked(rule="V-1", attempt=1, boot="b1", asked=("sysctl",)),
            ForceAsked(rule="V-1", attempt=2, boot="b1", asked=("sysctl",), behind=(LATE,)),
            ForceAsked(rule="V-9", attempt=1, boot="b1", asked=("sysctl",), behind=(LATE,)),
            ItemPassed(rule="V-1", attempts=2),
            verdict("V-1", "pass", "closing"),
        ]
    )
    found = left("r1", events)
    assert found == Left("r1", "b1", (WELL,), frozenset({"V-1"}), frozenset({"V-1"}), (("V-1", LATE),))
