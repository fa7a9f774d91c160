import pytest

from app.errors import BadInput
from app.targets import no_rollback_consent


@pytest.mark.parametrize("said", ["", "I accept that web1 cannot be rolled back"])
def test_the_words_or_none(said):
    no_rollback_consent.check_consent_if_given("web1", said)


@pytest.mark.parametrize(
    "said", ["yes", "I accept that web2 cannot be rolled back", "i accept that web1 cannot be rolled back", " "]
)
def test_other_words_are_answered_with_the_right_ones(said):
    with pytest.raises(BadInput, match='give "I accept that web1 cannot be rolled back"'):
        no_rollback_consent.check_consent_if_given("web1", said)
