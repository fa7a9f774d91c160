import pytest

from app.targets.effects.order import Order
from app.targets.effects.scales import cap, lasting, less, mask, mode, more


@pytest.mark.parametrize(
    ("scale", "was", "now", "order"),
    [
        (more, "8", "15", Order.STRONGER),
        (less, "5", "9", Order.WEAKER),
        (cap, "3", "0", Order.WEAKER),
        (cap, "-1", "60", Order.STRONGER),
        (lasting, "900", "0", Order.STRONGER),
        (lasting, "0", "900", Order.WEAKER),
        (mask, "022", "077", Order.STRONGER),
        (mask, "027", "072", Order.INCOMPARABLE),
        (mode, "0700", "0750", Order.WEAKER),
        (more, "x", "15", Order.INCOMPARABLE),
    ],
)
def test_a_scale_knows_the_stricter(scale, was, now, order):
    assert scale(was, now) is order
