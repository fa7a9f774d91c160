import pytest

from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_result import ProbeResult, find_saturation


def probed(**together):
    figures = (Measured(f"{key[1:]}.all_tok_s", value, "tok/s", "measured", "") for key, value in together.items())
    return ProbeResult("a", 0.0, "l", "big", 0, simulated=False, gpus=(), conditions={}, figures=tuple(figures))


@pytest.mark.parametrize(
    ("found", "most"),
    [
        (probed(_1x256=112, _4x256=380, _8x256=597), None),
        (probed(_1x256=9, _4x256=20, _8x256=21), 4),
        (probed(_1x256=9, _4x256=9.5, _8x256=9.6), 1),
        (probed(_1x256=9, _4x256=None, _8x256=9.6), 1),
        (probed(), None),
    ],
)
def test_more_streams_than_gain_a_tenth_are_too_many(found, most):
    assert find_saturation(found) == most
