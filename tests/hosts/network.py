"""Machines of a test's own that reach each other by wires which can be cut: network namespaces, and no address of ours.

Each machine is a namespace with a foot in up to two networks; the bridges stand in a namespace as well. So nothing of
this machine's own network is touched, and all of it is gone with its names.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

NETWORKS = {"database": "10.213.1", "hosts": "10.213.2"}
_BLOCKED, _OPEN = "0", "3"
"""States of a bridge's port: in the first it drops what comes from either side, and nobody is told."""


class Network:
    def __init__(self) -> None:
        self._name = f"temper-{os.getpid()}"
        self._machines: dict[str, int] = {}

    def machine(self, name: str, *networks: str) -> None:
        """With an address in each of these, the same number in all."""
        self._machines[name] = number = len(self._machines) + 1
        _do("ip", "netns", "add", self.space(name))
        self._in(name, "ip", "link", "set", "lo", "up")
        for network in networks:
            port, foot = f"{name}-{network}"[:15], network[:15]
            self._in(
                "wires", "ip", "link", "add", port, "type", "veth", "peer", "name", foot, "netns", self.space(name)
            )
            self._in("wires", "ip", "link", "set", port, "master", network, "up")
            self._in(name, "ip", "address", "add", f"{NETWORKS[network]}.{number}/24", "dev", foot)
            self._in(name, "ip", "link", "set", foot, "up")

    def address(self, name: str, network: str) -> str:
        return f"{NETWORKS[network]}.{self._machines[name]}"

    def space(self, name: str) -> str:
        return f"{self._name}-{name}"

    def within(self, name: str) -> tuple[str, ...]:
        """The words in front of a command that is to run there."""
        return ("nsenter", f"--net=/run/netns/{self.space(name)}")

    def cut(self, name: str, *networks: str) -> None:
        """As when somebody pulls the plug: both sides wait for an answer, and none is refused."""
        self._ports(name, networks, _BLOCKED)

    def mend(self, name: str, *networks: str) -> None:
        self._ports(name, networks, _OPEN)

    def lay(self) -> None:
        _do("ip", "netns", "add", self.space("wires"))
        for network in NETWORKS:
            self._in("wires", "ip", "link", "add", network, "up", "type", "bridge")

    def take_away(self) -> None:
        for name in (*self._machines, "wires"):
            subprocess.run(["ip", "netns", "del", self.space(name)], capture_output=True, check=False)

    def _ports(self, name: str, networks: tuple[str, ...], state: str) -> None:
        for network in networks:
            self._in("wires", "bridge", "link", "set", "dev", f"{name}-{network}"[:15], "state", state)

    def _in(self, name: str, *command: str) -> None:
        _do("ip", "netns", "exec", self.space(name), *command)


@contextmanager
def network() -> Iterator[Network]:
    _needs()
    one = Network()
    try:
        one.lay()
        yield one
    finally:
        one.take_away()


def _needs() -> None:
    """Told in words, instead of being skipped."""
    missing = [name for name in ("ip", "bridge", "nsenter", "unshare", "setpriv") if not shutil.which(name)]
    assert not missing, f"this test needs {', '.join(missing)}: apt-get install iproute2 util-linux"
    assert os.geteuid() == 0, "this test makes network namespaces, which only root may: run it as root"


def _do(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}; network namespaces cannot be had here"
