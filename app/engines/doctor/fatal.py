"""Lines of vLLM's log after which it will not serve, each with what it means and what helps."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_MARGIN = 0.95
"""A boot at the very edge succeeds by luck: fragmentation differs from one to the next."""
_STEP = 16


@dataclass(frozen=True)
class Fatal:
    says: str
    fix: str
    proposes: int | None = None
    """A max_model_len that leaves a margin."""


def fatal(line: str) -> Fatal | None:
    for pattern, meaning in _KNOWN:
        if found := pattern.search(line):
            return meaning(found)
    return None


def _plain(says: str, fix: str) -> Callable[[re.Match[str]], Fatal]:
    return lambda _: Fatal(says, fix)


def _estimated(found: re.Match[str]) -> Fatal:
    most = int(found[1].replace(",", ""))
    proposed = int(most * _MARGIN) // _STEP * _STEP
    return Fatal(
        f"the KV cache holds {most:,} tokens at most, fewer than max_model_len",
        f"set max_model_len = {proposed} (5 % below, as a boot at the edge succeeds by luck), or free memory for it",
        proposed,
    )


_KNOWN: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Fatal]], ...] = (
    (re.compile(r"estimated maximum model length is ([\d,]+)"), _estimated),
    (
        re.compile(r"Free memory on device.*is less than desired GPU memory utilization"),
        _plain(
            "another process holds memory of the GPU that this engine counts on",
            "look at nvidia-smi, end what is left over, or lower utilization",
        ),
    ),
    (
        re.compile(r"No available memory for the cache blocks"),
        _plain(
            "weights and graphs leave no room for the KV cache",
            "raise utilization, use more GPUs (tp), a smaller precision, or fewer max_num_seqs",
        ),
    ),
    (
        re.compile(r"CUDA out of memory|torch\.OutOfMemoryError|CUDA error: out of memory"),
        _plain(
            "the GPU is out of memory",
            "lower utilization (graphs are captured outside of it), max_num_seqs or max_num_batched_tokens",
        ),
    ),
    (
        re.compile(r"Failed to load model - not enough GPU memory"),
        _plain("the weights do not fit", "use more GPUs (tp) or a smaller precision: temper plan says by how much"),
    ),
    (
        re.compile(r"Found a different quantization schemes|different quantization schemes"),
        _plain(
            "the checkpoint's ignore list does not name the fused attention projections",
            "put re:.*self_attn.* back into quantization_config.ignore of its config.json",
        ),
    ),
    (
        re.compile(r"IntermediateTensors"),
        _plain(
            "pipeline parallelism does not work with Gemma 4 in vLLM 0.19 and 0.20",
            "use tp instead of pp, or vLLM 0.21 and later",
        ),
    ),
    (
        re.compile(r"[Aa]ddress already in use"),
        _plain("the port is taken", "end what listens there, or give the engine another port"),
    ),
    (
        re.compile(r"^(?:vllm|api_server\.py|usage|.*?): error: (?:unrecognized arguments|argument .*)"),
        lambda found: Fatal(f"vLLM does not take its flags: {found[0][-160:]}", "mend the line-up's flags"),
    ),
    (
        re.compile(r"ModuleNotFoundError: No module named '([^']+)'"),
        lambda found: Fatal(f"the Python package {found[1]} is missing", "install it beside vLLM, or use the image"),
    ),
    (
        re.compile(r"Worker proc \S+ died unexpectedly"),
        _plain("a worker process died", "look above in the log; dmesg tells whether the kernel ended it"),
    ),
    (
        re.compile(r"Engine core initialization failed"),
        _plain("the engine did not come up", "the cause stands above in the log: temper doctor LINEUP --log FILE"),
    ),
    (
        re.compile(r"EngineDeadError|EngineCore encountered a fatal error"),
        _plain("the engine died while it served", "the cause stands above in the log: temper doctor LINEUP --log FILE"),
    ),
)
"""The most telling first: what follows a cause is only its echo."""
