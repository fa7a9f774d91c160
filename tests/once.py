"""What is built once in a whole run of the tests: by the worker that comes first, while the others wait for it."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def built_once(tmp_path_factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """A copy of the folder `name` that `build` filled: each worker has its own, and may write there."""
    base = tmp_path_factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    built, copy = common / f"{name}-built", base / name
    with (common / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            half = common / f"{name}-half"
            shutil.rmtree(half, ignore_errors=True)  # of a worker whose build failed
            half.mkdir()
            build(half)
            half.rename(built)
    if not copy.exists():
        shutil.copytree(built, copy, symlinks=True)
    return copy
