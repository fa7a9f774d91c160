"""A model's shape: the values of its config.json that determine memory and speed."""

from dataclasses import dataclass
from typing import Literal

LayerKind = Literal["sliding", "full"]


@dataclass(frozen=True)
class Layer:
    kind: LayerKind
    kv_heads: int
    head_dim: int
    intermediate: int
    """0 if experts replace it."""
    expert_intermediate: int = 0
    k_is_v: bool = False
    """The checkpoint has one matrix for K and V; vLLM holds it twice."""
    shares_kv: bool = False
    """It uses an earlier layer's KV cache and has none of its own."""


@dataclass(frozen=True)
class Towers:
    parameters: int
    exact: bool
    """Counted for a known architecture, not approximated from its sizes."""
    batch_tokens: int = 0
    """Tokens of the largest item, if one batch must hold it."""


@dataclass(frozen=True)
class Quantization:
    method: str
    group: int | None = None
    kv_fp8: bool = False
    """The checkpoint requests an fp8 KV cache, which vLLM uses if the KV dtype is auto."""


@dataclass(frozen=True)
class ModelShape:
    name: str
    architecture: str
    hidden: int
    heads: int
    layers: tuple[Layer, ...]
    vocab: int
    positions: int
    tied: bool
    window: int | None = None
    rope_dims: tuple[int, ...] = ()
    """One per table of cosines and sines."""
    norms_per_layer: int = 2
    norms_heads: bool = False
    """Queries and keys have their own norms."""
    per_layer_input: int = 0
    """Width of Gemma's per-layer embeddings."""
    per_layer_vocab: int = 0
    experts: int = 0
    experts_per_token: int = 0
    towers: Towers | None = None
    quantization: Quantization | None = None

    @property
    def is_gemma4(self) -> bool:
        return self.architecture.startswith("gemma4")

    @property
    def summed_width_of_per_layer_inputs(self) -> int:
        return self.per_layer_input * len(self.layers)


def split_stages(layer_count: int, pp: int) -> tuple[range, ...]:
    """Split layers evenly over pipeline stages; the remainder goes before the last stage, which holds the head."""
    sizes = [layer_count // pp] * pp
    for extra in range(2, layer_count % pp + 2):
        sizes[-extra] += 1
    starts = [sum(sizes[:stage]) for stage in range(pp)]
    return tuple(range(start, start + size) for start, size in zip(starts, sizes, strict=True))
