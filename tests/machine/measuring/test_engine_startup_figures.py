"""A cold start as its log told it, as figures."""

from dataclasses import replace

import pytest

from app.engines.cold_start_progress import ColdStart, ColdStartStep
from app.machine.measuring.engine_startup_figures import EngineLoad

COLD = ColdStart(
    0.0,
    (
        ColdStartStep("engine starts", 9.0, None),
        ColdStartStep("weights loaded", 60.0, 16.3),
        ColdStartStep("KV cache laid out", 75.0, 10432.0),
    ),
)


def test_each_phase_takes_what_lies_between_it_and_the_one_before():
    found = {one.name: one.value for one in EngineLoad(COLD, 180.0, {0: 0.4, 1: 0.3}).list_figures()}
    assert found == pytest.approx(
        {
            "load_s": 180.0,
            "load_s.engine starts": 9.0,
            "load_s.weights loaded": 51.0,
            "load_s.KV cache laid out": 15.0,
            "idle_gib.0": 0.4,
            "idle_gib.1": 0.3,
            "weights_gib_per_gpu": 16.3,
            "kv_tokens": 10432.0,
        }
    )


def test_a_load_whose_end_nobody_watched_ends_where_its_log_says_so():
    assert "load_s" not in {one.name for one in EngineLoad(COLD).list_figures()}
    up = replace(COLD, steps=(*COLD.steps, ColdStartStep("server up", 170.0, None)))
    assert next(EngineLoad(up).list_figures()).value == 170.0
