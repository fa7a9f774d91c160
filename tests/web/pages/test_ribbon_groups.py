"""A ribbon of many findings, by part of the system."""

import pytest

from app.loop.state import Item
from app.skills.catalog import load_skill
from app.web.pages.mission.findings_by_part import MOST_CELLS, find_part_of_rule, list_parts_if_many_items
from tests.loop.playing import rule

STIG = load_skill("stig").rules


@pytest.mark.parametrize(("wanted", "part"), [("V-257984", "SSH"), ("V-258227", "Audit"), (None, "Other")])
def test_a_rule_belongs_to_the_part_that_its_files_name(wanted, part):
    assert find_part_of_rule(STIG[wanted] if wanted else None) == part


def test_a_few_findings_have_a_cell_each():
    assert list_parts_if_many_items([Item(f"R{number}") for number in range(MOST_CELLS)], {}) == ()


def test_many_are_grouped_and_none_is_lost():
    rules = {f"R{number}": rule(f"R{number}") for number in range(40)} | STIG
    items = [Item(name, "passed" if name in STIG else "waiting") for name in rules]
    parts = list_parts_if_many_items(items, rules)
    assert sorted(item.rule for part in parts for item in part.items) == sorted(rules)
    assert sum(part.done for part in parts) == len(STIG)
    assert next(part for part in parts if part.name == "SSH").columns > 0
