"""Where the tests' processor time goes: `pytest --costs` tells it by folder, `--costs=FILE` writes it per test as well.

Processor time, not the clock's: that of the test's own process and of its children that have ended, so that a busy
machine tells the same as an idle one. A server that several tests share is counted with the test that ends it.
Beside it what the clock says: where that is far more on an idle machine, a test waits, and another could work.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

SHOWN = 30


def pytest_addoption(parser):
    parser.addoption("--costs", nargs="?", const="-", metavar="FILE", help="tell the processor time by folder")


def pytest_configure(config):
    path = config.getoption("costs")
    if path and path != "-" and not path.endswith(".json"):
        raise pytest.UsageError(f"--costs writes a .json, and {path} is none: put --costs last, or write --costs=FILE.")
    if path:
        config.pluginmanager.register(Costs(path), "told-costs")


def spent() -> tuple[float, float]:
    """By this process, and by its children that ended."""
    now = os.times()
    return now.user + now.system, now.children_user + now.children_system


class Costs:
    def __init__(self, path: str) -> None:
        self._path = path
        self._per_test = defaultdict(lambda: [0.0, 0.0, 0.0])
        self._before = spent()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Each part of a test brings along what it took since the one before."""
        outcome = yield
        now = spent()
        outcome.get_result().cost = [after - before for after, before in zip(now, self._before, strict=True)]
        self._before = now

    def pytest_runtest_logreport(self, report):
        kept = self._per_test[report.nodeid]
        for at, seconds in enumerate((*getattr(report, "cost", (0, 0)), report.duration)):
            kept[at] += seconds

    def pytest_terminal_summary(self, terminalreporter):
        if not self._per_test:
            return
        folders = defaultdict(lambda: [0, 0.0, 0.0, 0.0])
        for test, seconds in self._per_test.items():
            folder = _folder(test)
            folders[folder] = [one + more for one, more in zip(folders[folder], (1, *seconds), strict=True)]
        write = terminalreporter.write_line
        write("| where | tests | own s | children s | clock s |\n|---|---:|---:|---:|---:|")
        by_cost = sorted(folders.items(), key=lambda row: -row[1][1] - row[1][2])
        for folder, (count, own, children, clock) in by_cost[:SHOWN]:
            write(f"| {folder} | {count} | {own:.1f} | {children:.1f} | {clock:.1f} |")
        count, own, children, clock = (sum(column) for column in zip(*folders.values(), strict=True))
        whole = f"{(own + children) / 60:.1f} minutes of {clock / 60:.1f}"
        write(f"| all | {count} | {own:.1f} | {children:.1f} | {clock:.1f} |  = {whole}")
        if self._path != "-":
            Path(self._path).write_text(json.dumps(self._per_test, indent=1))


def _folder(test: str) -> str:
    """tests/web/access, tests/test_cli.py."""
    file = Path(test.split("::", maxsplit=1)[0])
    return str(file if len(file.parts) < 3 else file.parent)
