"""Hosts by rules, packed, sorted and filtered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.pages.fleet.grid import (
    DIGITS,
    LETTERS,
    FleetLine,
    FleetQuery,
    count_cells,
    filter_and_sort_lines,
    find_rule_index_of_each_column,
    order_column_indexes_by_trouble,
    pack_letters_in_pairs,
    reorder_letters,
)

LINES = [
    FleetLine("web10", "ppo", state="finished"),
    FleetLine("web2", "ppp", state="finished"),
    FleetLine("db1", "oap", state="finished"),
    FleetLine("db2", "sop", state="running"),
    FleetLine("mail", "...", alarm="the run failed"),
]


@given(st.text(alphabet=LETTERS, max_size=300))
def test_what_is_packed_is_unpacked_by_the_page(letters):
    digits = pack_letters_in_pairs(letters)
    unpacked = "".join(LETTERS[DIGITS.index(one) >> 3] + LETTERS[DIGITS.index(one) & 7] for one in digits)
    assert unpacked.removesuffix("." * (len(letters) % 2)) == letters
    assert len(digits) == -(-len(letters) // 2)


def test_each_column_has_the_letter_of_its_rule_wherever_it_stood():
    assert reorder_letters("po", find_rule_index_of_each_column(("V-2", "V-1"), ["V-1", "V-2", "V-3"])) == "op."
    assert reorder_letters("", find_rule_index_of_each_column((), ["V-1", "V-2"])) == ".."


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("alarm", ["mail", "db2", "db1", "web10", "web2"]),
        ("name", ["db1", "db2", "mail", "web2", "web10"]),
        ("open", ["db1", "db2", "web10", "mail", "web2"]),
        ("passed", ["web2", "web10", "db1", "db2", "mail"]),
    ],
)
def test_sorted_as_the_address_says(sort, first):
    assert [line.host for line in filter_and_sort_lines(LINES, FleetQuery(sort=sort), {})] == first


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        ({"show": "alarm"}, {"mail"}),
        ({"show": "work"}, {"db2"}),
        ({"show": "person"}, {"db1"}),
        ({"show": "slipped"}, {"db2"}),
        ({"show": "open"}, {"web10", "db1", "db2"}),
        ({"q": "web"}, {"web10", "web2"}),
        ({"q": "*1"}, {"db1"}),
        ({"q": "front"}, {"web2", "mail"}),
        ({"q": "nothing"}, set()),
    ],
)
def test_filtered_as_the_address_says(words, hosts):
    assert {
        line.host for line in filter_and_sort_lines(LINES, FleetQuery(**words), {"front": ("web2", "mail")})
    } == hosts


def test_totals_and_the_rule_that_is_open_on_most_hosts():
    assert count_cells(LINES)["p"] == 7
    assert order_column_indexes_by_trouble(LINES, ["A", "B", "C"]) == [0, 1, 2]
    assert order_column_indexes_by_trouble(LINES[:1], ["A", "B", "C"])[0] == 2
