"""Plan, reported, now and before, as rows."""

from dataclasses import replace

import pytest

from app.engines.fit.estimate_result import Estimate
from app.lineups.model import Reported, Speculation
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.measuring.planned_and_measured_figures import (
    compare_figures,
    describe_changed_conditions,
    get_computed_or_stated_speed_limit,
)
from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_result import ProbeResult
from tests.machine.fits import fit

ENGINE = read_lineup(require_lineup_path("simulated")).engines["gemma-31b"]
REPORTED = Reported(source="two L4", tok_s=15.1, vram_gib_per_gpu=21.9)


def reckoned(value, provenance="derived"):
    return Estimate(value, provenance, f"arithmetic of {value}")


FIT = fit(
    reckoned,
    missing_gib_per_gpu=reckoned(0.0),
    weights_gib_per_gpu=reckoned(16.3),
    kv_pool_gib_per_gpu=reckoned(2.4),
    other_gib_per_gpu=reckoned(3.0, "estimated"),
    kv_tokens=reckoned(10432.0),
    max_concurrency=reckoned(3.58),
    largest_context=reckoned(8192.0),
    limit_tok_s=reckoned(20.0),
)


def probed(*figures, **changes):
    made = ProbeResult(
        "p", 1.0, "l", "gemma-31b", 0, simulated=False, gpus=("NVIDIA L4",), conditions={}, figures=figures
    )
    return replace(made, **changes)


def speed(value):
    return Measured("1x512.tok_s", value, "tok/s", "measured", "")


def row(name, *words):
    return {one.name: one for one in compare_figures(*words)}[name]


def test_four_columns_each_with_its_own_provenance():
    found = row("1x512.tok_s", replace(ENGINE, reported=REPORTED), FIT, probed(speed(15.0)), probed(speed(12.0)))
    values = [one.value for one in (found.plan, found.reported, found.now, found.before)]
    assert (values, found.ratio_to_previous_probe) == ([20.0, 15.1, 15.0, 12.0], 1.25)
    assert (found.plan.provenance, found.reported.source) == ("derived", "two L4")
    assert found.plan.source.startswith("at most: ")


def test_the_planned_memory_in_all_is_as_sure_as_its_least_sure_part():
    planned = row("vram_gib_per_gpu", ENGINE, FIT, None, None).plan
    assert planned.value == pytest.approx(21.7)
    assert planned.provenance == "estimated"
    assert "16.30 + 2.40 + 3.00" in planned.source


def test_a_planned_figure_has_the_unit_of_its_row():
    planned = [one for one in compare_figures(ENGINE, FIT, None, None) if one.plan]
    assert {one.name: one.plan.unit for one in planned} == {one.name: one.unit for one in planned}


def test_what_others_report_is_held_against_the_same_limit():
    share = row("limit_share", replace(ENGINE, reported=REPORTED), FIT, None, None).reported
    assert share.value == pytest.approx(75.5)
    assert share.source == "15.1 ÷ 20.0 tok/s"


def test_without_a_plan_the_line_ups_own_limit_stands():
    limit = get_computed_or_stated_speed_limit(ENGINE, None)
    assert (limit.value, limit.source[:8]) == (19.1, "300 GB/s")
    assert get_computed_or_stated_speed_limit(replace(ENGINE, limit_tok_s=None), None) is None


def test_rows_that_nobody_fills_are_left_out():
    assert {one.name for one in compare_figures(ENGINE, None, probed(speed(None)), None)} == {"1x512.tok_s"}
    assert compare_figures(replace(ENGINE, limit_tok_s=None), None, probed(speed(None)), None) == ()


def test_a_ratio_needs_both_and_no_zero():
    assert row("1x512.tok_s", ENGINE, None, probed(speed(15.0)), None).ratio_to_previous_probe is None
    assert row("1x512.tok_s", ENGINE, None, probed(speed(15.0)), probed(speed(0.0))).ratio_to_previous_probe is None


def test_assumed_acceptance_stands_beside_the_measured():
    engine = replace(ENGINE, speculation=Speculation(method="mtp", model="m", tokens=2, acceptance=1.8))
    measured = Measured("acceptance_length", 2.1, "", "measured", "")
    found = row("acceptance_length", engine, None, probed(measured), None)
    assert (found.plan.value, found.plan.provenance, found.now.value) == (1.8, "estimated", 2.1)


def test_phases_of_a_load_follow_it_in_their_order():
    phases = [Measured(f"load_s.{name}", 1.0, "s", "measured", "") for name in ("weights", "graphs")]
    names = [
        one.name
        for one in compare_figures(ENGINE, None, probed(Measured("load_s", 2.0, "s", "measured", ""), *phases), None)
    ]
    assert names[:3] == ["load_s", "load_s.weights", "load_s.graphs"]


def test_what_changed_since_is_named():
    before = probed(conditions={"vLLM": "0.25.1", "tp": "2"})
    now = probed(conditions={"vLLM": "0.26.0", "tp": "2", "KV dtype": "fp8"})
    assert describe_changed_conditions(now, before) == ("vLLM: 0.25.1 → 0.26.0", "KV dtype: — → fp8")
