"""Model of vLLM's KV cache: groups of layers that share one pool of blocks, and the blocks per request."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from app.engines.fit.rules import Rules
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

    def page(self, block: int) -> int:
        return 2 * self.heads * self.head_dim * self.element * block


@dataclass(frozen=True)
class LayerGroup:
    """Layers that share one block table."""

    layers: tuple[CacheLayer, ...]
    block: int
    padded_page: int = 0

    def page(self, layer: CacheLayer) -> int:
        return self.padded_page or layer.page(self.block)

    def blocks(self, length: int, in_flight: int) -> int:
        if (window := self.layers[0].window) is None:
            return math.ceil(length / self.block)
        held = min(window - 1 + in_flight, length)
        return math.ceil(held / self.block) + 1  # the window can start inside a block


@dataclass(frozen=True)
class Cache:
    groups: tuple[LayerGroup, ...]
    in_flight: int
    """Tokens in flight whose blocks a sliding layer cannot free yet."""
    rules: Rules
    stages: tuple[range, ...]

    @property
    def block_bytes(self) -> int:
        """Bytes of one pool block, on the GPU where it is largest."""
        return max(
            sum(group.page(layer) for layer in group.layers if layer.index in stage)
            for stage in self.stages
            for group in self.groups
        )

    def blocks(self, pool: float) -> int:
        return max(0, int(pool // self.block_bytes))

    def request(self, length: int) -> int:
        """Return the most blocks that one request of this length holds."""
        return sum(group.blocks(length, self.in_flight) for group in self.groups)

    def concurrency(self, pool: float, length: int) -> float:
        return self.blocks(pool) / self.request(length)

    def tokens(self, pool: float, length: int) -> int:
        """Return the cache size in tokens that vLLM logs."""
        if self.rules.tokens_by_concurrency:
            return int(self.concurrency(pool, length) * length)
        return self.blocks(pool) // len(self.groups) * min(group.block for group in self.groups)

    def needed(self, length: int) -> int:
        """Return the bytes that vLLM needs to start with this max_model_len."""
        return (self.request(length) + self.rules.null_block_reserved) * self.block_bytes

    def longest(self, pool: float, most: int) -> int:
        """Return the largest max_model_len up to `most` that starts, or 0 if none does."""
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            if self.needed(middle) <= pool:
                low = middle
            else:
                high = middle - 1
        return low


def groups_of(layers: Iterable[CacheLayer], block: int, rules: Rules) -> tuple[LayerGroup, ...]:
    layers = tuple(layers)
    kinds = [tuple(same) for _, same in groupby(sorted(layers, key=_by_kind), key=lambda layer: layer.kind)]
    if len({layer.window for layer in layers}) == 1:
        return (LayerGroup(layers, block),)
    page = max(kind[0].page(block) for kind in kinds)
    size = _layers_per_group([len(kind) for kind in kinds])
    return tuple(group for kind in kinds for group in _cut(kind, size, block, page, rules))


def _by_kind(layer: CacheLayer) -> tuple[tuple[int, int, int], int]:
    return (layer.kind, layer.index)


def _layers_per_group(counts: list[int]) -> int:
    """Return the smallest count, or the largest if the counts differ by less than half, as vLLM does."""
    return max(counts) if max(counts) < 1.5 * min(counts) else min(counts)


def _cut(kind: tuple[CacheLayer, ...], size: int, block: int, page: int, rules: Rules) -> Iterable[LayerGroup]:
    """Split layers of one kind into groups. A smaller page gets a larger block, so that all pages are equal."""
    own = kind[0].page(block)
    if page % own and not rules.pads_pages:
        raise BadInput(
            f"{rules.name} cannot lay this model's KV cache out (pages of {own} and {page} bytes): use 0.24 or newer."
        )
    count = math.ceil(len(kind) / size)
    for start in range(count):
        if page % own:
            yield LayerGroup(kind[start::count], block, padded_page=page)
        else:
            yield LayerGroup(kind[start::count], block * (page // own))
