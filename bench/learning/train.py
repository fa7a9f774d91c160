"""Trains a LoRA adapter for a Llama in a GGUF file on turns that were verified, and writes it as GGUF.

    python bench/learning/train.py MODEL.gguf TURNS.npz OUT --held-out 0

TURNS.npz is what turns.py made. The adapter is trained on the tensors as llama.cpp has them, quantized weights
brought back, so that it fits them there. With --choices nothing is learnt of sentences: neither that they are the
prompt's own nor how they end. Needs torch, numpy and gguf; a GPU where there is one.
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path

import gguf
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

MOST = 4096
"""Tokens of a turn; longer ones are left out and counted."""
TOKENS_A_STEP = 16384
WARM = 10
"""Steps until the rate is full."""


class Linear(nn.Module):
    """A frozen weight with a low-rank change beside it."""

    def __init__(self, weight: Tensor, rank: int, alpha: float) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.a = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.b = nn.Parameter(torch.zeros(weight.shape[0], rank))
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight) + F.linear(F.linear(x, self.a.to(x.dtype)), self.b.to(x.dtype)) * self.scale


class Block(nn.Module):
    NAMES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")

    def __init__(self, model: "Model", number: int) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.eps = model.heads, model.kv_heads, model.eps
        for name in self.NAMES:
            weight = model.tensor(f"blk.{number}.{name}.weight")
            setattr(self, name, Linear(weight, model.rank, model.alpha))
        for name in ("attn_norm", "ffn_norm"):
            self.register_buffer(name, model.tensor(f"blk.{number}.{name}.weight"))

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        size, length, _ = x.shape
        seen = normed(x, self.attn_norm, self.eps)
        q, k, v = (
            getattr(self, name)(seen).view(size, length, heads, -1).transpose(1, 2)
            for name, heads in (("attn_q", self.heads), ("attn_k", self.kv_heads), ("attn_v", self.kv_heads))
        )
        q, k = rotated(q, turn), rotated(k, turn)
        repeat = self.heads // self.kv_heads
        k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn_output(out.transpose(1, 2).reshape(size, length, -1))
        seen = normed(x, self.ffn_norm, self.eps)
        return x + self.ffn_down(F.silu(self.ffn_gate(seen)) * self.ffn_up(seen))


def normed(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return F.rms_norm(x.float(), weight.shape, weight.float(), eps).to(x.dtype)


def rotated(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Neighbours in pairs, as llama.cpp lays them out."""
    cos, sin = (one[: x.shape[2]].to(x.dtype) for one in turn)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


