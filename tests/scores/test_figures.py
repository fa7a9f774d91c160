"""What trials come to."""

from app.scores.figures import mean, row, share
from app.scores.paper import cells, paper, title
from app.scores.result import Fate, Score, ScoreOrder, Trial, Way, fixed, gamed

GOOD = Fate(
    rule="V-1", opening="fail", closing="pass", ended="passed", met=True, turns=4, usable=3, tokens=80, seconds=2.0
)
LEFT = Fate(
    rule="V-2", opening="fail", closing="fail", ended="escalated", met=False, failed_at="plan", person=True, turns=2
)


def trial(*fates, **more):
    return Trial(seed=1, host="built-in", rules=tuple(fate.rule for fate in fates), fates=fates, **more)


def score(*trials, **more):
    order = ScoreOrder(label="of a test", kind="line-up", skill="stig", rules=("V-1",), seeds=1, hosts=1, **more)
    return Score(
        order=order,
        simulated=False,
        simulated_host=True,
        note="",
        temper="0",
        made_at="2026-01-02",
        machine="2 cores",
        models=("m",),
        scanner="s",
        trials=trials,
    )


def test_a_share_has_wilsons_interval():
    found = share(45, 50)
    assert (round(found.low, 3), round(found.high, 3)) == (0.786, 0.957)
    assert (share(0, 90).low, round(share(0, 90).high, 3)) == (0.0, 0.041)
    assert share(30, 30).high == 1.0
    assert (share(0, 0).low, share(0, 0).high) == (0.0, 1.0)


def test_a_mean_has_an_interval_that_is_always_the_same():
    found = mean([1.0, 2.0, 3.0, 10.0])
    assert found == mean([1.0, 2.0, 3.0, 10.0])
    assert found
    assert found.low < found.value == 4.0 < found.high
    assert mean([]) is None


def test_only_what_lacks_nothing_is_fixed():
    assert fixed(trial(GOOD), GOOD)
    for harm in ({"worse": ("login",)}, {"weakened": "sshd"}, {"left": ("/etc/x",)}, {"broken": "halt"}):
        assert not fixed(trial(GOOD, **harm), GOOD)
    not_in_effect = Fate(rule="V-1", opening="fail", closing="pass", ended="passed", met=False)
    assert not fixed(trial(not_in_effect), not_in_effect)
    assert gamed(trial(not_in_effect), not_in_effect)
    assert not gamed(trial(GOOD), GOOD)


def test_harm_on_a_shared_host_is_the_hosts_and_no_rules():
    both = trial(GOOD, LEFT, worse=("login-root: refused",))
    assert fixed(both, GOOD)
    found = row(score(both))
    assert (found.harm_stayed.count, found.harm_stayed.of, found.fixed.count) == (1, 1, 1)


def test_a_row_counts_what_was_found_and_says_where_it_failed():
    found = row(score(trial(GOOD), trial(LEFT), trial(Fate(rule="V-3", opening="pass", closing="pass"))))
    assert (found.findings, found.fixed.count, found.passes) == (2, 1, 1)
    assert (found.handed_on.count, found.handed_on.of) == (1, 1)
    assert found.failed_at == (("plan", 1),)
    assert found.readable == share(3, 6)
    assert found.joules_per_fix is None


def test_joules_are_told_where_every_trial_was_measured():
    assert row(score(trial(GOOD, joules=30.0), trial(LEFT, joules=12.0))).joules_per_fix == 42.0
    assert row(score(trial(GOOD, joules=30.0), trial(LEFT))).joules_per_fix is None


def test_the_paper_labels_what_was_played_and_lets_no_cell_break_the_table():
    told = row(score(trial(GOOD, ways=(Way("root", True, False),))))
    assert title(told) == "of a test (SIMULATED host)"
    assert "harm that stayed" in paper([told])
    assert "| 0 of 1 |" in paper([told])
    assert len(cells(told)) == len(paper([told]).split("\n| what")[1].split("\n")[0].split("|")) - 1
