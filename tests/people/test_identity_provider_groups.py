"""Which right a group gives."""

import pytest

from app.errors import BadInput
from app.people.identity_provider_groups import GroupRights, parse_group_right_pairs, parse_groups_or_none_if_malformed


def test_a_mapping_is_read_from_words():
    assert parse_group_right_pairs(["cn=stig,dc=example=admin", "ops=operator"]) == (
        ("cn=stig,dc=example", "admin"),
        ("ops", "operator"),
    )
    for wrong in ("ops", "=admin", "ops=root", "ops=", f"{'x' * 257}=admin"):
        with pytest.raises(BadInput, match="--oidc-group takes GROUP=RIGHT"):
            parse_group_right_pairs([wrong])


def test_of_several_the_highest_counts_in_any_order():
    rights = GroupRights("groups", (("a", "admin"), ("b", "viewer"), ("c", "operator"), ("b", "operator")))
    assert [rights.find_right(groups) for groups in (("b",), ("c", "a"), ("x",), ())] == [
        "operator",
        "admin",
        None,
        None,
    ]


def test_a_claim_with_dots_in_its_name_goes_before_one_inside_another():
    claims = {"https://x.example/groups": ["one"], "a": {"b": ["two"]}, "a.b": ["three"]}
    assert parse_groups_or_none_if_malformed(claims, "https://x.example/groups") == ("one",)
    assert parse_groups_or_none_if_malformed(claims, "a.b") == ("three",)
    assert parse_groups_or_none_if_malformed({"a": {"b": ["two"]}}, "a.b") == ("two",)
