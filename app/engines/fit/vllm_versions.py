"""Differences between vLLM versions that affect memory, read from its sources."""

import re
from dataclasses import dataclass

from app.errors import BadInput

NEWEST = (0, 33, 0)


class _Since:
    """A rule of all versions from the given one on."""

    def __init__(self, *version: int) -> None:
        self._version = version

    def __get__(self, rules: "VllmRules", _: object = None) -> bool:
        return rules.version >= self._version


@dataclass(frozen=True)
class VllmRules:
    version: tuple[int, int, int]
    has_version: bool
    """True if a version was given."""

    graphs_counted = _Since(0, 20, 0)
    """CUDA graphs are subtracted from the KV pool before it is created."""
    tokens_by_concurrency = _Since(0, 20, 1)
    """The logged size is concurrency x max_model_len; earlier, blocks // groups x block size."""
    gemma4_has_pipelines = _Since(0, 21, 0)
    """Pipeline stages work with Gemma 4; earlier, the engine crashes."""
    media_in_one_batch = _Since(0, 22, 0)
    """max_num_batched_tokens is raised to one video's tokens for models with bidirectional image attention."""
    pads_pages = _Since(0, 24, 0)
    """A page that does not divide the largest one is padded; earlier, vLLM refuses the model."""
    batches_overlap = _Since(0, 26, 0)
    """A sliding layer keeps room for every batch in flight; earlier, for one."""
    largest_batches = _Since(0, 28, 0)
    """GPUs of at least 160 GiB batch 16,384 tokens by default."""
    null_block_reserved = _Since(0, 29, 0)
    """The check that one request fits leaves one block out."""
    shared_layers_drop_kv = _Since(0, 30, 0)
    """Gemma layers that reuse another layer's KV cache hold no K and V projections."""

    @property
    def name(self) -> str:
        return "vLLM " + ".".join(map(str, self.version)) if self.has_version else "a current vLLM"

    @property
    def default_utilization(self) -> float:
        return 0.92 if self.version >= (0, 20, 0) else 0.9


def get_vllm_rules(version: str) -> VllmRules:
    if not version:
        return VllmRules(NEWEST, has_version=False)
    if not (found := re.fullmatch(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:[.+-]?[a-z][\w.+-]*)?", version)):
        raise BadInput(f"{version!r} is not a version of vLLM: write it like 0.25.1.")
    major, minor, patch = (int(part or 0) for part in found.groups())
    return VllmRules((major, minor, patch), has_version=True)
