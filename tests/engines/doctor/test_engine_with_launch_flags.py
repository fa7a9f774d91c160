"""The flags of a launch against the line-up's own fields: vLLM takes the last of a kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.doctor.engine_with_launch_flags import read_flags, resolve_engine
from tests.engines.doctor.sick import served


def settled(*flags, **fields):
    return resolve_engine(served(flags=flags, **fields))


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (("--max-num-seqs", "16"), {"--max-num-seqs": "16"}),
        (("--max_num_seqs=16",), {"--max-num-seqs": "16"}),
        (("-tp", "2"), {"--tensor-parallel-size": "2"}),
        (("--enforce-eager", "--seed", "-1"), {"--enforce-eager": "", "--seed": "-1"}),
        (("--allowed-origins", "a", "b"), {"--allowed-origins": "a b"}),
        (("--max-num-seqs", "16", "--max-num-seqs", "32"), {"--max-num-seqs": "32"}),
        (("stray",), {}),
    ],
)
def test_words_become_flags(words, read):
    assert read_flags(words) == read


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        (("--max-model-len", "32k"), "max_model_len", 32000),
        (("--max-model-len", "32K"), "max_model_len", 32768),
        (("--gpu-memory-utilization", "0.97"), "utilization", 0.97),
        (("--enforce-eager",), "eager", True),
        (("--limit-mm-per-prompt", '{"image":0,"video":0,"audio":0}'), "text_only", True),
        (("--limit-mm-per-prompt", '{"image":0}'), "text_only", False),
        (("--limit-mm-per-prompt", '{"image":0,"audio":0}'), "text_only", False),
        (("--limit-mm-per-prompt", '{"image":2}'), "text_only", False),
        (("--kv-cache-dtype=fp8",), "kv_dtype", "fp8"),
    ],
)
def test_a_flag_is_what_the_engine_gets(words, field, value):
    assert getattr(settled(*words, text_only=False).engine, field) == value


def test_a_speculative_config_is_read_whole():
    words = '{"method":"eagle3","model":"a/b","num_speculative_tokens":3,"parallel_drafting":true}'
    plan = settled("--speculative-config", words).engine.speculation
    assert (plan.method, plan.model, plan.tokens, plan.parallel_drafting) == ("eagle3", "a/b", 3, True)


@pytest.mark.parametrize("value", ["", "many", "-4", "0", "[1]"])
def test_a_value_that_vllm_refuses_is_named(value):
    assert settled(f"--max-num-seqs={value}").unreadable == ("--max-num-seqs",)


@pytest.mark.parametrize("value", ["1.2", "nan", "inf", "0", "much"])
def test_a_share_of_the_memory_is_one(value):
    assert settled("--gpu-memory-utilization", value).unreadable == ("--gpu-memory-utilization",)


NO_SPECULATION = ["{", "[]", "3", "[" * 5000, *(f'{{"num_speculative_tokens": {n}}}' for n in ("[]", "1e999", "0"))]


@pytest.mark.parametrize("value", NO_SPECULATION)
def test_a_speculative_config_that_is_none_is_named(value):
    assert settled("--speculative-config", value).unreadable == ("--speculative-config",)


def test_only_a_flag_that_says_otherwise_overrides():
    assert settled("--max-num-seqs", "32", max_num_seqs=32).overridden == ()
    assert settled("--max-num-seqs", "16", max_num_seqs=32).overridden == ("--max-num-seqs",)


@given(st.lists(st.text(max_size=12), max_size=8))
def test_no_words_throw(words):
    settled(*words)
