"""`python -m app.engines.llamacpp FILE`: run llama.cpp's server on a GGUF file until a signal ends it."""

import argparse
import signal
import sys
from importlib.metadata import version

import xllamacpp

from app.engines.llamacpp.gguf_weights_file_lookup import get_shipped_adapter_path, require_weights_file
from app.errors import BadInput

SLOTS = 3
"""Concurrent requests. Each slot keeps its last prompt, so that a role reuses its own."""
PROMPT_BATCH = 256
"""Prompt tokens per step; between steps the server answers health checks and metrics."""
KEPT_MIB = 8
"""Main memory for prompts that lost their slot; llama.cpp's default is 8 GiB."""
_CACHES = {
    "auto": xllamacpp.ggml_type.GGML_TYPE_F16,
    "f16": xllamacpp.ggml_type.GGML_TYPE_F16,
    "q8_0": xllamacpp.ggml_type.GGML_TYPE_Q8_0,
}


def main() -> None:
    asked = _create_parser().parse_args()
    try:
        file = require_weights_file(asked.model)
    except BadInput as exc:
        sys.exit(f"temper: {exc}")
    size, tokens = file.stat().st_size / 2**30, asked.max_model_len * asked.max_num_seqs
    print(f"llama.cpp starts (xllamacpp {version('xllamacpp')}): {file}, {size:.2f} GiB", flush=True)  # noqa: T201
    try:
        server = xllamacpp.Server(_build_params(asked, str(file)))
    except RuntimeError as exc:
        sys.exit(f"llama.cpp does not start: {exc}")
    print(f"KV cache laid out: {tokens} tokens", flush=True)  # noqa: T201
    print(f"llama.cpp serves {asked.served_model_name} at {server.listening_address}", flush=True)  # noqa: T201
    signal.pause()  # there is no state to save: the signal ends the process


def _build_params(arguments: argparse.Namespace, file: str) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.model_alias = {arguments.served_model_name}
    params.model_tags = {f"xllamacpp {version('xllamacpp')}"}
    params.hostnames, params.port = [arguments.host], arguments.port
    params.n_ctx, params.n_parallel = arguments.max_model_len * arguments.max_num_seqs, arguments.max_num_seqs
    params.n_batch = params.n_ubatch = PROMPT_BATCH
    params.cache_type_k = params.cache_type_v = _CACHES[arguments.kv_cache_dtype]
    params.cache_ram_mib = KEPT_MIB
    if own := arguments.adapter or get_shipped_adapter_path(arguments.model):
        params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(own), 1.0)]
    if arguments.threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = arguments.threads
    params.endpoint_metrics = True
    params.offline = True
    params.ui = params.fit_params = False
    params.cors_origins = "none"  # other sites must not read its answers
    params.cors_credentials = False
    return params


def _create_parser() -> argparse.ArgumentParser:
    """Accept the flags of `vllm serve` that apply to llama.cpp."""
    parser = argparse.ArgumentParser(prog="llamacpp")
    parser.add_argument("model")
    parser.add_argument("--served-model-name", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--max-model-len", type=int, required=True)
    parser.add_argument("--max-num-seqs", type=int, default=SLOTS)
    parser.add_argument("--kv-cache-dtype", choices=sorted(_CACHES), default="auto")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--adapter", default="", help="a LoRA adapter as GGUF, for these weights")
    return parser


if __name__ == "__main__":
    main()
