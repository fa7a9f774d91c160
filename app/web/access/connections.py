"""Limit open connections: in total, and of people who are not signed in per network."""

import ipaddress
from dataclasses import dataclass, field
from typing import Protocol

from app.config import Network
from app.web.access.throttle import network

Networks = tuple[Network, ...]

OF_A_PEER, OF_STRANGERS = 128, 1024
RESERVE = 256
"""File descriptors left for everything else: database, hosts, engines."""
MOST = 8192


class Connection(Protocol):
    @property
    def idle(self) -> bool:
        """True while no request of this connection is being answered."""

    def end(self) -> None: ...


@dataclass
class Connections:
    room: int = MOST
    of_strangers: int = OF_STRANGERS
    of_a_peer: int = OF_A_PEER
    proxies: Networks = ()
    """Reverse proxies: all their clients share one address, so the limit per network does not apply."""
    refused: int = 0
    _all: int = 0
    _strangers: dict[Connection, str] = field(default_factory=dict)
    """Connection to its network, oldest first."""
    _peers: dict[str, dict[Connection, None]] = field(default_factory=dict)

    @classmethod
    def of(cls, files: int, proxies: Networks = (), *, only_operators: bool = False) -> "Connections":
        """`files`: the process's limit of open files. `only_operators`: loopback without sign-in."""
        room = max(min(MOST, files - RESERVE), files // 4)
        strangers = room if only_operators else min(OF_STRANGERS, room // 2)
        return cls(room, strangers, strangers if only_operators else OF_A_PEER, proxies)

    def admits(self, one: Connection, source: str) -> bool:
        """Register a connection. When full, close the longest idle one, or return False if none is idle."""
        place = network(source)
        peers = self._peers.setdefault(place, {})
        if not _within(source, self.proxies) and len(peers) >= self.of_a_peer and not _make_room(peers):
            return self._refuse(place)
        if (len(self._strangers) >= self.of_strangers or self._all >= self.room) and not _make_room(self._strangers):
            return self._refuse(place)
        self._all += 1
        self._strangers[one] = place
        self._peers.setdefault(place, {})[one] = None
        return True

    def known(self, one: Connection) -> None:
        """The connection belongs to a signed-in person: it no longer counts against the anonymous limits."""
        place = self._strangers.pop(one, None)
        if place is not None:
            self._forget(one, place)

    def left(self, one: Connection) -> None:
        self._all -= 1
        self.known(one)

    def _forget(self, one: Connection, place: str) -> None:
        peers = self._peers.get(place, {})
        peers.pop(one, None)
        if not peers:
            self._peers.pop(place, None)

    def _refuse(self, place: str) -> bool:
        self.refused += 1
        if not self._peers.get(place):
            self._peers.pop(place, None)
        return False


def _within(source: str, networks: Networks) -> bool:
    try:
        address = ipaddress.ip_address(source)
    except ValueError:
        return False
    return any(address in one for one in networks)


def _make_room(among: dict[Connection, str] | dict[Connection, None]) -> bool:
    oldest = next((one for one in among if one.idle), None)
    if oldest:
        oldest.end()
    return oldest is not None
