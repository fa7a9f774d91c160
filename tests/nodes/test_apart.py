"""Nodes with only the database in common: each has a data folder of its own, and the host is reached over SSH."""

import signal

from app.targets import host_registry
from app.targets.host_registry import open_target
from tests.nodes.test_takeover import once
from tests.targets.ssh.conftest import host

__all__ = ["host"]

RULE = "V-257981"
"""Its first attempt is vetoed and taken back; its second holds."""


def test_a_node_frozen_in_mid_change_is_taken_over_from_at_once_and_refused_by_the_host(shared, host, tmp_path):
    host_registry.register_host(shared.data / "hosts", "web", host.endpoint(), host.known_host, "SHA256:x")
    elsewhere = tmp_path / "elsewhere"
    with shared.node(speed=6) as one:
        run = shared.ask("web", RULE)
        shared.until(lambda: any(shared.store.read_events(run, kinds=["action.applying"])))
        one.send(signal.SIGSTOP)
        with shared.node(data=elsewhere) as other:
            shared.until(lambda: shared.owner(run) == other.node)
            shared.until(shared.ended, patience=180)
            stands = host.everything()
            one.send(signal.SIGCONT)
            shared.until(lambda: "gave" in one.log.read_text())
            shared.until(lambda: shared.living() - {one.node, other.node})  # under a new name
    [row] = shared.rows()
    assert (row.state, row.passed) == ("finished", 1), row.reason
    once(shared, run)
    assert host.everything() == stands, "what was frozen did nothing more"
    assert [at.name for at in host_registry.list_hosts(elsewhere / "hosts")] == ["web"]
    target = open_target("web", elsewhere / "hosts")
    assert target.list_pending() == []
    target.close()


def test_a_built_in_host_stays_with_the_node_that_has_its_folder(shared, tmp_path):
    with shared.node(speed=6) as one:
        run = shared.ask("fixture", "V-257985")
        shared.until(lambda: shared.store.read_newest_seq(run) > 20)
        one.kill()
    with shared.node(data=tmp_path / "elsewhere") as other:
        shared.settle()
        asked = shared.ask("fixture-2", "V-257985")
        shared.until(lambda: any(row.id == asked and row.ended_at for row in shared.rows()))
        assert shared.owner(run) != other.node
        with shared.node() as back:
            shared.until(shared.ended)
            assert shared.owner(run) == back.node
