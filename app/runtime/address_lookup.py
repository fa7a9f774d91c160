"""Resolve host names, so that the addresses can be checked. Only a caller that connects to them is sure of them."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
HostLookup = Callable[[str, int], Awaitable[list[Address]]]
"""A function that resolves a host name and port to addresses."""
_CARRIES_IPV4 = (
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
"""IPv6 networks that embed an IPv4 address, with its offset in bits from the right."""


def find_embedded_ipv4(address: Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to, through NAT64 for example; None without one."""
    if isinstance(address, ipaddress.IPv6Address) and not (address.is_loopback or address.is_unspecified):
        for network, right in _CARRIES_IPV4:
            if address in network:
                return ipaddress.IPv4Address(int(address) >> right & 0xFFFFFFFF)
    return None


async def resolve_host(host: str, port: int) -> list[Address]:
    """Return the addresses of a host. libc parses odd number forms."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(at[0]).partition("%")[0]) for *_, at in found]
