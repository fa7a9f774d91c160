"""The KV cache, against what real vLLM servers reported and what vLLM's own allocator says of the real shapes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.fit.kv_cache import CacheLayer, KvCache, group_layers
from app.engines.fit.model_shape_loader import load_model_shape
from app.engines.fit.vllm_versions import get_vllm_rules
from app.errors import BadInput
from app.lineups.model import Speculation
from tests.engines.fit.planning import BF16, CPU, E4B, NVFP4, TINY_GEMMA4, TINY_LLAMA, engine, fit

GIB = 1 << 30
ALLOCATOR = json.loads((Path(__file__).parent / "vllm_0_32_cache.json").read_text())


def cache(model=BF16, tp=1, element=2, block=16, in_flight=2048, vllm="0.32.0"):
    of, rules = load_model_shape(model), get_vllm_rules(vllm)
    layers = [
        CacheLayer(n, of.window if one.kind == "sliding" else None, max(1, one.kv_heads // tp), one.head_dim, element)
        for n, one in enumerate(of.layers)
        if not one.shares_kv
    ]
    return KvCache(group_layers(layers, block, rules), in_flight, rules, (range(len(of.layers)),))


@pytest.mark.parametrize("case", ALLOCATOR, ids=lambda case: "-".join(str(value) for value in list(case.values())[:7]))
def test_the_allocator_of_vllm_0_32_says_the_same(case):
    """Figures from get_kv_cache_configs of vLLM 0.32.0 itself, called with these layers."""
    found = cache(f"google/gemma-4-{case['model']}-it", case["tp"], case["element"], case["block"], case["in_flight"])
    pool, length = int(case["gib"] * GIB), case["length"]
    if "longest" in case:
        assert found.compute_needed_bytes(length) > pool
        assert found.compute_longest_context(pool, length) == case["longest"]
    else:
        assert found.compute_needed_bytes(length) <= pool
        assert len(found.groups) == case["groups"]
        assert found.count_blocks(pool) == case["blocks"]
        assert found.count_tokens(pool, length) == case["tokens"]
        assert found.compute_concurrency(pool, length) == pytest.approx(case["concurrency"])


@pytest.mark.parametrize(
    ("config", "flags", "tokens", "requests"),
    [
        (TINY_GEMMA4, {}, 66_052, 16.13),
        (TINY_LLAMA, {}, 65_536, 16.00),
        (TINY_GEMMA4, {"max_num_batched_tokens": 512}, 125_203, 30.57),
        (TINY_GEMMA4, {"max_model_len": 2048, "kv_cache_bytes": GIB}, 332_222, 162.22),
        (TINY_GEMMA4, {"speculation": Speculation("mtp", "drafter", 2)}, 66_052, 16.13),
    ],
)
def test_a_real_vllm_0_32_on_the_cpu_reported_this_size(tmp_path, config, flags, tokens, requests):
    """Read off `CPU KV cache size` and cache_config_info of servers started with --kv-cache-memory-bytes."""
    (tmp_path / "config.json").write_text(json.dumps(config))
    given = {"max_model_len": 4096, "kv_cache_bytes": 1 << 27, "max_num_seqs": 8, "vllm": "0.32.0", **flags}
    found = fit(CPU, engine(tmp_path, "bf16", **given))
    assert found.kv_tokens.value == tokens
    assert found.max_concurrency.value == pytest.approx(requests, abs=0.005)


def test_the_31b_on_two_l4_with_vllm_0_19_reported_10432_tokens_and_3_58_requests():
    """Measured: KV pool 2.39 GiB, fp8, tp=2, max_model_len 4096."""
    found = cache(tp=2, element=1, vllm="0.19.0")
    assert found.count_tokens(2.39 * GIB, 4096) == 10_432
    assert found.compute_concurrency(2.39 * GIB, 4096) == pytest.approx(3.58, abs=0.005)
    assert found.largest_group_block_bytes == 655_360
    assert [group.block for group in found.groups].count(16) == 5
    assert [group.block for group in found.groups].count(32) == 1


def test_the_31b_on_four_l4_reported_17968_tokens():
    """Measured: KV pool 4.12 GiB (to two digits), bf16, tp=4."""
    pools = [4.115 * GIB, 4.125 * GIB]
    low, high = (cache(tp=4, vllm="0.19.0").count_tokens(pool, 4096) for pool in pools)
    assert low <= 17_968 <= high


def test_from_0_20_1_on_the_size_is_concurrency_times_length():
    old, new = cache(vllm="0.20.0"), cache(vllm="0.20.1")
    assert old.count_tokens(8 * GIB, 4096) == old.count_blocks(8 * GIB) // 6 * 16
    assert new.count_tokens(8 * GIB, 4096) == int(new.compute_concurrency(8 * GIB, 4096) * 4096)


def test_kv_shared_layers_hold_none():
    assert sum(len(group.layers) for group in cache(E4B).groups) == 42 - 18


def test_a_null_block_is_kept_back_from_0_29_on():
    assert (
        cache(vllm="0.29.0").compute_needed_bytes(4096) - cache(vllm="0.28.0").compute_needed_bytes(4096)
        == cache().largest_group_block_bytes
    )


def test_a_drafter_with_a_cache_of_its_own_splits_the_groups_to_single_layers():
    """That is how 244K tokens and 6.11 requests of 262,144 were reported of one pool: 61 groups, vLLM 0.20.0."""
    drafted = engine(
        "cyankiwi/gemma-4-31B-it-AWQ-4bit",
        "awq4",
        tp=2,
        max_model_len=262_144,
        max_num_batched_tokens=16_384,
        kv_dtype="fp8",
        kv_cache_bytes=int(56.97 * GIB),
        vllm="0.20.0",
        speculation=Speculation("eagle3", "speculator", 3),
    )
    found = fit("h100:2", drafted)
    assert found.kv_tokens.value == pytest.approx(244_000, rel=0.01)
    assert found.max_concurrency.value == pytest.approx(6.11, abs=0.01)


def test_pages_that_do_not_divide_are_padded_or_refused():
    odd = [CacheLayer(0, None, 3, 64, 2), CacheLayer(1, 128, 2, 64, 2)]
    padded = group_layers(odd, 16, get_vllm_rules("0.24.0"))
    assert {group.compute_page_bytes(group.layers[0]) for group in padded} == {odd[0].compute_page_bytes(16)}
    with pytest.raises(BadInput, match=r"0\.23\.0 cannot lay .* use 0\.24"):
        group_layers(odd, 16, get_vllm_rules("0.23.0"))


def test_layers_of_one_kind_make_one_group_whatever_their_heads():
    mixed = [CacheLayer(0, None, 4, 64, 2), CacheLayer(1, None, 2, 64, 2)]
    (group,) = group_layers(mixed, 16, get_vllm_rules(""))
    found = KvCache((group,), 2048, get_vllm_rules("0.28.0"), (range(2),))
    assert found.largest_group_block_bytes == sum(layer.compute_page_bytes(16) for layer in mixed)


def test_pipeline_stages_hold_their_own_layers_only():
    whole = cache()
    halves = KvCache(whole.groups, 2048, whole.rules, (range(30), range(30, 60)))
    assert halves.largest_group_block_bytes == whole.largest_group_block_bytes // 2


@given(st.integers(1, 262_143), st.integers(0, 1 << 37), st.sampled_from([BF16, E4B, NVFP4]))
def test_a_longer_request_never_takes_less(length, pool, model):
    found = cache(model)
    assert found.compute_needed_bytes(length) <= found.compute_needed_bytes(length + 1)
    longest = found.compute_longest_context(pool, 131_072)
    assert longest == 0 or found.compute_needed_bytes(longest) <= pool
    assert longest == 131_072 or found.compute_needed_bytes(longest + 1) > pool


@given(st.integers(1, 131_072), st.integers(1 << 28, 1 << 36), st.integers(0, 1 << 30))
def test_a_larger_pool_never_holds_less(length, pool, more):
    found = cache(E4B)
    assert found.compute_concurrency(pool, length) <= found.compute_concurrency(pool + more, length)
    assert found.count_tokens(pool, length) <= found.count_tokens(pool + more, length)
