"""Cold starts as real logs told them."""

from datetime import datetime
from functools import reduce
from pathlib import Path

import pytest

from app.engines.cold_start_progress import (
    ColdStart,
    ColdStartStep,
    CompletedLoad,
    apply_log_line,
    estimate_share_and_time_left,
    parse_timestamp_or_now,
)

LOGS = Path(__file__).parent.parent / "data" / "logs"
FIGURES = ("weights loaded", "memory profiled", "KV cache laid out", "concurrency known", "graphs captured")
NOW = datetime(2026, 11, 21, 12, 0).astimezone().timestamp()
FOUND = {
    # log: version, weights, KV pool, KV tokens, concurrency, graphs
    "gpu-0.25.1-31b-bf16.log": ("0.25.1", 57.91, 64.9, 222_837, 6.80, 0.34),
    "gpu-0.25.1-31b-nvfp4.log": ("0.25.1", 30.13, 37.92, 90_045, 21.98, None),
    "gpu-0.25.1-e4b.log": ("0.25.1", 14.23, 21.79, 406_855, 49.66, 0.64),
    "gpu-0.25.1-e2b-eager.log": ("0.25.1", 8.86, 31.3, 1_818_358, 221.97, None),
    # Later releases say two steps in one line; vLLM for CPU says nothing of its weights.
    "cpu-0.32.0.log": ("0.32.0", None, None, 66_052, 16.13, None),
    "cpu-0.32.0-mtp.log": ("0.32.0", None, None, 66_052, 16.13, None),
}


def read(name):
    lines = (LOGS / name).read_text().splitlines()
    started = parse_timestamp_or_now(lines[0], NOW)
    return reduce(lambda cold, line: apply_log_line(cold, line, NOW), lines, ColdStart(started))


@pytest.mark.parametrize("name", FOUND)
def test_what_a_real_log_found(name):
    cold = read(name)
    figures = tuple(cold.find_figure(name) for name in FIGURES)
    assert (cold.version, *figures) == FOUND[name]


def test_the_stairs_of_a_real_load_with_the_seconds_of_its_own_clock():
    steps = [(step.name, step.at) for step in read("gpu-0.25.1-31b-bf16.log").steps]
    assert steps[:-1] == [
        ("engine starts", 17.0),
        ("weights loaded", 21.0),
        ("model compiled", 70.0),
        ("memory profiled", 73.0),
        ("KV cache laid out", 73.0),
        ("concurrency known", 73.0),
        ("graphs captured", 83.0),
        ("engine warm", 95.0),
    ]
    assert steps[-1][0] == "server up"


def test_a_load_that_failed_never_gets_to_the_top():
    names = [step.name for step in read("gpu-0.25.1-engine-init-failed.log").steps]
    assert "weights loaded" in names
    assert "server up" not in names


def test_of_two_ranks_the_first_word_counts():
    cold = ColdStart(NOW)
    for line in ("(Worker_TP0) Model loading took 16.3 GiB", "(Worker_TP1) Model loading took 16.4 GiB"):
        cold = apply_log_line(cold, line, NOW + 5)
    assert cold.steps == (ColdStartStep("weights loaded", 5.0, 16.3),)


@pytest.mark.parametrize("date", ["02-29", "13-45", "00-00"])
def test_a_day_that_the_year_does_not_have_is_now(date):
    line = f"INFO {date} 10:00:00 [core.py:1] Model loading took 16.3 GiB"
    assert apply_log_line(ColdStart(NOW), line, NOW + 5).steps[0].at == 5.0


def test_a_progress_bar_says_how_far_it_is():
    bar = "Loading safetensors checkpoint shards:   0%|   | 0/4\rLoading safetensors checkpoint shards:  75%|## | 3/4"
    assert apply_log_line(ColdStart(NOW), bar, NOW).newest == "Loading safetensors checkpoint shards: 75 %"


EARLIER = [
    CompletedLoad(100.0, {"weights loaded": 60.0}),
    CompletedLoad(120.0, {"weights loaded": 70.0}),
    CompletedLoad(110.0, {"weights loaded": 66.0}),
]


def test_without_an_earlier_load_nothing_is_foretold():
    assert estimate_share_and_time_left(ColdStart(NOW), [], NOW + 10) == (None, None)


def test_what_is_left_comes_from_the_median_of_earlier_loads():
    assert estimate_share_and_time_left(ColdStart(NOW), EARLIER, NOW + 10) == (pytest.approx(0.091), 100.0)


def test_a_step_that_came_late_moves_all_that_follows():
    late = ColdStart(NOW, (ColdStartStep("weights loaded", 96.0, 16.3),))
    assert estimate_share_and_time_left(late, EARLIER, NOW + 100)[1] == pytest.approx(110 - 66 - 4)


def test_longer_than_ever_is_nearly_there_and_never_negative():
    assert estimate_share_and_time_left(ColdStart(NOW), EARLIER, NOW + 1000) == (0.99, 0.0)