class Model(nn.Module):
    def __init__(self, path: str, rank: int, alpha: float, device: str, dtype: torch.dtype) -> None:
        super().__init__()
        reader = gguf.GGUFReader(path)
        self._tensors = {one.name: one for one in reader.tensors}
        self._device, self._dtype = device, dtype
        self.rank, self.alpha = rank, alpha
        told = {name: field.contents() for name, field in reader.fields.items() if name.startswith("llama.")}
        self.heads = int(told["llama.attention.head_count"])
        self.kv_heads = int(told["llama.attention.head_count_kv"])
        self.eps = float(told["llama.attention.layer_norm_rms_epsilon"])
        self.register_buffer("embedding", self.tensor("token_embd.weight"))
        self.register_buffer("norm", self.tensor("output_norm.weight"))
        self.blocks = nn.ModuleList(Block(self, number) for number in range(int(told["llama.block_count"])))
        half = int(told["llama.rope.dimension_count"]) // 2
        angles = torch.arange(MOST)[:, None] * float(told["llama.rope.freq_base"]) ** (-torch.arange(half) / half)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        del self._tensors

    def tensor(self, name: str) -> Tensor:
        one = self._tensors[name]
        weights = gguf.dequantize(one.data, one.tensor_type)
        return torch.from_numpy(np.array(weights)).to(self._device, self._dtype)

    def forward(self, tokens: Tensor) -> Tensor:
        x = F.embedding(tokens, self.embedding)
        for block in self.blocks:
            x = block(x, (self.cos, self.sin))
        return normed(x, self.norm, self.eps)

    def loss(self, tokens: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
        """Summed over the tokens of answers; and how many of these would have been said."""
        chosen = answers[:, 1:]
        logits = F.linear(self(tokens[:, :-1])[chosen], self.embedding).float()
        wanted = tokens[:, 1:][chosen]
        return F.cross_entropy(logits, wanted, reduction="sum"), (logits.argmax(-1) == wanted).sum()


Turn = tuple[np.ndarray, np.ndarray]
"""Tokens, and which of them count."""


def batches(turns: list[Turn], random: np.random.Generator) -> list[list[int]]:
    """Turns of like length together, at most TOKENS_A_STEP with their padding, in any order."""
    order = sorted(range(len(turns)), key=lambda one: (len(turns[one][0]), random.random()))
    made: list[list[int]] = []
    for one in order:
        if not made or len(turns[one][0]) * (len(made[-1]) + 1) > TOKENS_A_STEP:
            made.append([])
        made[-1].append(one)
    return [made[one] for one in random.permutation(len(made))]


def laid(turns: list[Turn], batch: list[int], device: str) -> tuple[Tensor, Tensor]:
    longest = max(len(turns[one][0]) for one in batch)
    tokens = np.zeros((len(batch), longest), np.int64)
    answers = np.zeros((len(batch), longest), bool)
    for row, one in enumerate(batch):
        tokens[row, : len(turns[one][0])], answers[row, : len(turns[one][1])] = turns[one]
    return torch.from_numpy(tokens).to(device), torch.from_numpy(answers).to(device)


def read(path: str, counts: str) -> tuple[list[Turn], np.ndarray]:
    held = np.load(path)
    ends = np.cumsum(held["lengths"])
    tokens, counting = np.split(held["tokens"], ends[:-1]), np.split(held[counts].astype(bool), ends[:-1])
    return list(zip(tokens, counting, strict=True)), held["folds"]


def judged(model: Model, turns: list[Turn], device: str) -> dict[str, float]:
    """Loss a token, and the share of the tokens that count that would have been said."""
    lost = right = count = 0.0
    with torch.no_grad():
        for batch in batches(turns, np.random.default_rng(0)):
            tokens, answers = laid(turns, batch, device)
            loss, hits = model.loss(tokens, answers)
            lost, right, count = lost + loss.item(), right + hits.item(), count + answers[:, 1:].sum().item()
    return {
        "turns": len(turns),
        "loss": round(lost / max(count, 1), 4),
        "tokens_right": round(right / max(count, 1), 4),
    }


def train(model: Model, turns: list[Turn], given: argparse.Namespace, device: str) -> int:
    """Steps that were made. The rate falls with them, or with the time where that is shorter."""
    own = [one for one in model.parameters() if one.requires_grad]
    random = np.random.default_rng(given.seed)
    steps = [batch for _ in range(given.epochs) for batch in batches(turns, random)]
    optimizer = torch.optim.AdamW(own, lr=given.rate, weight_decay=0.01, betas=(0.9, 0.98))
    began = time.monotonic()
    for number, batch in enumerate(steps):
        done = max(number / len(steps), (time.monotonic() - began) / given.seconds)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = given.rate * min((number + 1) / WARM, 0.5 * (1 + math.cos(math.pi * done)))
        tokens, answers = laid(turns, batch, device)
        loss, _ = model.loss(tokens, answers)
        (loss / answers[:, 1:].sum()).backward()
        torch.nn.utils.clip_grad_norm_(own, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if number % max(1, len(steps) // 20) == 0:
            print(f"step {number} of {len(steps)}: loss {loss.item() / answers[:, 1:].sum().item():.4f}", flush=True)
    return number + 1


def write(model: Model, path: Path) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", model.alpha)
    for number, block in enumerate(model.blocks):
        for name in Block.NAMES:
            one = getattr(block, name)
            for half, values in (("lora_a", one.a), ("lora_b", one.b)):
                writer.add_tensor(f"blk.{number}.{name}.weight.{half}", values.detach().half().cpu().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("turns")
    parser.add_argument("out", type=Path)
    parser.add_argument("--held-out", type=int, default=-1, help="fold of rules that is only judged; -1 trains on all")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3600, help="of training; what is left undone then is left")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--choices", action="store_const", const="choices", default="answers", dest="counts")
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(given.seed)
    turns, folds = read(given.turns, given.counts)
    short = [number for number, one in enumerate(turns) if len(one[0]) <= MOST]
    seen = [turns[one] for one in short if folds[one] != given.held_out]
    unseen = [turns[one] for one in short if folds[one] == given.held_out]
    choices = read(given.turns, "choices")[0]
    chosen = [choices[one] for one in short if folds[one] == given.held_out]
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    model = Model(given.model, given.rank, 2.0 * given.rank, device, dtype).to(device)
    told = {"device": torch.cuda.get_device_name() if device == "cuda" else "cpu", "torch": torch.__version__}
    told |= {
        "too_long": len(turns) - len(short),
        "held_out": given.held_out,
        "rank": given.rank,
        "epochs": given.epochs,
        "counts": given.counts,
    }
    told |= {
        "rate": given.rate,
        "seed": given.seed,
        "trained_on": len(seen),
        "unseen_before": judged(model, unseen, device),
        "unseen_choices_before": judged(model, chosen, device),
    }
    began = time.monotonic()
    told |= {"steps": train(model, seen, given, device)}
    told |= {"seconds": round(time.monotonic() - began, 1), "unseen_after": judged(model, unseen, device)}
    told |= {"unseen_choices_after": judged(model, chosen, device)}
    told["seen_after"] = judged(model, seen[:500], device)
    write(model, given.out)
    given.out.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
