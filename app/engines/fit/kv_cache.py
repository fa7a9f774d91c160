"""Model of vLLM's KV cache: groups of layers that share one pool of blocks, and the blocks per request."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, product

from app.engines.fit.vllm_versions import VllmRules
from app.errors import BadInput


@dataclass(frozen=True)
class CacheLayer:
    """One layer with keys and values, on one GPU."""

    index: int
    window: int | None
    heads: int
    head_dim: int
    element: int
    """Bytes per number."""

    @property
    def kind(self) -> tuple[int, int, int]:
        return (self.window or 0, self.heads, self.head_dim)

    def compute_page_bytes(self, block: int) -> int:
        return 2 * self.heads * self.head_dim * self.element * block


@dataclass(frozen=True)
class LayerGroup:
    """Layers that share one block table."""

    layers: tuple[CacheLayer, ...]
    block: int
    padded_page: int = 0

    def compute_page_bytes(self, layer: CacheLayer) -> int:
        return self.padded_page or layer.compute_page_bytes(self.block)

    def count_blocks(self, length: int, in_flight: int) -> int:
        if (window := self.layers[0].window) is None:
            return math.ceil(length / self.block)
        held = min(window - 1 + in_flight, length)
        return math.ceil(held / self.block) + 1  # the window can start inside a block


@dataclass(frozen=True)
class KvCache:
    groups: tuple[LayerGroup, ...]
    in_flight: int
    """Tokens in flight whose blocks a sliding layer cannot free yet."""
    rules: VllmRules
    stages: tuple[range, ...]

    @property
    def largest_group_block_bytes(self) -> int:
        """Bytes of one pool block, on the GPU where it is largest."""
        return max(
            sum(group.compute_page_bytes(layer) for layer in group.layers if layer.index in stage)
            for stage, group in product(self.stages, self.groups)
        )

    def count_blocks(self, pool_bytes: float) -> int:
        return max(0, int(pool_bytes // self.largest_group_block_bytes))

    def count_request_blocks(self, length: int) -> int:
        return sum(group.count_blocks(length, self.in_flight) for group in self.groups)

    def compute_concurrency(self, pool: float, length: int) -> float:
        return self.count_blocks(pool) / self.count_request_blocks(length)

    def count_tokens(self, pool: float, length: int) -> int:
        """Return the cache size in tokens that vLLM logs."""
        if self.rules.tokens_by_concurrency:
            return int(self.compute_concurrency(pool, length) * length)
        return self.count_blocks(pool) // len(self.groups) * min(group.block for group in self.groups)

    def compute_needed_bytes(self, length: int) -> int:
        """Return the bytes that vLLM needs to start with this max_model_len."""
        return (self.count_request_blocks(length) + self.rules.null_block_reserved) * self.largest_group_block_bytes

    def compute_longest_context(self, pool: float, most: int) -> int:
        """Return the largest max_model_len up to `most` that starts, or 0 if none does."""
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            if self.compute_needed_bytes(middle) <= pool:
                low = middle
            else:
                high = middle - 1
        return low


def group_layers(layers: Iterable[CacheLayer], block: int, rules: VllmRules) -> tuple[LayerGroup, ...]:
    layers = tuple(layers)
    ordered = sorted(layers, key=lambda layer: (layer.kind, layer.index))
    kinds = [tuple(same) for _, same in groupby(ordered, key=lambda layer: layer.kind)]
    if len({layer.window for layer in layers}) == 1:
        return (LayerGroup(layers, block),)
    page = max(kind[0].compute_page_bytes(block) for kind in kinds)
    counts = [len(kind) for kind in kinds]
    size = max(counts) if max(counts) < 1.5 * min(counts) else min(counts)  # as vLLM chooses it
    return tuple(group for kind in kinds for group in _split_kind(kind, size, block, page, rules))


def _split_kind(layers: tuple[CacheLayer, ...], size: int, block: int, page: int, rules: VllmRules) -> list[LayerGroup]:
    """Split layers of one kind into groups. A smaller page gets a larger block, so that all pages are equal."""
    own = layers[0].compute_page_bytes(block)
    if page % own and not rules.pads_pages:
        raise BadInput(
            f"{rules.name} cannot lay this model's KV cache out (pages of {own} and {page} bytes): use 0.24 or newer."
        )
    count = math.ceil(len(layers) / size)
    block, padded_page = (block, page) if page % own else (block * (page // own), 0)
    return [LayerGroup(layers[start::count], block, padded_page) for start in range(count)]
