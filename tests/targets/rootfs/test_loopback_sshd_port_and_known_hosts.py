"""Ports of disposable machines."""

import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest

from app.targets.rootfs import loopback_sshd_port_and_known_hosts
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import choose_port

EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


def listen_on(port):
    taken = socket.create_server(("127.0.0.1", port))
    return closing(taken)


def test_a_new_port_is_none_that_an_outgoing_connection_may_have():
    first = int(EPHEMERAL.read_text().split()[0])
    chosen = {choose_port(0) for _ in range(50)}
    assert max(chosen) < first
    assert len(chosen) > 40


def test_a_machine_keeps_its_port_while_it_is_free(monkeypatch):
    port = choose_port(0)
    assert choose_port(port) == port
    monkeypatch.setattr(loopback_sshd_port_and_known_hosts, "_PATIENCE", 0.2)
    with listen_on(port):
        assert choose_port(port) != port


def test_a_machine_that_was_just_ended_may_hold_its_port_for_a_moment(monkeypatch):
    port = choose_port(0)
    taken = socket.create_server(("127.0.0.1", port))
    looks = threading.Event()
    is_free = loopback_sshd_port_and_known_hosts._is_port_free

    def look(wanted):
        found = is_free(wanted)
        looks.set()
        return found

    def end():
        looks.wait()
        taken.close()

    monkeypatch.setattr(loopback_sshd_port_and_known_hosts, "_is_port_free", look)
    ending = threading.Thread(target=end)
    ending.start()
    assert choose_port(port) == port
    ending.join()


def test_a_machine_without_a_free_port_is_told_so(monkeypatch):
    monkeypatch.setattr(loopback_sshd_port_and_known_hosts, "_is_port_free", lambda _: False)
    with pytest.raises(loopback_sshd_port_and_known_hosts.EnvironmentUnusable, match="no free port"):
        choose_port(0)
