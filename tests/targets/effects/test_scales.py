import pytest

from app.targets.effects.scales import cap, lasting, less, mask, mode, more
from app.targets.effects.strength import Strength


@pytest.mark.parametrize(
    ("scale", "was", "now", "order"),
    [
        (more, "8", "15", Strength.STRONGER),
        (less, "5", "9", Strength.WEAKER),
        (cap, "3", "0", Strength.WEAKER),
        (cap, "-1", "60", Strength.STRONGER),
        (lasting, "900", "0", Strength.STRONGER),
        (lasting, "0", "900", Strength.WEAKER),
        (mask, "022", "077", Strength.STRONGER),
        (mask, "027", "072", Strength.INCOMPARABLE),
        (mode, "0700", "0750", Strength.WEAKER),
        (more, "x", "15", Strength.INCOMPARABLE),
    ],
)
def test_a_scale_knows_the_stricter(scale, was, now, order):
    assert scale(was, now) is order
