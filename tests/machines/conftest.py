import os

import pytest

from app.targets.vm.virtual_machine import VirtualMachine
from tests.hosts.conftest import KEPT


@pytest.fixture(scope="module")
def machine():
    """A machine that has booted; its image outlives the tests."""
    one = VirtualMachine(KEPT / "machines", f"test-{os.getpid()}")
    try:
        one.build()
        one.start()
        yield one
    finally:
        one.discard()
