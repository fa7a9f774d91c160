import pytest

from app.text.pluralized_counts import count_things


@pytest.mark.parametrize(("count", "said"), [(0, "0 rules"), (1, "1 rule"), (2, "2 rules")])
def test_one_is_not_many(count, said):
    assert count_things(count, "rule") == said
