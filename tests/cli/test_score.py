"""A row says what is particular about it."""

from app.cli.score import format_score_label
from app.events.vocabulary import Budget
from app.lineups.reader import find_lineup, read_lineup


def test_a_smaller_budget_is_in_the_name_of_the_row():
    lineup = read_lineup(find_lineup("cpu"))
    assert format_score_label(lineup, Budget()) == "cpu"
    assert format_score_label(lineup, Budget(attempts=1)) == "cpu, at most 1 attempt per rule"
    assert (
        format_score_label(lineup, Budget(attempts=2, item_seconds=132))
        == "cpu, at most 2 attempts and 2.2 min per rule"
    )
