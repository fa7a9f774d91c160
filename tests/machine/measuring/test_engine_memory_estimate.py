"""Each real engine of a line-up is reckoned; one that cannot be is left out, not in the way."""

from dataclasses import replace

from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.measuring.engine_memory_estimate import estimate_real_gpu_engines

PLAYED = read_lineup(require_lineup_path("simulated"))


def test_real_engines_are_reckoned_and_an_unknown_model_is_left_out(tmp_path):
    engines = {name: replace(engine, simulation=None) for name, engine in PLAYED.engines.items()}
    engines["gemma-e2b"] = replace(engines["gemma-e2b"], model=str(tmp_path / "none"))
    found = estimate_real_gpu_engines(replace(PLAYED, engines=engines))
    assert list(found) == ["gemma-31b", "gemma-e4b"]
    assert 14 < found["gemma-31b"].weights_gib_per_gpu.value < 19


def test_simulated_engines_need_no_plan():
    assert estimate_real_gpu_engines(PLAYED) == {}
