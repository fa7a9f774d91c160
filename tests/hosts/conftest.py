import os
from pathlib import Path

import pytest

from app.targets.rootfs.base import Base
from app.targets.rootfs.machine import Rootfs

KEPT = Path(os.environ.get("TEMPER_TEST_HOSTS", Path.home() / ".cache/temper-test-hosts"))
"""Bases outlive a test run: the first takes half a minute, the next nothing."""


@pytest.fixture(scope="module")
def machine():
    one = Rootfs(KEPT, f"test-{os.getpid()}")
    try:
        one.build(Base())
        one.start()
        yield one
    finally:
        one.discard()
