"""Results of the estimation: numbers with their provenance, and a verdict."""

from dataclasses import dataclass
from typing import Any

from app.events.event_field_types import Provenance


@dataclass(frozen=True)
class Estimate:
    value: float | None
    """None if it cannot be estimated, never 0."""
    provenance: Provenance
    source: str
    """The calculation or the measurement behind it."""


@dataclass(frozen=True)
class Fit:
    """Estimate of one engine replica on its GPUs. Memory figures are those of the fullest GPU."""

    name: str
    fits: bool
    says: str
    """The verdict as a sentence: by how much it fits or fails, and what to change."""
    missing_gib_per_gpu: Estimate
    """0 if it fits."""
    weights_gib_per_gpu: Estimate
    kv_pool_gib_per_gpu: Estimate
    other_gib_per_gpu: Estimate
    """CUDA graphs, activations and context."""
    kv_tokens: Estimate
    """KV cache size that vLLM reports."""
    max_concurrency: Estimate
    """Concurrent requests of max_model_len."""
    largest_context: Estimate
    """Largest max_model_len that starts."""
    limit_tok_s: Estimate
    """One stream without speculation."""
    limit_with_speculation_tok_s: Estimate


def dump_fit(fit: Fit) -> dict[str, Any]:
    """Return an estimate as JSON data, each number with its provenance."""
    numbers = {name: value for name, value in vars(fit).items() if isinstance(value, Estimate)}
    return {
        "name": fit.name,
        "fits": fit.fits,
        "says": fit.says,
        **{name: None if one.value is None else round(one.value, 3) for name, one in numbers.items()},
        "provenance": {name: {"provenance": one.provenance, "source": one.source} for name, one in numbers.items()},
    }
