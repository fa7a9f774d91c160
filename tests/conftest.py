"""What tests of several folders share. What needs more than this repository is tested when it is asked for by name."""

import gc
import logging
import os
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.workers import forked_from_one

pytest_plugins = ["tests.costs", "tests.thorough"]

APART = ("vllm", "hosts", "machines")
"""make test-vllm, make test-hosts, make test-machines."""
LONGEST = (
    "tests/nodes/test_takeover.py",
    "tests/upgrade/test_upgrade.py",
    "tests/browser/test_mission.py",
    "tests/nodes/test_restart.py",
    "tests/web/api/test_schema.py",
    "tests/web/api",
    "tests/test_faults.py",
    "tests/test_crash.py",
    "tests/test_cli.py",
    "tests/browser",
    "tests/test_secrets.py",
    "tests/test_thousand_answers.py",
    "tests/evidence/playbook/test_ansible_role.py",
    "tests/stranger",
    "tests/test_stories.py",
    "tests/differential",
    "tests/targets/test_hostile.py",
    "tests/targets/ssh",
    "tests/nodes",
    "tests/cli",
    "tests/web/access",
    "tests/test_wheel.py",
)
"""Begun first: a file is one worker's, and nobody is to wait at the end for one that came last."""
TOGETHER = ("tests/web/api/",)
"""All files of such a folder are one worker's: they share a server."""
ON_THEIR_OWN = ("tests/web/api/test_schema.py", "tests/web/api/test_openapi_examples.py")
"""Files of these that start one anyway, and take long."""
ONE_BY_ONE = ("tests/nodes/test_takeover.py",)
"""Their tests wait for long and share no server: they are any worker's."""


class ByServer(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        if file in ONE_BY_ONE:
            return nodeid
        return next((one for one in TOGETHER if file.startswith(one) and file not in ON_THEIR_OWN), file)


def pytest_configure(config):
    queue = logging.getLogger(
        "dbos"
    )  # would log to the standard error of the first test that needs it, even once closed
    queue.addHandler(logging.NullHandler())
    queue.propagate = False
    """Nobody out there is to be trusted: each client that a test makes would read in all authorities of the world.
    Whoever only hands out tests needs nothing of what these share, which takes seconds to import."""
    os.environ.pop("SSL_CERT_FILE", None)
    os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)
    if config.getoption("dist", "no") == "no":
        config.pluginmanager.import_plugin("tests.shared")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config):
    forked_from_one(config.invocation_params)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False  # else what has the fewest tests comes last, and one test may wait for long
    return ByServer(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three to a core: those that wait, for a process or for time to pass, leave theirs idle."""
    return 3 * len(os.sched_getaffinity(0))


def pytest_ignore_collect(collection_path: Path, config) -> bool | None:
    if collection_path.parent != Path(__file__).parent or collection_path.name not in APART:
        return None
    return None if any(collection_path.name in Path(word).parts for word in config.args) else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Nothing of what is read in becomes rubbish, and it is as much again as all that the tests make."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    @cache
    def turn(file):
        return next((at for at, name in enumerate(LONGEST) if file.startswith(name)), len(LONGEST))

    items.sort(key=lambda item: turn(item.nodeid.partition("::")[0]))
