"""Differences between vLLM versions that affect memory, read from its sources."""

import re
from dataclasses import dataclass

from app.errors import BadInput

NEWEST = (0, 33, 0)


@dataclass(frozen=True)
class VllmRules:
    version: tuple[int, int, int]
    has_version: bool
    """True if a version was given."""

    @property
    def name(self) -> str:
        return "vLLM " + ".".join(map(str, self.version)) if self.has_version else "a current vLLM"

    @property
    def default_utilization(self) -> float:
        return 0.92 if self.version >= (0, 20, 0) else 0.9

    @property
    def graphs_counted(self) -> bool:
        """CUDA graphs are subtracted from the KV pool before it is created."""
        return self.version >= (0, 20, 0)

    @property
    def tokens_by_concurrency(self) -> bool:
        """The logged size is concurrency x max_model_len; earlier, blocks // groups x block size."""
        return self.version >= (0, 20, 1)

    @property
    def media_in_one_batch(self) -> bool:
        """max_num_batched_tokens is raised to one video's tokens for models with bidirectional image attention."""
        return self.version >= (0, 22, 0)

    @property
    def pads_pages(self) -> bool:
        """A page that does not divide the largest one is padded; earlier, vLLM refuses the model."""
        return self.version >= (0, 24, 0)

    @property
    def batches_overlap(self) -> bool:
        """A sliding layer keeps room for every batch in flight; earlier, for one."""
        return self.version >= (0, 26, 0)

    @property
    def largest_batches(self) -> bool:
        """GPUs of at least 160 GiB batch 16,384 tokens by default."""
        return self.version >= (0, 28, 0)

    @property
    def null_block_reserved(self) -> bool:
        """The check that one request fits leaves one block out."""
        return self.version >= (0, 29, 0)

    @property
    def shared_layers_project_kv(self) -> bool:
        """Gemma layers that reuse another layer's KV cache still hold K and V projections."""
        return self.version < (0, 30, 0)

    @property
    def gemma4_pipeline_crashes(self) -> bool:
        return self.version < (0, 21, 0)


def find_vllm_rules(version: str) -> VllmRules:
    if not version:
        return VllmRules(NEWEST, has_version=False)
    if not (found := re.fullmatch(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:[.+-]?[a-z][\w.+-]*)?", version)):
        raise BadInput(f"{version!r} is not a version of vLLM: write it like 0.25.1.")
    major, minor, patch = (int(part or 0) for part in found.groups())
    return VllmRules((major, minor, patch), has_version=True)
