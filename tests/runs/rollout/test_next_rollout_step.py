"""A rollout as a transcript: given these hosts and how their runs stand, which step comes next."""

from collections import Counter

import pytest

from app.errors import Rejected
from app.events.event_field_types import Budget
from app.events.kinds import (
    RolloutHostBegun,
    RolloutHostLeft,
    RolloutOrdered,
    RolloutPaused,
    RolloutResumed,
    RolloutStopRequested,
    RolloutWaveEnded,
)
from app.events.record import GENESIS, build_recorded_event
from app.runs.rollout.next_rollout_step import BeginHost, CommandRuns, decide_next_step, describe_exceeded_pause_limit
from app.runs.rollout.rollout_request import parse_waves
from app.runs.rollout.rollout_state import RolloutState, fold_rollout
from app.store.models import RunRow

NOBODY = frozenset()


class Played:
    """A rollout over hosts h1, h2, … whose runs are rows that a test sets."""

    def __init__(self, hosts, *, at_once=2, sizes=None, harmed=1, escalated=100.0):
        self.state, self.runs, self.seq, self.told = RolloutState(), {}, 0, set()
        self.add(
            RolloutOrdered(
                hosts=tuple(f"h{number}" for number in range(1, hosts + 1)),
                words="h*",
                skill="stig",
                rules=("V-257985",),
                mode="auto",
                keep=False,
                budget=Budget(),
                lineup="simulated",
                simulated=True,
                pace=0,
                at_once=at_once,
                waves=sizes or (hosts,),
                harmed=harmed,
                escalated=escalated,
            )
        )

    def add(self, *events):
        for event in events:
            self.seq += 1
            self.state = fold_rollout(
                [build_recorded_event("o1", self.seq, float(self.seq), event, GENESIS)], self.state
            )

    def step(self, busy=NOBODY):
        return decide_next_step(self.state, self.runs, busy, self.told)

    def go(self, busy=NOBODY):
        """Take every step until it waits; the hosts that were begun."""
        begun = []
        while step := self.step(busy):
            match step:
                case BeginHost(host=host, wave=wave):
                    run = f"r-{host}"
                    self.add(RolloutHostBegun(host=host, of=run, wave=wave))
                    self.runs[run] = row(run, host)
                    begun.append(host)
                case CommandRuns(runs=runs):
                    self.told |= set(runs)
                case event:
                    self.add(event)
        return begun

    def ends(self, host, state="finished", **figures):
        run = self.runs[f"r-{host}"]
        run.state = state
        for name, value in ({"findings": 10, "passed": 10} | figures).items():
            setattr(run, name, value)


def row(run, host, state="running"):
    return RunRow(
        id=run, host=host, state=state, mode="auto", skill="stig", lineup="s", simulated=True, note="", queued_at=1.0
    )


def test_no_more_than_so_many_at_once_and_each_once():
    rollout, most = Played(7, at_once=3), 0
    seen = Counter(rollout.go())
    while rollout.state.status == "running":
        most = max(most, len(rollout.state.parts_at_work))
        rollout.ends(rollout.state.parts_at_work[0].host)
        seen.update(rollout.go())
    assert most == 3
    assert seen == Counter({f"h{number}": 1 for number in range(1, 8)})
    assert rollout.state.status == "finished"


def test_a_wave_begins_when_all_of_the_one_before_are_through():
    rollout = Played(6, at_once=4, sizes=(1, 2, 3))
    assert rollout.go() == ["h1"]
    rollout.ends("h1")
    assert rollout.go() == ["h2", "h3"]
    rollout.ends("h2")
    assert rollout.go() == []
    rollout.ends("h3")
    assert rollout.go() == ["h4", "h5", "h6"]


def test_each_wave_is_noted_once_when_its_last_host_is_through():
    rollout = Played(4, at_once=4, sizes=(1, 3))
    rollout.go()
    rollout.ends("h1", passed=7, escalated=3)
    rollout.add(rollout.step())
    assert rollout.step() == RolloutWaveEnded(wave=1, hosts=1, left=0, findings=10, passed=7, escalated=3, harmed=0)
    rollout.go()
    rollout.add(RolloutHostLeft(host="h2", reason="gone"))
    for host in ("h3", "h4"):
        rollout.ends(host)
    rollout.go()
    assert (rollout.state.waves_ended, rollout.state.status) == (2, "finished")


