"""The database is restarted under two nodes in the middle of their runs: in order, at once, and killed."""

import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.nodes.conftest import Shared
from tests.nodes.test_takeover import HOSTS, RULES, ends_as, once, undisturbed
from tests.postgres import _free_port, _programs, _run, _user, _wait, new_database

__all__ = ["undisturbed"]

FURTHER = 40
"""Events between two restarts."""


class Restarted:
    """Synchronous as it comes: what was accepted is there after a restart."""

    def __init__(self, folder):
        self.folder, self.port, self.programs = folder, _free_port(), _programs()
        self.user = _user(folder)
        _run(
            self.user,
            self.programs / "initdb",
            "--username=temper",
            "--auth=trust",
            "-E",
            "UTF8",
            "-D",
            folder / "data",
        )
        self.start()

    @property
    def address(self):
        return f"postgresql://temper@127.0.0.1:{self.port}"

    def start(self):
        options = ["listen_addresses=127.0.0.1", "unix_socket_directories=", f"port={self.port}", "max_connections=150"]
        command = [self.programs / "postgres", "-D", self.folder / "data", *(w for one in options for w in ("-c", one))]
        with (self.folder / "log").open("a") as log:
            self.server = subprocess.Popen(command, user=self.user, stdout=log, stderr=log, cwd=self.folder)
        _wait(self.programs, self.port, self.server, self.folder / "log")

    def end(self, number):
        self.server.send_signal(number)
        self.server.wait(timeout=30)

    def restart(self, number):
        self.end(number)
        while True:
            try:
                return self.start()
            except AssertionError:  # after a kill its children still hold its memory
                assert "pre-existing shared memory block" in (self.folder / "log").read_text()


@pytest.fixture
def restarted():
    with TemporaryDirectory(prefix="temper-pg-", ignore_cleanup_errors=True) as name:
        made = Restarted(Path(name))
        yield made
        made.end(signal.SIGINT)


@pytest.mark.timeout(240)
def test_both_nodes_sit_it_out_and_every_run_ends_as_undisturbed_ones_do(restarted, tmp_path, undisturbed):
    shared = Shared(new_database(restarted.address), tmp_path / "data")
    with shared.node(speed=15) as one, shared.node(speed=15) as other:
        runs = [shared.ask(host, RULES) for host in HOSTS[:4]]
        shared.until(lambda: {shared.owner(run) for run in runs} == {one.node, other.node})
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            further = sum(shared.store.head(run) for run in runs) + FURTHER
            shared.until(lambda further=further: sum(shared.store.head(run) for run in runs) > further)
            restarted.restart(number)
        shared.until(shared.ended)
        assert [one.child.poll(), other.child.poll()] == [None, None]
        assert "Traceback" not in one.log.read_text() + other.log.read_text()
    ends_as(shared, undisturbed)
    for run in runs:
        once(shared, run)
    shared.database.dispose()
