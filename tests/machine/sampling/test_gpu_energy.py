"""Given samples of power and an energy counter: what was drawn between two times."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.events.record import MACHINE, build_recorded_event
from app.machine.sampling.gpu_energy import GAP, EnergyDrawn, PowerCurve, build_power_curves
from tests.machine.samples import gpu_sample


def line(samples, counter=None):
    made, counter = PowerCurve(), counter or {}
    for at, watts in samples:
        made.add(at, watts, (at, counter[at]) if at in counter else None)
    return made


STEADY = [(float(at), 50.0) for at in range(61)]


def test_steady_power_times_time():
    assert line(STEADY).compute_joules_drawn_and_seconds_covered(10.0, 20.5) == EnergyDrawn(525.0, 10.5)


def test_between_two_samples_power_goes_straight_from_one_to_the_other():
    assert line([(0, 0), (10, 100)]).compute_joules_drawn_and_seconds_covered(0, 5) == EnergyDrawn(125.0, 5.0)


def test_time_without_samples_is_not_covered():
    holed = line([(0, 50), (10, 50), (11 + GAP, 50), (21 + GAP, 50)])
    assert holed.compute_joules_drawn_and_seconds_covered(-5, 100) == EnergyDrawn(1000.0, 20.0)
    assert holed.compute_joules_drawn_and_seconds_covered(0, 12) == EnergyDrawn(500.0, 10.0)
    assert line([]).compute_joules_drawn_and_seconds_covered(0, 10) == EnergyDrawn(0, 0)


def test_a_sensor_that_falls_silent_leaves_a_hole():
    assert line([(0, 50), (10, None), (20, None), (30, 50)]).compute_joules_drawn_and_seconds_covered(
        0, 30
    ) == EnergyDrawn(0.0, 0.0)


def test_the_counter_corrects_what_the_samples_only_shape():
    counted = line(STEADY, {0.0: 1000.0, 10.0: 1600.0, 20.0: 2200.0})
    assert counted.compute_joules_drawn_and_seconds_covered(0, 20) == EnergyDrawn(1200.0, 20.0)
    joules, seconds = counted.compute_joules_drawn_and_seconds_covered(5, 7)
    assert (round(joules, 6), seconds) == (120.0, 2.0)
    assert round(counted.compute_joules_drawn_and_seconds_covered(15, 25).joules, 6) == 300.0 + 250.0


@pytest.mark.parametrize("then", [0.0, 1000.0, 9000.0])
def test_a_counter_that_was_reset_or_makes_no_sense_is_left_out(then):
    assert line(STEADY, {0.0: 1000.0, 10.0: then}).compute_joules_drawn_and_seconds_covered(0, 10) == EnergyDrawn(
        500.0, 10.0
    )


@given(
    st.lists(st.tuples(st.floats(0.1, 20), st.floats(0, 700)), min_size=2, max_size=30),
    st.lists(st.floats(0, 100), min_size=3, max_size=3),
)
def test_pieces_of_time_add_up_to_the_whole(steps, cuts):
    made, at = PowerCurve(), 0.0
    joules = 0.0
    for number, (gone, watts) in enumerate(steps):
        at += gone
        joules += gone * watts
        made.add(at, watts, (at, joules) if number % 4 == 0 else None)
    low, middle, high = sorted(cuts)
    parts = made.compute_joules_drawn_and_seconds_covered(low, middle) + made.compute_joules_drawn_and_seconds_covered(
        middle, high
    )
    whole = made.compute_joules_drawn_and_seconds_covered(low, high)
    assert math.isclose(parts.joules, whole.joules, abs_tol=1e-6)
    assert math.isclose(parts.seconds, whole.seconds, abs_tol=1e-6)


def test_a_counter_kept_between_reads_counts_as_read_when_it_was():
    def sample(at, energy, age):
        event = gpu_sample(1, power_w=50.0, host="node7", energy_j=energy, ages={"energy_j": age} if age else {})
        return build_recorded_event(MACHINE, 1, at, event, "")

    steps = [(float(at), 600.0 * (at // 10), float(at % 10)) for at in range(31)]
    lines = build_power_curves([sample(*step) for step in steps])
    assert list(lines) == [("node7", 1)]
    assert round(lines["node7", 1].compute_joules_drawn_and_seconds_covered(10, 20).joules, 6) == 600.0
