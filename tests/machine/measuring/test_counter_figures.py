from dataclasses import replace

import pytest

from app.engines.engine_metrics import EngineSample
from app.machine.measuring.counter_figures import measure_acceptance, measure_kv_capacity, note_foreign_tokens
from app.machine.measuring.probe_figures import FigureOrigin

BEFORE = EngineSample(0, 0, 0.0, 100, 1000, drafts=50, draft_tokens=100, accepted_tokens=40, kv_tokens=10432)
AFTER = replace(BEFORE, generation_tokens=1900, drafts=450, draft_tokens=900, accepted_tokens=540)


def values(before, after):
    return [one.value for one in measure_acceptance(before, after, FigureOrigin())]


def test_acceptance_is_of_what_was_drafted_in_between():
    length, rate = measure_acceptance(BEFORE, AFTER, FigureOrigin())
    assert (length.value, rate.value) == (pytest.approx(1 + 500 / 400), pytest.approx(100 * 500 / 800))
    assert length.source == "1 + accepted ÷ steps: 500 of 800 tokens accepted in 400 steps, on plain English"


def test_nothing_drafted_no_metrics_or_a_restart_is_unknown():
    silent = replace(BEFORE, drafts=None, draft_tokens=None, accepted_tokens=None)
    restarted = replace(AFTER, drafts=10, draft_tokens=20, accepted_tokens=9)
    for before, after in ((BEFORE, BEFORE), (silent, silent), (None, AFTER), (BEFORE, restarted)):
        assert values(before, after) == [None, None]
    assert measure_acceptance(None, None, FigureOrigin())[0].source == "its metrics do not say"


def test_the_kv_cache_is_as_large_as_the_engine_says():
    assert measure_kv_capacity(AFTER, FigureOrigin()).value == 10432
    assert measure_kv_capacity(replace(AFTER, kv_tokens=None), FigureOrigin()).value is None


def test_tokens_for_somebody_else_are_counted():
    assert note_foreign_tokens(BEFORE, AFTER, 890) == ()
    assert "It generated 400 tokens for somebody else" in note_foreign_tokens(BEFORE, AFTER, 500)[0]
    assert note_foreign_tokens(None, AFTER, 500) == ()
