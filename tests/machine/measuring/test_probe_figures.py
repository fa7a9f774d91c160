"""Given these answers, these figures."""

from dataclasses import replace

import pytest

from app.engines.engine_metrics import EngineSample
from app.engines.fit.estimate_result import Estimate
from app.machine.measuring.probe_figures import (
    FigureOrigin,
    Measured,
    TimedReply,
    compute_memory_beside_weights_and_kv,
    compute_speed_limit_share,
    compute_step_figures,
    describe_foreign_tokens,
    keep_one_per_name_preferring_known,
    measure_acceptance,
    measure_kv_capacity,
)
from app.machine.measuring.probe_load_steps import ProbeStep

REAL = FigureOrigin()
LIMIT = Estimate(20.0, "derived", "300 ÷ 15")


def answer(left=0.0, ended=10.0, *, tokens=128, ttft=0.5, rate=15.0, asked=128):
    return TimedReply(asked, tokens, 300, ttft, rate, left, ended)


def figures(step, answers, origin=REAL):
    return {one.name: one for one in compute_step_figures(step, answers, origin)}


def test_one_stream_is_its_own_rate_and_wait():
    found = figures(ProbeStep(1, 128), [answer()])
    assert {name: one.value for name, one in found.items()} == {
        "1x128.tok_s": 15.0,
        "1x128.ttft_s": 0.5,
        "1x128.all_tok_s": 12.8,
    }
    assert {one.provenance for one in found.values()} == {"measured"}


def test_streams_together_count_from_the_first_request_to_the_last_answer():
    answers = [answer(0.0, 10.0, rate=10.0, ttft=0.2), answer(1.0, 16.0, rate=12.0, ttft=0.6)]
    found = figures(ProbeStep(2, 128), answers)
    assert found["2x128.all_tok_s"].value == 256 / 16.0
    assert found["2x128.tok_s"].value == 11.0
    assert found["2x128.ttft_s"].value == pytest.approx(0.4)


def test_an_answer_that_ended_early_is_told():
    assert "1 ended early, at 37 tokens" in figures(ProbeStep(1, 128), [answer(tokens=37)])["1x128.tok_s"].source


def test_what_was_not_asked_or_not_counted_is_unknown_and_says_why():
    found = figures(ProbeStep(8, 256, "it takes 4 requests at a time"), [])
    assert [(one.value, one.source) for one in found.values()] == [(None, "it takes 4 requests at a time")] * 3
    silent = figures(ProbeStep(1, 128), [answer(ttft=None, rate=None)])
    assert (silent["1x128.tok_s"].value, silent["1x128.tok_s"].provenance) == (None, "unsupported")


def test_a_simulated_pace_is_brought_back_to_one():
    found = figures(ProbeStep(1, 128), [answer(rate=45.0, ttft=0.1)], FigureOrigin(simulated=True, pace=3.0))
    assert found["1x128.tok_s"].value == 15.0
    assert found["1x128.ttft_s"].value == pytest.approx(0.3)
    assert {one.provenance for one in found.values()} == {"simulated"}
    assert "×3" in found["1x128.tok_s"].source


def test_a_simulator_without_a_pace_has_no_speed():
    found = figures(ProbeStep(1, 128), [answer()], FigureOrigin(simulated=True, pace=0.0))
    assert {one.value for one in found.values()} == {None}


def speed(value, *more):
    return [Measured("1x512.tok_s", value, "tok/s", "measured", ""), *more]


def test_the_share_of_the_limit_shows_its_arithmetic():
    share = compute_speed_limit_share(speed(15.0), LIMIT)
    assert (share.value, share.provenance, share.source) == (75.0, "derived", "15.0 ÷ (20.0 tok/s)")
    accepted = Measured("acceptance_length", 2.0, "", "measured", "")
    assert compute_speed_limit_share(speed(30.0, accepted), LIMIT).value == 75.0
    assert compute_speed_limit_share(speed(15.0), None).value is None
    assert "1 stream of 512 tokens" in compute_speed_limit_share([], LIMIT).source


def test_other_memory_is_what_nothing_else_accounts_for():
    names = {"vram_gib_per_gpu": 21.9, "weights_gib_per_gpu": 16.3, "kv_pool_gib_per_gpu": 2.39}
    figures = [Measured(name, value, "GiB", "measured", "") for name, value in names.items()]
    assert compute_memory_beside_weights_and_kv(figures).value is None
    idle = [Measured(f"idle_gib.{gpu}", value, "GiB", "measured", "") for gpu, value in ((0, 0.3), (1, 0.5))]
    found = compute_memory_beside_weights_and_kv([*figures, *idle])
    assert found.value == pytest.approx(2.71)
    assert (found.provenance, found.source[:12]) == ("derived", "21.90 in all")


def test_of_two_figures_with_one_name_the_first_that_is_known_counts():
    silent = Measured("kv_tokens", None, "tokens", "unsupported", "")
    metrics, log = (Measured("kv_tokens", value, "tokens", "measured", "") for value in (10.0, 20.0))
    assert keep_one_per_name_preferring_known([metrics, log]) == [metrics]
    assert keep_one_per_name_preferring_known([silent, log]) == [log]


BEFORE = EngineSample(0, 0, 0.0, 100, 1000, drafts=50, draft_tokens=100, accepted_tokens=40, kv_tokens=10432)
AFTER = replace(BEFORE, generation_tokens=1900, drafts=450, draft_tokens=900, accepted_tokens=540)


def accepted(before, after):
    return [one.value for one in measure_acceptance(before, after, FigureOrigin())]


def test_acceptance_is_of_what_was_drafted_in_between():
    length, rate = measure_acceptance(BEFORE, AFTER, FigureOrigin())
    assert (length.value, rate.value) == (pytest.approx(1 + 500 / 400), pytest.approx(100 * 500 / 800))
    assert length.source == "1 + accepted ÷ steps: 500 of 800 tokens accepted in 400 steps, on plain English"


def test_nothing_drafted_no_metrics_or_a_restart_is_unknown():
    silent = replace(BEFORE, drafts=None, draft_tokens=None, accepted_tokens=None)
    restarted = replace(AFTER, drafts=10, draft_tokens=20, accepted_tokens=9)
    for before, after in ((BEFORE, BEFORE), (silent, silent), (None, AFTER), (BEFORE, restarted)):
        assert accepted(before, after) == [None, None]
    assert measure_acceptance(None, None, FigureOrigin())[0].source == "its metrics do not say"


def test_the_kv_cache_is_as_large_as_the_engine_says():
    assert measure_kv_capacity(AFTER, FigureOrigin()).value == 10432
    assert measure_kv_capacity(replace(AFTER, kv_tokens=None), FigureOrigin()).value is None


def test_tokens_for_somebody_else_are_counted():
    assert describe_foreign_tokens(BEFORE, AFTER, 890) == ()
    assert "It generated 400 tokens for somebody else" in describe_foreign_tokens(BEFORE, AFTER, 500)[0]
    assert describe_foreign_tokens(None, AFTER, 500) == ()