def test_a_host_on_which_somebody_is_at_work_waits_and_others_go_first():
    rollout = Played(3, at_once=1)
    assert rollout.go(busy={"h1"}) == ["h2"]
    rollout.ends("h2")
    assert rollout.go(busy={"h1", "h3"}) == []
    assert rollout.go() == ["h1"]


def test_harm_on_a_host_holds_all_and_a_person_says_whether_it_goes_on():
    rollout = Played(5, at_once=2, harmed=1)
    rollout.go()
    rollout.ends("h1", "failed", reason="the host is not healthy after the rollback", findings=0, passed=0)
    assert rollout.go() == []
    assert rollout.state.is_paused_by_rule
    assert rollout.state.reason == "1 host is harmed or could not be finished: h1"
    assert rollout.told == {"r-h2"}, "what is at work pauses, too"
    rollout.add(RolloutResumed(by="ada"))
    assert rollout.go() == ["h3"], "what the person saw counts no more"
    rollout.ends("h2", regressed=2)
    rollout.go()
    assert rollout.state.is_paused_by_rule
    assert rollout.state.reason == "1 host is harmed or could not be finished: h2"


def test_as_many_as_were_said_and_none_where_no_number_was():
    for harmed, asks in ((3, False), (2, True), (0, False)):
        rollout = Played(5, at_once=5, harmed=harmed)
        rollout.go()
        rollout.ends("h1", "failed")
        rollout.ends("h2", "failed")
        rollout.go()
        assert rollout.state.is_paused_by_rule is asks


def test_too_large_a_share_for_a_person_holds_it():
    rollout = Played(3, at_once=1, escalated=20)
    rollout.go()
    rollout.ends("h1", passed=8, escalated=2)
    assert rollout.go() == ["h2"], "a fifth is not more than a fifth"
    rollout.ends("h2", passed=7, escalated=3)
    rollout.go()
    assert rollout.state.reason == "5 of 20 findings were escalated, more than 20 %"


def test_paused_by_a_person_nothing_begins_and_each_run_is_asked_once():
    rollout = Played(4, at_once=2)
    rollout.go()
    rollout.add(RolloutPaused(by="ada"))
    rollout.runs["r-h2"].state = "queued"
    assert rollout.step() == CommandRuns("pause", ("r-h1",))
    rollout.go()
    assert rollout.step() is None
    rollout.runs["r-h2"].state = "running"
    assert rollout.step() == CommandRuns("pause", ("r-h2",)), "what began to run since"
    rollout.ends("h1")
    assert rollout.go() == []
    assert not rollout.state.is_paused_by_rule


def test_ended_by_a_person_its_runs_stop_and_then_it_is_stopped():
    rollout = Played(4, at_once=2)
    rollout.go()
    rollout.add(RolloutStopRequested(by="ada"))
    assert rollout.step() == CommandRuns("stop", ("r-h1", "r-h2"))
    rollout.go()
    rollout.ends("h1", "stopped")
    rollout.go()
    assert rollout.state.status == "stopping"
    rollout.ends("h2", "stopped")
    assert rollout.go() == []
    assert rollout.state.status == "stopped"


def test_a_host_that_could_not_be_begun_is_left_and_does_not_hold_the_rest():
    rollout = Played(2, at_once=1, sizes=(1, 1))
    rollout.add(RolloutHostLeft(host="h1", reason="there is no host 'h1'"))
    assert rollout.go() == ["h2"]
    assert describe_exceeded_pause_limit(rollout.state) == ""


def test_a_run_whose_first_event_is_not_there_yet_is_waited_for():
    rollout = Played(1)
    rollout.add(RolloutHostBegun(host="h1", of="r-h1", wave=1))
    assert rollout.step() is None


@pytest.mark.parametrize(
    ("words", "hosts", "sizes"),
    [
        ("1,10%,rest", 40, (1, 4, 35)),
        ("1,10%,rest", 1, (1,)),
        ("1,10%,rest", 2, (1, 1)),
        ("", 5, (5,)),
        ("2,2", 9, (2, 2, 5)),
        ("50%,50%", 3, (2, 1)),
        ("100", 3, (3,)),
    ],
)
def test_waves_are_all_hosts_together(words, hosts, sizes):
    assert parse_waves(words, hosts) == sizes


@pytest.mark.parametrize("words", ["0", "-1", "ten", "1.5", "1;2", ",".join("1" * 21)])
def test_what_is_no_wave_is_refused(words):
    with pytest.raises(Rejected) as said:
        parse_waves(words, 40)
    assert said.value.field == "waves"
