import pytest

from app.targets.effects.scales import (
    compare_caps,
    compare_durations,
    compare_higher,
    compare_lower,
    compare_masks,
    compare_modes,
)
from app.targets.effects.strength import Strength


@pytest.mark.parametrize(
    ("scale", "was", "now", "order"),
    [
        (compare_higher, "8", "15", Strength.STRONGER),
        (compare_lower, "5", "9", Strength.WEAKER),
        (compare_caps, "3", "0", Strength.WEAKER),
        (compare_caps, "-1", "60", Strength.STRONGER),
        (compare_durations, "900", "0", Strength.STRONGER),
        (compare_durations, "0", "900", Strength.WEAKER),
        (compare_masks, "022", "077", Strength.STRONGER),
        (compare_masks, "027", "072", Strength.INCOMPARABLE),
        (compare_modes, "0700", "0750", Strength.WEAKER),
        (compare_higher, "x", "15", Strength.INCOMPARABLE),
    ],
)
def test_a_scale_knows_the_stricter(scale, was, now, order):
    assert scale(was, now) is order
