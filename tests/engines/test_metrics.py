"""vLLM's Prometheus text: the names that count, summed over engines, and what is not there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.metrics import EngineSample, parse, rate

ONE = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="org/a } b"} 2.0
vllm:num_requests_waiting{engine="0",model_name="org/a } b"} 1.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 7.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:prompt_tokens_total{engine="0",model_name="m"} 1.5e+03
vllm:prompt_tokens_created{engine="0",model_name="m"} 1.7952125152735844e+09
vllm:prompt_tokens_cached_total{engine="0",model_name="m"} 99.0
vllm:generation_tokens_total{engine="0",model_name="m"} 380.0
vllm:generation_tokens_created{engine="0",model_name="m"} 1.7952125152735844e+09
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} 4.0
"""


def test_one_engine():
    assert parse(ONE) == EngineSample(running=2, waiting=1, kv_used=0.25, prompt_tokens=1500, generation_tokens=380)


def test_data_parallel_engines_are_added_and_their_pools_averaged():
    second = ONE.replace('engine="0"', 'engine="1"').replace(" 0.25", " 0.75")
    assert parse(ONE + second) == EngineSample(
        running=4, waiting=2, kv_used=0.5, prompt_tokens=3000, generation_tokens=760
    )


def test_what_is_not_reported_is_none():
    assert parse("") == EngineSample(None, None, None, None, None)
    assert parse("<html>not metrics</html>\nvllm:num_requests_running{} NaN\n").running is None
    assert parse("vllm:num_requests_running lots\nvllm:kv_cache_usage_perc 0.5 1795212515\n").kv_used == 0.5


def test_a_rate_is_growth_over_time():
    assert rate(100, 130, 2.0) == 15.0


def test_a_counter_that_fell_started_anew():
    assert rate(1000, 30, 2.0) == 15.0


@pytest.mark.parametrize(
    ("previous", "current", "seconds"), [(None, 3, 1.0), (3, None, 1.0), (3, 4, 0.0), (3, 4, -1.0)]
)
def test_an_unknown_rate_is_none(previous, current, seconds):
    assert rate(previous, current, seconds) is None


@given(st.text(max_size=200))
def test_no_text_makes_it_fall(text):
    parse(text + "\nvllm:" + text)
