"""What tests of several folders share. What needs more than this repository is tested when it is asked for by name."""

from pathlib import Path

from tests.evidence.played import archive, case, log, played

pytest_plugins = ["tests.costs"]

__all__ = ["archive", "case", "log", "played"]

APART = ("vllm", "hosts")
"""make test-vllm, make test-hosts."""


def pytest_ignore_collect(collection_path: Path, config) -> bool | None:
    if collection_path.parent != Path(__file__).parent or collection_path.name not in APART:
        return None
    return None if any(collection_path.name in Path(word).parts for word in config.args) else True
