from dataclasses import replace

from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.measuring.engine_memory_estimate import plan_engine
from app.machine.measuring.planned_and_measured_figures import compare_probe_results

LINEUP = read_lineup(require_lineup_path("simulated"))
ENGINE = LINEUP.engines["gemma-31b"]


def test_the_plan_gives_its_verdict_and_its_limit_with_the_arithmetic():
    side = compare_probe_results(ENGINE, 0, plan_engine(LINEUP, ENGINE), None, None)
    assert side.fits is not None
    assert side.verdict
    assert "300 GB/s" in side.limit.source
    assert side.gpus == (0, 1)


def test_a_model_of_unknown_shape_says_so_and_keeps_the_line_ups_own_limit():
    engine = replace(ENGINE, model="org/unheard-of")
    side = compare_probe_results(engine, 0, plan_engine(LINEUP, engine), None, None)
    assert side.fits is None
    assert "org/unheard-of" in side.verdict
    assert side.limit.value == 19.1
