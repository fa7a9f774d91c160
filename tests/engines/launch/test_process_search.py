"""Whose socket it is that listens."""

import os
import socket
import subprocess
import sys

import pytest

from app.engines.launch.process_search import find_foreign_listener


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")]
)
def test_who_listens_where_a_request_to_this_machine_arrives_is_named_unless_it_is_ours(family, address):
    with socket.create_server((address, 0), family=family, dualstack_ipv6=family == socket.AF_INET6) as server:
        port = server.getsockname()[1]
        assert f"process {os.getpid()} (" in find_foreign_listener(port, ())
        assert find_foreign_listener(port, (os.getpid(),)) == ""
    assert find_foreign_listener(port, ()) == ""


def test_who_listens_at_another_address_is_not_in_the_way():
    """A request to 127.0.0.1 does not arrive there."""
    with socket.create_server(("127.0.0.2", 0)) as server:
        assert find_foreign_listener(server.getsockname()[1], ()) == ""


LISTENS = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1])), reuse_port=True):
    print("up", flush=True)
    sys.stdin.read()
"""


def test_another_process_beside_ours_on_the_same_port_is_seen():
    """As engines let others listen: by SO_REUSEPORT."""
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as ours:
        port = ours.getsockname()[1]
        line = [sys.executable, "-c", LISTENS, str(port)]
        with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout.readline() == b"up\n"
            assert f"process {other.pid} (" in find_foreign_listener(port, (os.getpid(),))
            assert find_foreign_listener(port, (os.getpid(), other.pid)) == ""
