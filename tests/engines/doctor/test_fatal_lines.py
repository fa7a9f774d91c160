"""Lines after which an engine does not serve, as real logs and vLLM's sources word them."""

from pathlib import Path

import pytest

from app.engines.doctor.fatal_lines import match_fatal_line

LOGS = Path(__file__).parents[2] / "data" / "logs"


def test_the_estimated_maximum_is_proposed_with_a_margin():
    line = "ValueError: ... Based on the available memory, the estimated maximum model length is 65120. Try ..."
    found = match_fatal_line(line)
    assert found
    assert found.proposes == 61856
    assert 0.94 < found.proposes / 65120 <= 0.95
    assert "max_model_len = 61856" in found.fix


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 336.00 MiB.", "out of memory"),
        (
            "ValueError: Free memory on device (3.2/22.0 GiB) on startup is less than desired GPU memory utilization",
            "another process",
        ),
        ("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`", "no room"),
        ("OSError: [Errno 98] Address already in use", "port is taken"),
        ("vllm: error: unrecognized arguments: --no-such-flag", "does not take its flags: vllm: error: unrecognized "),
        ("vllm: error: unrecognized arguments: --no-such-flag", "--no-such-flag"),
        ("ValueError: Found a different quantization schemes for q_proj and k_proj", "ignore list"),
        (
            "  Value error, Total number of attention heads (4) must be divisible by tensor parallel size (3). [type=v",
            "tp does not divide",
        ),
        (
            "  Value error, User-specified max_model_len (999999) is greater than the derived max_model_len (max_pos",
            "more than the model has positions",
        ),
        (
            "ValueError: For parallel drafting, the draft model config must have `pard_token`, `ptd_token_id`, or",
            "not prepared for parallel drafting",
        ),
        (
            "NotImplementedError: ... with draft models or parallel drafting does not support multimodal models",
            "plain draft model",
        ),
        ("AssertionError: All layers in one attention group must share num_heads; got {8, 4}", "plain draft model"),
        (
            "ValueError: No valid attention backend found for cuda. Reasons: {TRITON_ATTN: [non-causal attention not",
            "bidirectional attention",
        ),
        ("ValueError: Selected backend FLASH_ATTN is not valid for this configuration. Reason: []", "cannot run this"),
        (
            "VLLMValidationError: The supplied chat template string (/t) appears path-like, but doesn't exist!",
            "template",
        ),
        ("TypeError: Error: --enable-auto-tool-choice requires --tool-call-parser", "parsers"),
        ("KeyError: 'invalid tool call parser: nosuch (chose from { gemma4,hermes })'", "parsers"),
        ("The checkpoint has model type `gemma4` but Transformers does not recognize this architecture.", "too old"),
        ("RuntimeError: Worker proc VllmWorker-1 died unexpectedly, shutting down executor.", "worker process died"),
    ],
)
def test_each_has_its_meaning_and_what_helps(line, says):
    found = match_fatal_line(line)
    assert found
    assert says in found.says
    assert found.fix


def test_the_cause_in_a_real_log_comes_before_its_echo():
    found = [
        one
        for line in (LOGS / "gpu-0.25.1-engine-init-failed.log").read_text().splitlines()
        if (one := match_fatal_line(line))
    ]
    assert found[0].says == "the Python package cutlass is missing"
    assert found[-1].says == "the engine did not start"


@pytest.mark.parametrize("name", ["gpu-0.25.1-31b-bf16.log", "gpu-0.25.1-31b-nvfp4.log", "gpu-0.25.1-e4b.log"])
def test_a_log_of_an_engine_that_served_has_none(name):
    assert [line for line in (LOGS / name).read_text().splitlines() if match_fatal_line(line)] == []
