from dataclasses import replace

from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.measuring.probe_load_steps import STEPS, list_probe_steps_with_skip_reasons

ENGINE = read_lineup(require_lineup_path("simulated")).engines["gemma-31b"]


def skipped(**changes):
    return {
        step.key: step.skipped
        for step in list_probe_steps_with_skip_reasons(replace(ENGINE, **changes))
        if step.skipped
    }


def test_one_stream_at_three_lengths_then_four_and_eight():
    assert [step.key for step in STEPS] == ["1x128", "1x256", "1x512", "4x256", "8x256"]
    assert skipped() == {}


def test_what_the_context_cannot_hold_is_not_asked():
    assert list(skipped(max_model_len=1400)) == ["1x512"]
    assert "1200 tokens" in skipped(max_model_len=1200)["1x256"]


def test_more_streams_than_the_engine_takes_would_only_queue():
    assert list(skipped(max_num_seqs=4)) == ["8x256"]
    assert "4 requests at a time" in skipped(max_num_seqs=4)["8x256"]
