"""The wire to a host is cut, whatever is under way: it is found out by one limit, and by that alone."""

import socket

import pytest

from app.errors import ConnectionLost, LeaseLost
from app.targets.host_lock import Ownership
from app.targets.ssh import ssh_health_probes
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.connection_opening import NORMAL_TIMEOUTS, RECONNECT_TIMEOUTS, SECOND_LINE_TIMEOUTS, SHORT_TIMEOUTS
from tests.targets.ssh.wire import Wire

TAKES_OVER = 2.0
"""What it takes another node on a quiet machine from being offered a run to its first event: two looks into the queue,
and opening the run."""


class Nodes:
    """Those that share the host, as a line asks about them."""

    def __init__(self, others: bool = True) -> None:
        self.others, self.asked = others, 0

    def owned(self) -> Ownership:
        return Ownership(has_other_nodes=lambda: self.others, hand_over=self._yields)

    def _yields(self) -> bool:
        self.asked += 1
        return self.others


@pytest.fixture
def wire(host):
    made = Wire(host.port)
    yield made
    made.close()


@pytest.fixture
def lines(host, wire, tmp_path):
    known, made = tmp_path / "known_hosts", []
    known.write_text(host.known_host.replace(f":{host.port} ", f":{wire.port} "))

    def one(owned):
        made.append(SshConnection(host.endpoint(port=wire.port), known, owned=owned))
        return made[-1]

    yield one
    wire.close()
    for each in made:
        each.close()


def logins(host):
    return (host.folder / "sshd.log").read_text().count("Accepted publickey")


def test_the_waits_for_a_host_that_is_out_of_reach_leave_another_node_its_time():
    """The worst of each: at first, beside the main line, and once more after it was lost."""
    at_first = max(SHORT_TIMEOUTS.answer, SHORT_TIMEOUTS.login)
    lost = max(SHORT_TIMEOUTS.silence_limit, SECOND_LINE_TIMEOUTS.silence_limit) + max(
        RECONNECT_TIMEOUTS.answer, RECONNECT_TIMEOUTS.login
    )
    assert max(at_first, lost) + TAKES_OVER < 10
    assert min(SECOND_LINE_TIMEOUTS.login, NORMAL_TIMEOUTS.login) > 15, (
        "a host that is slow at letting in is none that is out of reach"
    )


def test_what_a_command_waits_for_ends_with_the_wire_and_another_node_has_it(lines, wire):
    nodes = Nodes()
    main = lines(nodes.owned())
    assert main.run_text("echo 1").text == "1\n"
    wire.cut()
    with pytest.raises(LeaseLost):
        main.run_text("echo 2", seconds=120)
    assert nodes.asked == 1


def test_a_login_into_a_cut_wire_ends_with_the_line_beside_it(lines, wire):
    main = lines(Nodes().owned())
    main.log_in()
    wire.cut()
    with pytest.raises(ConnectionLost, match="was cut while another was opened"):
        main.create_fresh_login_connection().log_in()


def test_a_login_that_takes_its_time_goes_on_for_as_long_as_the_line_beside_it_is_answered(host, lines, wire):
    main = lines(Nodes().owned())
    main.log_in()
    wire.holds_new = True
    main.create_fresh_login_connection().log_in()
    assert logins(host) == 2


def test_a_wire_that_is_cut_between_a_login_and_its_first_command_says_nothing_of_the_hosts_sudo(host, lines, wire):
    nodes = Nodes()
    main = lines(nodes.owned())
    main.become_root()
    wire.cut_when(lambda: logins(host) == 2)
    with pytest.raises(LeaseLost):
        ssh_health_probes.probe_new_login_and_sudo(main)
    assert nodes.asked == 1


def test_a_node_that_comes_in_mid_run_makes_the_lines_that_are_open_hurry(lines):
    nodes = Nodes(others=False)
    main = lines(nodes.owned())
    for others, patience in ((False, NORMAL_TIMEOUTS), (True, SHORT_TIMEOUTS), (False, NORMAL_TIMEOUTS)):
        nodes.others = others
        main.run_text(":")
        sock = main._connection.get_extra_info("socket")
        told = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert told == patience.silence_limit * 1000
        assert main._connection._keepalive_interval == patience.alive_every
