"""A cold start: vLLM's lines in their order, and memory that grows with them."""

import pytest

from app.engines.simulator.cold_load_log_and_memory import compute_memory_gib, iterate_lines
from app.lineups.reader import read_lineup, require_lineup_path

ENGINE = read_lineup(require_lineup_path("simulated")).engines["gemma-31b"]


def test_the_lines_come_in_vllms_order():
    story = list(iterate_lines(ENGINE, ENGINE.simulation))
    assert [line.at for line in story] == sorted(line.at for line in story)
    assert (story[0].at, story[-1].at) == (0.0, 1.0)
    text = "\n".join(line.text for line in story)
    places = [
        text.index(words)
        for words in (
            "Detected ModelOpt NVFP4 checkpoint",
            "Model loading took 16.3 GiB",
            "Available KV cache memory: 2.39 GiB",
            "GPU KV cache size: 14,664 tokens",
            "Maximum concurrency for 4,096 tokens per request: 3.58x",
            "Graph capturing finished in",
            "init engine (",
            "Application startup complete",
        )
    ]
    assert places == sorted(places)


def test_memory_only_grows_and_ends_where_it_was_measured():
    course = [compute_memory_gib(ENGINE.simulation, share / 100) for share in range(101)]
    assert course == sorted(course)
    assert course[0] < 1
    assert course[60] == pytest.approx(16.3 + 0.5)
    assert course[-1] == pytest.approx(21.9)
