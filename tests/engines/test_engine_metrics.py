"""vLLM's Prometheus text: the names that count, summed over engines, and what is not there."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.engine_metrics import EngineSample, compute_growth, compute_rate, parse_metrics

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


GOLDEN = Path(__file__).parent.parent / "data" / "metrics"
NOT_VLLM = "its metrics are neither vLLM's, llama.cpp's nor SGLang's: check metrics_urls"
REPORTED = {
    # file: prompt tokens, generated, KV cache in tokens, accepted of drafted
    "gpu-0.25.1-31b-bf16-idle.txt": (0, 0, 222_837, None),
    "gpu-0.25.1-31b-bf16.txt": (2690, 954, 222_837, None),
    "gpu-0.25.1-31b-nvfp4.txt": (2690, 954, 90_045, None),
    "gpu-0.25.1-e4b.txt": (2690, 954, 406_855, None),
    "cpu-0.32.0.txt": (31, 41, 66_052, None),
    "cpu-0.32.0-mtp.txt": (31, 41, 66_052, (0, 78)),
}


def test_one_engine():
    assert parse_metrics(ONE) == EngineSample(
        running=2, waiting=1, kv_used=0.25, prompt_tokens=1500, generation_tokens=380
    )


def test_data_parallel_engines_are_added_and_their_pools_averaged():
    second = ONE.replace('engine="0"', 'engine="1"').replace(" 0.25", " 0.75")
    assert parse_metrics(ONE + second) == EngineSample(
        running=4, waiting=2, kv_used=0.5, prompt_tokens=3000, generation_tokens=760
    )


def test_what_is_not_reported_is_none():
    assert parse_metrics("") == EngineSample(None, None, None, None, None, missing=NOT_VLLM)
    assert parse_metrics("<html>not metrics</html>\nvllm:num_requests_running{} NaN\n").running is None
    assert parse_metrics("vllm:num_requests_running lots\nvllm:kv_cache_usage_perc 0.5 1795212515\n").kv_used == 0.5


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1"])
def test_a_figure_of_sglang_that_is_no_count_is_not_taken(value):
    text = (
        f'sglang:num_running_reqs 1\nsglang:max_total_num_tokens {value}\nsglang:realtime_tokens_total{{mode="decode"}}'
    )
    sample = parse_metrics(f"{text} {value}\n")
    assert (sample.kv_tokens, sample.generation_tokens) == (None, 0)


def test_a_rate_is_growth_over_time():
    assert compute_rate(100, 130, 2.0) == 15.0


def test_a_counter_that_fell_started_anew():
    assert compute_rate(1000, 30, 2.0) == 15.0


@pytest.mark.parametrize(
    ("previous", "current", "seconds"), [(None, 3, 1.0), (3, None, 1.0), (3, 4, 0.0), (3, 4, -1.0)]
)
def test_an_unknown_rate_is_none(previous, current, seconds):
    assert compute_rate(previous, current, seconds) is None


@given(st.text(max_size=200))
def test_no_text_makes_it_fall(text):
    parse_metrics(text + "\nvllm:" + text)


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.txt")))
def test_what_real_engines_report(name):
    sample = parse_metrics((GOLDEN / name).read_text())
    prompt, generated, kv_tokens, accepted = REPORTED[name]
    assert (sample.prompt_tokens, sample.generation_tokens, sample.kv_tokens) == (prompt, generated, kv_tokens)
    assert (sample.accepted_tokens, sample.draft_tokens) == (accepted or (None, None))
    assert (sample.running, sample.waiting, sample.missing) == (0, 0, "")
    assert sample.started
    assert sample.prefix_hits == (2048 if prompt > 2048 else 0)


def test_the_cache_is_never_reckoned_from_its_blocks():
    """Layers of a hybrid model share blocks unevenly: 2,097,152 was reckoned where 332,222 were there."""
    assert parse_metrics('vllm:cache_config_info{block_size="16",num_gpu_blocks="131072"} 1.0\n').kv_tokens is None
    assert parse_metrics('vllm:cache_config_info{kv_cache_size_tokens="None"} 1.0\n').kv_tokens is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("go_gc_duration_seconds 1\n", NOT_VLLM),
        ("vllm:num_requests_running 0\nvllm:gpu_cache_usage_perc 0\n", "before 0.19: upgrade it"),
        ("vllm:num_requests_running 0\n", "--disable-log-stats"),
    ],
)
def test_what_should_be_there_and_is_not_is_said(text, sentence):
    assert sentence in parse_metrics(text).missing


def test_growth_over_a_restart_counts_from_zero():
    assert (compute_growth(10, 14), compute_growth(10, 4), compute_growth(None, 4)) == (4, 4, None)
