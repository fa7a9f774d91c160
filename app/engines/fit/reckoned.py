"""What reckoning gives: numbers that each say where they come from, and a verdict."""

from dataclasses import dataclass

from app.events.words import Provenance


@dataclass(frozen=True)
class Reckoned:
    value: float | None
    """None is what cannot be reckoned, never 0."""
    provenance: Provenance
    source: str
    """The arithmetic or the measurement behind it."""


@dataclass(frozen=True)
class Fit:
    """One replica of one engine on its GPUs. Figures of memory are per GPU, of the fullest one."""

    name: str
    fits: bool
    says: str
    """The verdict in a sentence: by how much it fits or fails, and what to change."""
    missing_gib_per_gpu: Reckoned
    """0 when it fits."""
    weights_gib_per_gpu: Reckoned
    kv_pool_gib_per_gpu: Reckoned
    other_gib_per_gpu: Reckoned
    """CUDA graphs, activations, context: what is neither weights nor KV pool."""
    kv_tokens: Reckoned
    """What vLLM reports as the KV cache's size."""
    max_concurrency: Reckoned
    """Requests of max_model_len at a time."""
    largest_context: Reckoned
    """The largest max_model_len that would still boot."""
    limit_tok_s: Reckoned
    """One stream without speculation."""
    limit_with_speculation_tok_s: Reckoned
