"""Known fatal lines of engine logs, each with its meaning and a fix."""

import re
from dataclasses import dataclass

from app.engines.llamacpp.gguf_files import SET_UP

_MARGIN = 0.95
"""Safety margin: memory fragmentation differs between boots, so a start at the limit succeeds only sometimes."""
_STEP = 16


@dataclass(frozen=True)
class FatalCause:
    says: str
    fix: str
    proposes: int | None = None
    """Proposed max_model_len with a safety margin."""


def match_fatal_line(line: str) -> FatalCause | None:
    if found := _ESTIMATED.search(line):
        return _explain_short_cache(int(found[1].replace(",", "")))
    for pattern, says, fix in _KNOWN:
        if found := pattern.search(line):
            told = (found[0][-160:], *found.groups())
            return FatalCause(says.format(*told), fix.format(*told))
    return None


def _explain_short_cache(most: int) -> FatalCause:
    proposed = int(most * _MARGIN) // _STEP * _STEP
    return FatalCause(
        f"the KV cache holds {most:,} tokens at most, fewer than max_model_len",
        f"set max_model_len = {proposed} (5 % below, as a boot at the edge succeeds by luck), or free memory for it",
        proposed,
    )


_ESTIMATED = re.compile(r"estimated maximum model length is ([\d,]+)")
_TABLE = (
    (
        r"Free memory on device.*is less than desired GPU memory utilization",
        "another process uses GPU memory that this engine needs",
        "check nvidia-smi, end leftover processes, or lower utilization",
    ),
    (
        r"No available memory for the cache blocks",
        "weights and graphs leave no room for the KV cache",
        "raise utilization, use more GPUs (tp), a smaller precision, or fewer max_num_seqs",
    ),
    (
        r"CUDA out of memory|torch\.OutOfMemoryError|CUDA error: out of memory",
        "the GPU is out of memory",
        "lower utilization (graphs are captured outside of it), max_num_seqs or max_num_batched_tokens",
    ),
    (
        r"Failed to load model - not enough GPU memory",
        "the weights do not fit",
        "use more GPUs (tp) or a smaller precision: temper plan says by how much",
    ),
    (
        r"Found a different quantization schemes|different quantization schemes",
        "the checkpoint's ignore list does not name the fused attention projections",
        "put re:.*self_attn.* back into quantization_config.ignore of its config.json",
    ),
    (
        r"IntermediateTensors",
        "pipeline parallelism does not work with Gemma 4 in vLLM 0.19 and 0.20",
        "use tp instead of pp, or vLLM 0.21 and later",
    ),
    (
        r"attention heads \(\d+\) must be divisible by tensor parallel size",
        "tp does not divide the model's attention heads",
        "set tp to 1, 2, 4 or 8: temper doctor LINEUP says which",
    ),
    (
        r"max_model_len .*is greater than the derived max_model_len",
        "max_model_len is more than the model has positions",
        "lower max_model_len",
    ),
    (
        r"parallel drafting does not support multimodal|one attention group must share num_heads",
        "the drafter was taken for a plain draft model",
        'set method = "mtp" for Gemma 4\'s assistant',
    ),
    (
        r"[Ff]or parallel drafting, the draft model config must|for parallel drafting\.$",
        "the drafter is not prepared for parallel drafting",
        "leave parallel_drafting out, or use a checkpoint with pard_token, ptd_token_id or a mask token",
    ),
    (
        r"No valid attention backend found.*non-causal",
        "this GPU has no kernel for bidirectional attention, which DFlash needs",
        "use an EAGLE3 drafter",
    ),
    (
        r"Selected backend \S+ is not valid for this configuration",
        "the attention backend that was asked for cannot run this model",
        "leave --attention-backend out",
    ),
    (
        r"appears path-like, but doesn't exist|supplied chat template path doesn't exist",
        "the chat template is not where chat_template says",
        "download it, or correct the path",
    ),
    (
        r"invalid (?:tool call|reasoning) parser: |--enable-auto-tool-choice requires --tool-call-parser",
        "this vLLM does not have the parsers",
        "for Gemma 4 both are called gemma4",
    ),
    (
        r"Transformers does not recognize this architecture",
        "transformers is too old for this model",
        "upgrade it beside vLLM, or use the image of deploy/",
    ),
    (
        r"[Aa]ddress already in use|couldn't bind HTTP server socket",
        "the port is taken",
        "end what listens there, or give the engine another port",
    ),
    (
        r"^(?:vllm|api_server\.py|usage|.*?): error: (?:unrecognized arguments|argument ).*",
        "vLLM does not take its flags: {0}",
        "correct the line-up's flags",
    ),
    (r"No module named 'xllamacpp'", "llama.cpp is not installed beside Temper", SET_UP),
    (r"^temper: (.*?): (.+)\.$", "{1}", "{2}"),
    (r"^temper: (.*)\.$", "{1}", "correct the line-up"),
    (
        r"llama_model_load: error loading model: (.*)",
        "llama.cpp cannot read the weights: {1}",
        "fetch the GGUF file anew",
    ),
    (
        r"failed to allocate|unable to allocate|std::bad_alloc",
        "there is too little memory",
        "lower max_model_len or max_num_seqs, or end what else takes memory",
    ),
    (
        r"ModuleNotFoundError: No module named '([^']+)'",
        "the Python package {1} is missing",
        "install it beside vLLM, or use the image",
    ),
    (
        r"Worker proc \S+ died unexpectedly",
        "a worker process died",
        "look further up in the log; dmesg shows whether the kernel ended it",
    ),
    (
        r"Engine core initialization failed",
        "the engine did not start",
        "the cause stands above in the log: temper doctor LINEUP --log FILE",
    ),
    (
        r"EngineDeadError|EngineCore encountered a fatal error",
        "the engine died while it served",
        "the cause stands above in the log: temper doctor LINEUP --log FILE",
    ),
)
"""Pattern, meaning and fix; {0} is the end of the match and {1} its first group. The most specific come first."""
_KNOWN = tuple((re.compile(pattern), says, fix) for pattern, says, fix in _TABLE)
