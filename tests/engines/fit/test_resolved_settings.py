"""What vLLM makes of the flags that a line-up leaves out."""

import pytest

from app.engines.fit.gpu_kinds import parse_gpu_kind_colon_count
from app.engines.fit.model_shape_loader import load_model_shape
from app.engines.fit.overhead import count_graphs, estimate_overhead
from app.engines.fit.resolved_settings import resolve_settings
from app.errors import BadInput
from app.lineups.model import Gpu, Speculation
from tests.engines.fit.planning import CPU, E4B, NVFP4, engine


def setting(gpus="l4", model=NVFP4, **flags):
    there = parse_gpu_kind_colon_count(gpus, (0,)) if isinstance(gpus, str) else gpus
    one = engine(model, **flags)
    return resolve_settings(one, load_model_shape(model), there)


@pytest.mark.parametrize(
    ("gpus", "vllm", "batch"),
    [
        ("l4", "0.19.0", (256, 2048)),
        ("h100", "0.25.1", (1024, 8192)),
        ("b200", "0.25.1", (1024, 8192)),
        ("b200", "0.28.0", (1024, 16384)),
        (CPU, "0.32.0", (128, 2048)),
    ],
)
def test_batches_go_by_the_card(gpus, vllm, batch):
    found = setting(gpus, vllm=vllm, text_only=True)
    assert (found.max_num_seqs, found.batch_tokens) == batch


def test_a_batch_holds_a_whole_video_of_the_31b():
    assert setting(vllm="0.22.1").batch_tokens == 2496
    assert setting(vllm="0.22.1", text_only=True).batch_tokens == 2048
    assert setting(vllm="0.19.0").batch_tokens == 2048
    assert setting(model=E4B, vllm="0.22.1").batch_tokens == 2048


def test_a_batch_is_no_more_than_all_requests_together():
    assert setting(max_num_seqs=2, max_model_len=512, text_only=True).batch_tokens == 1024
    assert setting(max_num_batched_tokens=64).max_num_seqs == 64


def test_two_batches_are_in_flight_from_0_26_on_but_not_on_a_cpu():
    def in_flight(gpus, vllm):
        return setting(gpus, vllm=vllm, text_only=True, max_num_batched_tokens=2048).cache.in_flight

    assert [in_flight("l4", "0.25.1"), in_flight("l4", "0.26.0"), in_flight(CPU, "0.32.0")] == [2048, 4096, 2048]


def test_the_smallest_and_the_slowest_gpu_count():
    mixed = (Gpu(0, "one", 40, 500), Gpu(1, "other", 30, 900))
    found = setting(mixed, tp=2)
    assert (found.gpu_gib, found.bandwidth_gb_s) == (30, 500)


def test_kv_dtypes_are_known_or_refused():
    assert (setting(kv_dtype="fp8").kv_element, setting(kv_dtype="auto").kv_element) == (1, 2)
    with pytest.raises(BadInput, match=r"Temper has no estimate for a KV cache of 'int3': choose one of auto"):
        setting(kv_dtype="int3")


def test_35_whole_graphs_are_captured_for_256_sequences():
    """The count that vLLM reported on two H100; piecewise graphs for up to 512 tokens come on top."""
    assert count_graphs(setting()) == 35 + 51
    assert count_graphs(setting(eager=True)) == 0
    assert count_graphs(setting(CPU)) == 0
    assert count_graphs(setting(max_num_seqs=8)) == 5 + 4


def test_what_is_neither_weights_nor_pool_comes_out_as_on_two_l4():
    """Measured, vLLM 0.19: 22.03 x 0.9 - 16.3 - 2.39 = 1.14 GiB profiled, and CUDA graphs of 1.47 GiB."""
    found = estimate_overhead(setting(tp=2, vllm="0.19.0"))
    assert found.activations == pytest.approx(1.14, abs=0.03)
    assert found.graphs == pytest.approx(1.47, abs=0.01)


def test_a_drafter_with_its_own_cache_adds_a_layer_and_gemmas_mtp_does_not():
    def layers(method):
        found = setting(speculation=Speculation(method, "drafter", 3)).cache
        return sum(len(group.layers) for group in found.groups)

    assert (layers("eagle3"), layers("mtp")) == (61, 60)
