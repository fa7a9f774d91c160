"""A finding that somebody answers for is left alone, and counted apart; from its day on it is worked on again."""

import pytest

from app.events.event_field_types import Budget, Probe, Published, PublishedRule
from app.events.hosts_of_waiver_or_site_value import HostScope
from app.events.kinds import (
    ActionApplying,
    ActionRolledBack,
    AttemptFailed,
    AttemptStarted,
    ItemSkipped,
    ItemStarted,
    RunPaused,
    RunQueued,
    RunResumed,
    RunStarted,
    ScanProgressed,
)
from app.events.record import build_recorded_event
from app.events.waiver_in_force import Waiver
from app.loop.decide import decide_next_effect
from app.loop.effects import CloseItem, Halt, StartItem
from app.loop.harm_seen_by_probes import find_first_harm
from app.loop.state import find_active_waiver, fold_events
from app.skills.benchmark_for_skill import match_waivers_to_skill
from tests.evidence.logs import BEGAN, chain, scoped, started, verdicts
from tests.loop.playing import pack, rule

SKILL = pack([rule("A"), rule("B")])
WORDS = {"A": "fail", "B": "fail"}
DAY = 24 * 3600.0


def waiver(rule="A", until="2026-12-24", **more):
    given = {"owner": "Ops lead", "reason": "why", "ticket": "", "since": "2026-09-01T00:00:00.000Z"}
    return Waiver(**{**given, "id": "w1", "rule": rule, "scope": HostScope(), "until": until, **more})


def begun(*waivers, mode="auto"):
    queued = RunQueued(host="h", skill="test", rules=("A", "B"), mode=mode, budget=Budget(), lineup="l", simulated=True)
    return [queued, started(waivers=waivers), *verdicts("opening", WORDS), scoped(WORDS)]


@pytest.mark.parametrize("mode", ["auto", "review", "dry-run", "scan"])
def test_it_is_closed_at_once_and_says_for_whose_sake(mode):
    events = begun(waiver(), mode=mode)
    effect = decide_next_effect(fold_events(chain(events)), SKILL, BEGAN)
    assert effect == CloseItem("A", "skipped", waiver().summary, "w1")
    state = fold_events(chain([*events, ItemSkipped(rule="A", reason=effect.reason, waiver="w1")]))
    assert (state.items["A"].status, state.items["B"].status) == ("waived", "waiting")


def test_an_item_that_waits_has_neither_begun_nor_ended():
    item = fold_events(chain(begun())).items["B"]
    assert (item.status, item.started, item.ended, item.reason, item.failures) == ("waiting", 0.0, 0.0, "", ())


def test_from_the_first_second_of_its_day_it_is_taken_up():
    state = fold_events(chain(begun(waiver(until="2026-09-22"))))
    midnight = BEGAN - BEGAN % DAY + DAY
    assert isinstance(decide_next_effect(state, SKILL, midnight - 1), CloseItem)
    assert decide_next_effect(state, SKILL, midnight) == StartItem("A")


def test_of_two_the_one_that_holds_longer_counts():
    state = fold_events(chain(begun(waiver(id="w1"), waiver(id="w2", until="2027-01-01"))))
    assert find_active_waiver(state, "A", BEGAN).id == "w2"
    assert find_active_waiver(state, "B", BEGAN) is None


def test_a_log_from_before_waivers_has_none():
    (line,) = [one for one in chain(begun()) if isinstance(one.event, RunStarted)]
    assert line.event.waivers == ()


def test_a_v_number_is_found_whatever_the_content_calls_its_rule():
    named = PublishedRule(rule="B", group="V-7", id="SV-7r1_rule")
    published = Published(file="f", sha256="", id="x", title="x", version="1", release="", rules=(named,))
    given = (waiver("A"), waiver("V-7"), waiver("V-8"))
    assert [one.rule for one in match_waivers_to_skill(given, SKILL, published)] == ["A", "B"]
    assert [one.rule for one in match_waivers_to_skill(given, SKILL, None)] == ["A"]


def test_a_denial_that_a_rollback_leaves_in_the_records_is_no_harm_that_stayed():
    """It happened since the boot, and nothing takes that back; another one later is harm again."""
    at = {"rule": "A", "attempt": 1}
    sshd, probe = ("denied sshd: read on file etc_t",), Probe("selinux-denials", True, "SELinux denied")
    seen = Probe("selinux-denials", False, "new: denied sshd", weak=sshd)
    undone = {"journal": "j", "paths": (), "differences": (), "seconds": 1.0}
    before = [*begun()[:1], started(probes=(probe,)), *begun()[2:], ItemStarted(rule="A", title="", category="II")]
    tried = [*before, AttemptStarted(**at, lessons=()), ActionApplying(**at, journal="j")]
    assert find_first_harm(fold_events(chain(tried)).baseline_probes, (seen,)) == f"selinux-denials: {seen.detail}"
    failed = AttemptFailed(**at, cause="alarm", reason="denied")
    state = fold_events(chain([*tried, failed, ActionRolledBack(**at, **undone, probes=(seen,))]))
    assert find_first_harm(state.baseline_probes, (seen,)) is None
    assert not isinstance(decide_next_effect(state, SKILL, BEGAN), Halt)
    later = Probe("selinux-denials", True, "SELinux denied", weak=(*sshd, "denied cron: read on file shadow_t"))
    assert "denied cron" in find_first_harm(state.baseline_probes, (later,))


def test_a_run_that_is_paused_over_a_crash_is_idle_from_its_pause_to_its_resumption():
    events = [
        (0.0, begun()[0]),
        (10.0, started()),
        (100.0, RunPaused(by="ada")),
        (150.0, ScanProgressed(phase="opening", judged=1, rules=2)),
        (200.0, RunResumed(by="w", after_crash=True)),
        (260.0, RunResumed(by="ada")),
    ]
    state = fold_events(build_recorded_event("r", seq, at, event, "x") for seq, (at, event) in enumerate(events, 1))
    assert (state.started_at, state.idle_since) == (10.0 + 160.0, None)
