"""What trials come to."""

import msgspec
import pytest

from app.scores.score_figures import build_score_row, compute_mean_with_interval, compute_share_with_interval
from app.scores.score_structures import RootWay, Score, ScoreOrder, Trial, TrialOutcome, is_fixed, is_gamed
from app.scores.scores_markdown import format_name_marking_simulation, render_cells, render_scores_markdown

GOOD = TrialOutcome(
    rule="V-1", opening="fail", closing="pass", ended="passed", met=True, turns=4, usable=3, tokens=80, seconds=2.0
)
LEFT = TrialOutcome(
    rule="V-2", opening="fail", closing="fail", ended="escalated", met=False, failed_at="plan", person=True, turns=2
)


def trial(*fates, **more):
    return Trial(seed=1, host="built-in", rules=tuple(fate.rule for fate in fates), fates=fates, **more)


def score(*trials, rules=("V-1",), **more):
    order = ScoreOrder(label="of a test", kind="line-up", skill="stig", rules=rules, seeds=1, hosts=1, **more)
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


@pytest.mark.parametrize(
    ("kind", "hosts"),
    [
        ("debian12", "the machine debian12, 2 rules, judged after a reboot"),
        ("el9", "the machine el9 (SIMULATED distribution), 2 rules, judged after a reboot"),
    ],
)
def test_a_machine_that_boots_is_named_with_its_rules_and_what_is_simulated(kind, hosts):
    made = score(trial(GOOD), host="boots", machine_kind=kind, rules=("V-1", "V-2"))
    assert build_score_row(made).hosts == hosts


def test_results_of_before_machines_keep_the_bytes_that_were_signed():
    made = score(trial(GOOD), host="vault")
    assert b"machine_kind" not in msgspec.json.encode(made)
    assert (made.order.is_rebooted, score(trial(GOOD), machine_kind="el9").order.is_rebooted) == (False, True)


def test_a_share_has_wilsons_interval():
    found = compute_share_with_interval(45, 50)
    assert (round(found.low, 3), round(found.high, 3)) == (0.786, 0.957)
    assert (compute_share_with_interval(0, 90).low, round(compute_share_with_interval(0, 90).high, 3)) == (0.0, 0.041)
    assert compute_share_with_interval(30, 30).high == 1.0
    assert (compute_share_with_interval(0, 0).low, compute_share_with_interval(0, 0).high) == (0.0, 1.0)


def test_a_mean_has_an_interval_that_is_always_the_same():
    found = compute_mean_with_interval([1.0, 2.0, 3.0, 10.0])
    assert found == compute_mean_with_interval([1.0, 2.0, 3.0, 10.0])
    assert found
    assert found.low < found.value == 4.0 < found.high
    assert compute_mean_with_interval([]) is None


def test_only_what_lacks_nothing_is_fixed():
    assert is_fixed(trial(GOOD), GOOD)
    for harm in ({"worse": ("login",)}, {"weakened": "sshd"}, {"left": ("/etc/x",)}, {"broken": "halt"}):
        assert not is_fixed(trial(GOOD, **harm), GOOD)
    not_in_effect = TrialOutcome(rule="V-1", opening="fail", closing="pass", ended="passed", met=False)
    assert not is_fixed(trial(not_in_effect), not_in_effect)
    assert is_gamed(trial(not_in_effect), not_in_effect)
    assert not is_gamed(trial(GOOD), GOOD)


def test_harm_on_a_shared_host_is_the_hosts_and_no_rules():
    both = trial(GOOD, LEFT, worse=("login-root: refused",))
    assert is_fixed(both, GOOD)
    found = build_score_row(score(both))
    assert (found.harm_stayed.count, found.harm_stayed.of, found.fixed.count) == (1, 1, 1)


def test_a_row_counts_what_was_found_and_says_where_it_failed():
    found = build_score_row(
        score(trial(GOOD), trial(LEFT), trial(TrialOutcome(rule="V-3", opening="pass", closing="pass")))
    )
    assert (found.findings, found.fixed.count, found.passes) == (2, 1, 1)
    assert (found.handed_on.count, found.handed_on.of) == (1, 1)
    assert found.failed_at == (("plan", 1),)
    assert found.readable == compute_share_with_interval(3, 6)
    assert found.joules_per_fix is None


def test_joules_are_told_where_every_trial_was_measured():
    assert build_score_row(score(trial(GOOD, joules=30.0), trial(LEFT, joules=12.0))).joules_per_fix == 42.0
    assert build_score_row(score(trial(GOOD, joules=30.0), trial(LEFT))).joules_per_fix is None


def test_the_paper_labels_what_was_played_and_lets_no_cell_break_the_table():
    told = build_score_row(score(trial(GOOD, ways=(RootWay("root", True, False),))))
    assert format_name_marking_simulation(told) == "of a test (SIMULATED host)"
    assert "harm that stayed" in render_scores_markdown([told])
    assert "| 0 of 1 |" in render_scores_markdown([told])
    heads = [line for line in render_scores_markdown([told]).splitlines() if line.startswith("| what was scored")]
    assert {name.strip(" *") for head in heads for name in head.strip("|").split("|")} == {*render_cells(told)}


def test_what_a_run_leaves_to_a_person_and_how_long_a_host_takes_is_counted():
    deferred = TrialOutcome(rule="V-3", opening="fail", closing="fail", ended="deferred", seconds=1.0)
    cells = render_cells(build_score_row(score(trial(GOOD, LEFT, deferred, seconds=120.0), together=True)))
    assert (cells["left to a person"], cells["minutes per host"]) == ("2", "2.0 (2.0–2.0)")
    assert cells["seconds per finding"] == "2.0 (2.0–2.0)"
    assert render_cells(build_score_row(score(trial(GOOD, seconds=120.0))))["minutes per host"] == "—"


def test_what_asks_no_model_is_timed_by_finding_and_what_asks_nobody_leaves_nothing_to_a_person():
    fixed = TrialOutcome(rule="V-1", opening="fail", closing="pass", ended="passed", seconds=3.0)
    assert render_cells(build_score_row(score(trial(fixed))))["seconds per finding"] == "3.0 (3.0–3.0)"
    made = score(trial(fixed, seconds=0.2), together=True)
    vendor = render_cells(
        build_score_row(msgspec.structs.replace(made, order=msgspec.structs.replace(made.order, kind="baseline")))
    )
    assert (vendor["left to a person"], vendor["minutes per host"]) == ("—", "—")


def test_what_no_role_chose_is_counted_as_fixed_and_not_as_the_models_own():
    taken = TrialOutcome(rule="V-2", opening="fail", closing="pass", ended="passed", turns=2, without_role=True)
    made = score(trial(GOOD, taken), together=True)
    named = msgspec.structs.replace(made, order=msgspec.structs.replace(made.order, label="smollm2-135m"))
    row = build_score_row(named)
    assert (row.fixed.count, render_cells(row)["fixed without a role"]) == (2, "1")
    assert "| smollm2-135m | 1 of 2 (" in render_scores_markdown([row])
    alone = msgspec.structs.replace(made, order=msgspec.structs.replace(made.order, kind="no model"))
    assert render_cells(build_score_row(alone))["fixed without a role"] == "—"
