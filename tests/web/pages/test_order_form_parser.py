import pytest

from app.errors import Rejected
from app.runs.rollout.rollout_request import RolloutTerms
from app.web.pages.order_form_parser import parse_terms_form


def test_a_field_that_is_left_empty_has_its_usual_value():
    assert parse_terms_form({"at_once": "", "harmed": " 0 "}) == RolloutTerms(harmed=0)


@pytest.mark.parametrize("field", ["at_once", "harmed"])
@pytest.mark.parametrize("typed", ["1.9", "0.5", "-0.1"])
def test_a_number_of_hosts_is_a_whole_one(field, typed):
    with pytest.raises(Rejected, match=f"'{typed}' is not a whole number") as refused:
        parse_terms_form({field: typed})
    assert refused.value.field == field
    assert parse_terms_form({"escalated": "12.5"}).escalated == 12.5
