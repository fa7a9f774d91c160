import pytest

from app.lineups.model import Simulation


def simulation(**more):
    return Simulation(111.7, 1500, 5, 20.0, 15.0, 1000, "measured", **more)


def test_the_curve_goes_through_both_points_that_were_measured():
    measured = simulation(eight_tok_s=597)
    assert measured.compute_relative_speed(1) == 1.0
    assert 8 * measured.compute_relative_speed(8) * 111.7 == pytest.approx(597)
    together = [n * measured.compute_relative_speed(n) for n in range(1, 9)]
    assert together == sorted(together), "more together are never slower together"


def test_without_a_second_point_each_is_as_fast_as_alone():
    assert simulation().compute_relative_speed(8) == 1.0
