"""Makes of a Llama in a GGUF file, and of an adapter for it, the folder that vLLM serves.

    python bench/vllm/weights.py MODEL.gguf LIKE OUT [--adapter ADAPTER.gguf]

LIKE is a folder with the model's config.json and tokenizer, as transformers writes them (docs/cpu.md says how). Weights
are brought back from their quantisation to bf16; an adapter is added to them before that. What transformers does not
take over of the tokenizer is mended: which token ends an answer, that SmolLM2 reads digits one by one, and that its
tokens stand for bytes, without which xgrammar finds no token with a space in it. Needs torch, safetensors and gguf.
"""

import argparse
import json
import shutil
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
TOP = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}


def named(name: str) -> str:
    if name in TOP:
        return TOP[name]
    _, block, part, kind = name.split(".")
    return f"model.layers.{block}.{NAMES[part]}.{kind}"


def read(path: Path) -> dict[str, Tensor]:
    tensors = gguf.GGUFReader(path).tensors
    return {one.name: torch.from_numpy(np.array(gguf.dequantize(one.data, one.tensor_type))) for one in tensors}


def halves_apart(weight: Tensor, heads: int) -> Tensor:
    """llama.cpp rotates neighbours, transformers the two halves of a head: rows of queries and keys change places."""
    rows, columns = weight.shape
    return weight.view(heads, rows // heads // 2, 2, columns).transpose(1, 2).reshape(rows, columns)


def adapted(weights: dict[str, Tensor], adapter: Path) -> dict[str, Tensor]:
    parts = read(adapter)
    alpha = float(gguf.GGUFReader(adapter).fields["adapter.lora.alpha"].contents())

    def added(name: str, weight: Tensor) -> Tensor:
        if f"{name}.lora_a" not in parts:
            return weight
        a, b = parts[f"{name}.lora_a"].float(), parts[f"{name}.lora_b"].float()
        return weight.float() + alpha / a.shape[0] * (b @ a)

    return {name: added(name, weight) for name, weight in weights.items()}


def mended(out: Path, model: Path) -> None:
    fields = gguf.GGUFReader(model).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    config = out / "tokenizer_config.json"
    told = json.loads(config.read_text())
    for name in ("bos", "eos"):
        number = int(fields[f"tokenizer.ggml.{name}_token_id"].contents())
        told |= {f"{name}_token": tokens[number], f"{name}_token_id": number}
    config.write_text(json.dumps(told, indent=2))
    tokenizer = out / "tokenizer.json"
    read = json.loads(tokenizer.read_text())
    if fields["tokenizer.ggml.pre"].contents() == "smollm" and read["pre_tokenizer"]["type"] == "ByteLevel":
        digits = {"type": "Digits", "individual_digits": True}
        read["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, read["pre_tokenizer"]]}
    if fields["tokenizer.ggml.model"].contents() == "gpt2":
        read["decoder"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        read["model"]["byte_fallback"] = False
    tokenizer.write_text(json.dumps(read, ensure_ascii=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("like", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--adapter", type=Path)
    given = parser.parse_args()
    config = json.loads((given.like / "config.json").read_text())
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    weights = read(given.model)
    if given.adapter:
        weights = adapted(weights, given.adapter)
    given.out.mkdir(parents=True, exist_ok=True)
    for file in given.like.iterdir():
        if file.suffix != ".safetensors":
            shutil.copy(file, given.out / file.name)
    mended(given.out, given.model)
    laid = {}
    for name, weight in weights.items():
        part = name.split(".")[-2]
        right = halves_apart(weight, heads[part]) if part in heads else weight
        laid[named(name)] = right.to(torch.bfloat16).contiguous()
    save_file(laid, given.out / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main()
