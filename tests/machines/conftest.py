import asyncio
import os
import random

import pytest

from app.targets.vm.virtual_machine import VirtualMachine
from tests.hosts.conftest import KEPT
from tests.hosts.over_ssh import OverSsh


def pytest_addoption(parser):
    parser.addoption("--pulls", type=int, default=3, help="moments at which the plug of a machine is pulled")
    parser.addoption("--rule-files", type=int, help="generated files of audit rules to load")
    parser.addoption("--pulls-seed", type=int, default=1, help="other moments by another number")


@pytest.fixture
def moments(request):
    """The moments at which the plug is pulled, as shares of the time that a change takes."""
    dice = random.Random(request.config.getoption("--pulls-seed"))
    return [dice.uniform(0, 1.2) for _ in range(request.config.getoption("--pulls"))]


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


def ask_root(machine, script):
    """What root of the machine makes of a script. In software emulation a second's work takes half a minute."""
    ran = asyncio.run(OverSsh(machine.get_access()).run(["sh", "-c", script], 400))
    assert ran.code == 0, ran.stderr
    return ran.stdout.decode("utf-8", "surrogateescape").strip()


def may_root_log_in(machine):
    return asyncio.run(OverSsh(machine.get_access("root")).run(["true"], 400)).code == 0
