"""Given turns and power: GPU-seconds and joules per role, and nothing counted twice."""

import math

from hypothesis import given
from hypothesis import strategies as st

from app.events.event_field_types import Spent
from app.machine.sampling.gpu_energy import PowerCurve
from app.machine.sampling.role_energy import (
    TurnSpan,
    extrapolate_joules_if_enough_sampled,
    merge_role_energy,
    share_energy_among_roles,
)

A, B, C = ("", 0), ("", 1), ("node7", 0)


def steady(watts, seconds=100):
    made = PowerCurve()
    for at in range(seconds + 1):
        made.add(float(at), watts)
    return made


LINES = {A: steady(60.0), B: steady(40.0), C: steady(30.0)}


def reckoned(*turns, since=0.0, until=100.0, run="r", lines=None):
    found = share_energy_among_roles(run, turns, LINES if lines is None else lines, [A, B, C], since, until)
    return {one.role: one for one in found}


def test_a_turn_takes_its_gpus_for_as_long_as_it_lasts():
    found = reckoned(
        TurnSpan("r", "architect", (A, B), 10, 30, tokens=500), TurnSpan("r", "sentry", (C,), 40, 45, tokens=9)
    )
    assert found["architect"] == Spent(
        role="architect", gpu_seconds=40.0, sampled_seconds=40.0, joules=2000.0, tokens=500
    )
    assert (found["sentry"].gpu_seconds, found["sentry"].joules) == (5.0, 150.0)
    assert (found[""].gpu_seconds, found[""].joules) == (255.0, 60 * 80 + 40 * 80 + 30 * 95)
    assert "worker" not in found


def test_turns_of_two_runs_share_a_gpu_evenly_and_each_run_counts_its_own():
    turns = TurnSpan("r", "worker", (A,), 0, 20), TurnSpan("other", "architect", (A,), 10, 30)
    mine, theirs = reckoned(*turns), reckoned(*turns, run="other")
    assert (mine["worker"].gpu_seconds, theirs["architect"].gpu_seconds) == (15.0, 15.0)
    assert mine["worker"].joules == 900.0
    assert mine[""].gpu_seconds == 100 - 30 + 200


def test_only_what_lies_in_the_window_counts_and_tokens_where_the_turn_ends():
    turn = TurnSpan("r", "worker", (A,), 40, 60, tokens=10)
    first, second = reckoned(turn, until=50.0), reckoned(turn, since=50.0)
    assert (first["worker"].gpu_seconds, first["worker"].tokens) == (10.0, 0)
    assert (second["worker"].gpu_seconds, second["worker"].tokens) == (10.0, 10)
    whole = {one.role: one for one in merge_role_energy(tuple(first.values()), tuple(second.values()))}
    assert whole == reckoned(turn)


def test_joules_are_known_only_where_enough_was_sampled():
    found = reckoned(TurnSpan("r", "worker", (A,), 0, 100), lines={A: steady(60.0, 95)})
    assert extrapolate_joules_if_enough_sampled(found["worker"]) == 6000.0
    found = reckoned(TurnSpan("r", "worker", (A,), 0, 100), lines={A: steady(60.0, 80)})
    assert extrapolate_joules_if_enough_sampled(found["worker"]) is None
    assert reckoned(TurnSpan("r", "worker", (A,), 0, 50), lines={})["worker"].gpu_seconds == 50.0


TURN = st.builds(
    lambda run, role, gpus, start, length: TurnSpan(run, role, tuple(gpus), start, start + length),
    st.sampled_from(["r", "s"]),
    st.sampled_from(["architect", "worker", "auditor", "sentry"]),
    st.sets(st.sampled_from([A, B, C]), min_size=1).map(sorted),
    st.floats(-20, 110),
    st.floats(0, 80),
)


@given(st.lists(TURN, max_size=8))
def test_two_runs_and_the_idle_time_make_up_all_the_time_and_all_the_energy(turns):
    mine, theirs = reckoned(*turns), reckoned(*turns, run="s")
    idle = mine.pop("", Spent(role="", gpu_seconds=0, sampled_seconds=0, joules=0))
    theirs.pop("", None)
    for field, whole in (("gpu_seconds", 300.0), ("joules", 13_000.0)):
        parts = sum(getattr(one, field) for one in (*mine.values(), *theirs.values(), idle))
        assert math.isclose(parts, whole, abs_tol=0.05)
