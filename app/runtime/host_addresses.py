"""Resolve host names, so that the addresses can be checked. Only a caller that connects to them is sure of them."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
HostLookup = Callable[[str, int], Awaitable[list[Address]]]
"""A function that resolves a host name and port to addresses."""


async def resolve_host(host: str, port: int) -> list[Address]:
    """Return the addresses of a host. libc parses odd number forms."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(at[0]).partition("%")[0]) for *_, at in found]
