"""Counts as Prometheus text: buckets add up, and the reader reads what was written."""

from app.engines.engine_metrics import parse_metrics
from app.engines.simulator.meters import EngineMeters, Histogram


def test_a_histogram_is_cumulative():
    histogram = Histogram((0.1, 1.0))
    for value in (0.05, 0.1, 0.5):
        histogram.observe(value)
    histogram.observe(3.0, times=2)
    assert list(histogram.render_lines("x", 'engine="0"')) == [
        'x_bucket{engine="0",le="0.1"} 2.0',
        'x_bucket{engine="0",le="1.0"} 3.0',
        'x_bucket{engine="0",le="+Inf"} 5.0',
        'x_count{engine="0"} 5.0',
        'x_sum{engine="0"} 6.65',
    ]


def test_what_is_written_is_read():
    meters = EngineMeters(prompt_tokens=11, generation_tokens=60)
    meters.finished["length"] += 1
    text = meters.render_text("org/m", running=2, kv_used_share=0.25, kv_tokens=14664)
    sample = parse_metrics(text)
    assert (sample.running, sample.waiting, sample.kv_used, sample.kv_tokens) == (2, 0, 0.25, 14664)
    assert (sample.prompt_tokens, sample.generation_tokens) == (11, 60)
    assert sample.missing == ""
    assert 'vllm:request_success_total{engine="0",model_name="org/m",finished_reason="length"} 1.0' in text
    assert 'kv_cache_size_tokens="14664"' in text
