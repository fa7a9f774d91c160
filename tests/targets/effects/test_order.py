import pytest

from app.targets.effects.order import Order, equal_or_not, fewer, measured, ranked


@pytest.mark.parametrize(
    ("was", "now", "order"),
    [
        ("yes", "no", Order.STRONGER),
        ("no", "yes", Order.WEAKER),
        ("no", "no", Order.EQUAL),
        ("no", "perhaps", Order.INCOMPARABLE),
        ("perhaps", "perhaps", Order.EQUAL),
    ],
)
def test_words_have_a_rank_and_unknown_words_have_none(was, now, order):
    assert ranked("yes", "no")(was, now) is order


def test_a_number_that_is_none_compares_with_nothing():
    compare = measured(lambda value: float(value) if value.isdigit() else None)
    assert compare("2", "5") is Order.STRONGER
    assert compare("5", "2") is Order.WEAKER
    assert compare("05", "5") is Order.EQUAL
    assert compare("5", "five") is Order.INCOMPARABLE


def test_a_part_of_what_was_offered_is_stricter():
    assert fewer(["a", "b"], ["b"]) is Order.STRONGER
    assert fewer(["b"], ["b", "a"]) is Order.WEAKER
    assert fewer(["a", "b"], ["b", "c"]) is Order.INCOMPARABLE
    assert fewer(["a", "b"], ["b", "a"]) is Order.EQUAL


def test_what_nobody_ranked_may_only_stay():
    assert equal_or_not("a", "a") is Order.EQUAL
    assert equal_or_not("a", "b") is Order.INCOMPARABLE
