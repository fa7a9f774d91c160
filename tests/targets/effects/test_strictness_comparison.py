import pytest

from app.targets.effects.strictness_comparison import (
    Strength,
    compare_allowed_sets,
    compare_caps,
    compare_durations,
    compare_higher,
    compare_lower,
    compare_masks,
    compare_modes,
    compare_unranked,
    create_number_comparison,
    create_ranked_comparison,
)


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
    assert create_ranked_comparison("yes", "no")(was, now) is order


def test_a_number_that_is_none_compares_with_nothing():
    compare = create_number_comparison(lambda value: float(value) if value.isdigit() else None)
    assert compare("2", "5") is Strength.STRONGER
    assert compare("5", "2") is Strength.WEAKER
    assert compare("05", "5") is Strength.EQUAL
    assert compare("5", "five") is Strength.INCOMPARABLE


def test_a_part_of_what_was_offered_is_stricter():
    assert compare_allowed_sets(["a", "b"], ["b"]) is Strength.STRONGER
    assert compare_allowed_sets(["b"], ["b", "a"]) is Strength.WEAKER
    assert compare_allowed_sets(["a", "b"], ["b", "c"]) is Strength.INCOMPARABLE
    assert compare_allowed_sets(["a", "b"], ["b", "a"]) is Strength.EQUAL


def test_what_nobody_ranked_may_only_stay():
    assert compare_unranked("a", "a") is Strength.EQUAL
    assert compare_unranked("a", "b") is Strength.INCOMPARABLE


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
