"""Killed at random moments, a run ends as the undisturbed one does. `python -m tests.crash` does it fifty times."""

import pytest

from tests.crash import run_to_its_end

RULES = "V-257985,V-257996,V-258074,V-258106,V-257981"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return run_to_its_end(tmp_path_factory.mktemp("calm"), 0, 0, rules=RULES)


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_and_started_again_it_ends_as_if_nothing_had_happened(undisturbed, tmp_path, seed):
    end = run_to_its_end(tmp_path, 4, seed, rules=RULES, speed=60, span=1.2)
    assert end.starts > 2
    assert end.outcomes == undisturbed.outcomes
    assert end.tree == undisturbed.tree == end.state.ended.tree
    assert end.pending == []
