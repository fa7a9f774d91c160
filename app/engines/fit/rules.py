"""What vLLM does otherwise from one version to the next, where memory depends on it. Read from its sources."""

import re
from dataclasses import dataclass

from app.errors import BadInput

NEWEST = (0, 33, 0)


@dataclass(frozen=True)
class Rules:
    version: tuple[int, int, int]
    said: bool
    """Whether a version was named at all."""

    @property
    def name(self) -> str:
        return "vLLM " + ".".join(map(str, self.version)) if self.said else "a current vLLM"

    @property
    def utilization(self) -> float:
        return 0.92 if self.version >= (0, 20, 0) else 0.9

    @property
    def graphs_counted(self) -> bool:
        """CUDA graphs are taken off the KV pool before it is made."""
        return self.version >= (0, 20, 0)

    @property
    def tokens_by_concurrency(self) -> bool:
        """The size that is logged is concurrency x max_model_len; before, blocks // groups x block size."""
        return self.version >= (0, 20, 1)

    @property
    def media_in_one_batch(self) -> bool:
        """max_num_batched_tokens is raised to what one video of a model takes that looks both ways at images."""
        return self.version >= (0, 22, 0)

    @property
    def pads_pages(self) -> bool:
        """A page that does not divide the largest one is padded; before, vLLM refuses the model."""
        return self.version >= (0, 24, 0)

    @property
    def batches_overlap(self) -> bool:
        """A sliding layer keeps room for every batch in flight; before, for one."""
        return self.version >= (0, 26, 0)

    @property
    def largest_batches(self) -> bool:
        """Cards of 160 GiB and more batch 16,384 tokens by default."""
        return self.version >= (0, 28, 0)

    @property
    def null_block_reserved(self) -> bool:
        """The check whether one request fits leaves one block out."""
        return self.version >= (0, 29, 0)

    @property
    def shared_layers_project_kv(self) -> bool:
        """Gemma layers that use another layer's KV cache still hold K and V projections."""
        return self.version < (0, 30, 0)

    @property
    def gemma4_pipeline_crashes(self) -> bool:
        return self.version < (0, 21, 0)


def rules_of(version: str) -> Rules:
    if not version:
        return Rules(NEWEST, said=False)
    if not (found := re.fullmatch(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:[.+-]?[a-z][\w.+-]*)?", version)):
        raise BadInput(f"{version!r} is not a version of vLLM: write it like 0.25.1.")
    major, minor, patch = (int(part or 0) for part in found.groups())
    return Rules((major, minor, patch), said=True)
