"""The database is restarted under two nodes in the middle of their runs: in order, at once, and killed."""

import signal

import pytest

from tests.nodes.conftest import RULES, Shared
from tests.nodes.test_takeover import HOSTS, ends_as, once
from tests.postgres import new_database, postgres

FURTHER = 40
"""Events between two restarts."""


@pytest.fixture
def restarted(postgres_folder):
    """Synchronous as it comes: what was accepted is there after a restart."""
    with postgres(like=postgres_folder) as server:
        yield server


def restart(server, number):
    server.end(number)
    while True:
        try:
            return server.start()
        except AssertionError:  # after a kill its children still hold its memory
            assert "pre-existing shared memory block" in server.said()


def test_both_nodes_sit_it_out_and_every_run_ends_as_undisturbed_ones_do(restarted, tmp_path, undisturbed):
    shared = Shared(new_database(restarted.address), tmp_path / "data")
    with shared.node(speed=15) as one, shared.node(speed=15) as other:
        shared.settle()
        runs = [shared.ask(host, RULES) for host in HOSTS[:4]]
        shared.until(lambda: {shared.owner(run) for run in runs} == {one.node, other.node})
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            further = sum(shared.store.read_newest_seq(run) for run in runs) + FURTHER
            shared.until(lambda further=further: sum(shared.store.read_newest_seq(run) for run in runs) > further)
            restart(restarted, number)
        shared.until(shared.ended)
        assert [one.child.poll(), other.child.poll()] == [None, None]
        assert "Traceback" not in one.log.read_text() + other.log.read_text()
    ends_as(shared, undisturbed)
    for run in runs:
        once(shared, run)
    shared.database.dispose()
