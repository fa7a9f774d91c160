"""Ports of disposable machines."""

import socket
from pathlib import Path

from app.targets.rootfs.ssh_access import choose_port

EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_a_new_port_is_none_that_an_outgoing_connection_may_have():
    first = int(EPHEMERAL.read_text().split()[0])
    chosen = {choose_port(0) for _ in range(50)}
    assert max(chosen) < first
    assert len(chosen) > 40


def test_a_machine_keeps_its_port_while_it_is_free():
    port = choose_port(0)
    assert choose_port(port) == port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        assert choose_port(port) != port
