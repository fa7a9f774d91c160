"""What tests of several folders share. What needs more than this repository is tested when it is asked for by name."""

from pathlib import Path

import pytest

from tests.evidence.played import archive, case, log, played

__all__ = ["archive", "case", "log", "played"]

APART = ("vllm", "hosts")
"""make test-vllm, make test-hosts."""
SHARED = ("api",)
"""Servers that are started once for many files: whoever uses one of them is tested in the same process."""


def pytest_ignore_collect(collection_path: Path, config) -> bool | None:
    if collection_path.parent != Path(__file__).parent or collection_path.name not in APART:
        return None
    return None if any(collection_path.name in Path(word).parts for word in config.args) else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        used = [name for name in SHARED if name in getattr(item, "fixturenames", ())]
        item.add_marker(pytest.mark.xdist_group(used[0] if used else str(item.path)))
