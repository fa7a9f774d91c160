"""Lines of an engine's log after which it will not serve, each with what it means and what helps."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.engines.llamacpp.weights import SET_UP

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


def _said(sentence: str) -> tuple[str, str]:
    """Temper's own: what is the matter, and after the colon what helps."""
    says, _, fix = sentence.partition(": ")
    return says, fix or "mend the line-up"


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
        re.compile(r"attention heads \(\d+\) must be divisible by tensor parallel size"),
        _plain(
            "tp does not divide the model's attention heads", "set tp to 1, 2, 4 or 8: temper doctor LINEUP says which"
        ),
    ),
    (
        re.compile(r"max_model_len .*is greater than the derived max_model_len"),
        _plain("max_model_len is more than the model has positions", "lower max_model_len"),
    ),
    (
        re.compile(r"parallel drafting does not support multimodal|one attention group must share num_heads"),
        _plain("the drafter was taken for a plain draft model", 'say method = "mtp" for Gemma 4\'s assistant'),
    ),
    (
        re.compile(r"[Ff]or parallel drafting, the draft model config must|for parallel drafting\.$"),
        _plain(
            "the drafter is not prepared for parallel drafting",
            "leave parallel_drafting out, or use a checkpoint with pard_token, ptd_token_id or a mask token",
        ),
    ),
    (
        re.compile(r"No valid attention backend found.*non-causal"),
        _plain("no attention on this GPU looks both ways, as DFlash needs", "use an EAGLE3 drafter"),
    ),
    (
        re.compile(r"Selected backend \S+ is not valid for this configuration"),
        _plain("the attention backend that was asked for cannot run this model", "leave --attention-backend out"),
    ),
    (
        re.compile(r"appears path-like, but doesn't exist|supplied chat template path doesn't exist"),
        _plain("the chat template is not where chat_template says", "fetch it, or mend the path"),
    ),
    (
        re.compile(r"invalid (?:tool call|reasoning) parser: |--enable-auto-tool-choice requires --tool-call-parser"),
        _plain("the parsers are not ones that this vLLM has", "for Gemma 4 both are called gemma4"),
    ),
    (
        re.compile(r"Transformers does not recognize this architecture"),
        _plain("transformers is too old for this model", "upgrade it beside vLLM, or use the image of deploy/"),
    ),
    (
        re.compile(r"[Aa]ddress already in use|couldn't bind HTTP server socket"),
        _plain("the port is taken", "end what listens there, or give the engine another port"),
    ),
    (
        re.compile(r"^(?:vllm|api_server\.py|usage|.*?): error: (?:unrecognized arguments|argument ).*"),
        lambda found: Fatal(f"vLLM does not take its flags: {found[0][-160:]}", "mend the line-up's flags"),
    ),
    (
        re.compile(r"No module named 'xllamacpp'"),
        _plain("llama.cpp is not installed beside Temper", SET_UP),
    ),
    (
        re.compile(r"^temper: (.*)\.$"),
        lambda found: Fatal(*_said(found[1])),
    ),
    (
        re.compile(r"llama_model_load: error loading model: (.*)"),
        lambda found: Fatal(f"llama.cpp cannot read the weights: {found[1]}", "fetch the GGUF file anew"),
    ),
    (
        re.compile(r"failed to allocate|unable to allocate|std::bad_alloc"),
        _plain("there is too little memory", "lower max_model_len or max_num_seqs, or end what else takes memory"),
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
