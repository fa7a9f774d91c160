"""Limit open connections: in total, and of people who are not signed in per network."""

import ipaddress
import logging
from dataclasses import dataclass, field
from typing import Protocol, Self

from app.config import Network
from app.web.access.log_rate_limit import RepetitionCounter

log = logging.getLogger(__name__)

Networks = tuple[Network, ...]

ANONYMOUS_PER_NETWORK, ANONYMOUS_TOTAL = 128, 1024
RESERVE = 256
"""File descriptors left for everything else: database, hosts, engines."""
MOST = 8192


class Connection(Protocol):
    @property
    def is_idle(self) -> bool:
        """True while no request of this connection is being answered."""

    def abort(self) -> None: ...


@dataclass
class ConnectionLimiter:
    room: int = MOST
    of_strangers: int = ANONYMOUS_TOTAL
    of_a_peer: int = ANONYMOUS_PER_NETWORK
    proxies: Networks = ()
    """Reverse proxies: all their clients share one address, so the limit per network does not apply."""
    refused: int = 0
    _seldom: RepetitionCounter = field(default_factory=RepetitionCounter)
    _all: int = 0
    _strangers: dict[Connection, str] = field(default_factory=dict)
    """Connection to its network, oldest first."""
    _peers: dict[str, dict[Connection, None]] = field(default_factory=dict)

    @classmethod
    def create(cls, open_file_limit: int, proxies: Networks = (), *, only_operators: bool = False) -> Self:
        """`open_file_limit`: the process's limit of open files. `only_operators`: loopback without sign-in."""
        room = min(MOST, max(open_file_limit - RESERVE, open_file_limit // 4))
        strangers = room if only_operators else min(ANONYMOUS_TOTAL, room // 2)
        return cls(room, strangers, strangers if only_operators else ANONYMOUS_PER_NETWORK, proxies)

    def admit_connection_or_close_idle_one(self, connection: Connection, source: str) -> bool:
        """Register a connection. When full, close the longest idle one, or return False if none is idle."""
        place = to_network_key(source)
        peers = self._peers.setdefault(place, {})
        if not _is_in_networks(source, self.proxies) and len(peers) >= self.of_a_peer and not _close_oldest_idle(peers):
            return self._count_refusal_and_return_false(place)
        is_full = len(self._strangers) >= self.of_strangers or self._all >= self.room
        if is_full and not _close_oldest_idle(self._strangers):
            return self._count_refusal_and_return_false(place)
        self._all += 1
        self._strangers[connection] = place
        self._peers.setdefault(place, {})[connection] = None
        return True

    def mark_signed_in(self, connection: Connection) -> None:
        """The connection belongs to a signed-in person: it no longer counts against the anonymous limits."""
        place = self._strangers.pop(connection, None)
        if place is None:
            return
        peers = self._peers.get(place, {})
        peers.pop(connection, None)
        if not peers:
            self._peers.pop(place, None)

    def remove_connection(self, connection: Connection) -> None:
        self._all -= 1
        self.mark_signed_in(connection)

    def _count_refusal_and_return_false(self, network_key: str) -> bool:
        self.refused += 1
        if many := self._seldom.count("connection"):
            log.warning("connection refused: too many are open", extra={"source": network_key, "many": many})
        if not self._peers.get(network_key):
            self._peers.pop(network_key, None)
        return False


def _is_in_networks(source: str, networks: Networks) -> bool:
    try:
        address = ipaddress.ip_address(source)
    except ValueError:
        return False
    return any(address in one for one in networks)


def _close_oldest_idle(connections_oldest_first: dict[Connection, str] | dict[Connection, None]) -> bool:
    oldest = next((one for one in connections_oldest_first if one.is_idle), None)
    if oldest:
        oldest.abort()
    return oldest is not None


def to_network_key(source: str) -> str:
    """Return the IPv4 address or the IPv6 /64 network, since one IPv6 client has 2^64 addresses."""
    try:
        address = ipaddress.ip_address(source)
    except ValueError:
        return "somewhere"
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))
