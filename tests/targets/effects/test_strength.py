import pytest

from app.targets.effects.strength import Strength, equal_or_not, fewer, measured, ranked


@pytest.mark.parametrize(
    ("was", "now", "order"),
    [
        ("yes", "no", Strength.STRONGER),
        ("no", "yes", Strength.WEAKER),
        ("no", "no", Strength.EQUAL),
        ("no", "perhaps", Strength.INCOMPARABLE),
        ("perhaps", "perhaps", Strength.EQUAL),
    ],
)
def test_words_have_a_rank_and_unknown_words_have_none(was, now, order):
    assert ranked("yes", "no")(was, now) is order


def test_a_number_that_is_none_compares_with_nothing():
    compare = measured(lambda value: float(value) if value.isdigit() else None)
    assert compare("2", "5") is Strength.STRONGER
    assert compare("5", "2") is Strength.WEAKER
    assert compare("05", "5") is Strength.EQUAL
    assert compare("5", "five") is Strength.INCOMPARABLE


def test_a_part_of_what_was_offered_is_stricter():
    assert fewer(["a", "b"], ["b"]) is Strength.STRONGER
    assert fewer(["b"], ["b", "a"]) is Strength.WEAKER
    assert fewer(["a", "b"], ["b", "c"]) is Strength.INCOMPARABLE
    assert fewer(["a", "b"], ["b", "a"]) is Strength.EQUAL


def test_what_nobody_ranked_may_only_stay():
    assert equal_or_not("a", "a") is Strength.EQUAL
    assert equal_or_not("a", "b") is Strength.INCOMPARABLE
