"""Where a name leads, and whether that is a place that anybody may be sent to: a public address, and no other."""

import asyncio
import ipaddress
import socket

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_INSIDE = {
    "168.63.129.16": "the address at which Azure tells machines about themselves",
}
"""Public by the register, and not so where they are of use."""
_NETWORKS = tuple(
    ipaddress.ip_network(one) for one in ("192.0.0.0/24", "fec0::/10", "64:ff9b:1::/48", "100::/64", "5f00::/16")
)
"""Set aside for inside use, which Python's register does not say in every version."""
_CARRIES_IPV4 = (
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
"""Networks whose addresses stand for one of IPv4, and how far from the right it lies."""


class NotPublic(Exception):
    pass


async def lookup(host: str, port: int) -> list[Address]:
    """Asked once: what was looked at is what is connected to. Odd spellings of a number lead where libc says."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(at[0]).partition("%")[0]) for *_, at in found]


def not_public(address: Address) -> str:
    """Why nothing is sent there; empty where it is public."""
    if isinstance(address, ipaddress.IPv6Address):
        for network, right in _CARRIES_IPV4:
            if address in network and not (address.is_loopback or address.is_unspecified):
                return not_public(ipaddress.IPv4Address(int(address) >> right & 0xFFFFFFFF))
    if str(address) in _INSIDE:
        return _INSIDE[str(address)]
    for is_so, what in (
        (address.is_loopback, "this machine itself"),
        (address.is_unspecified, "this machine itself"),
        (address.is_link_local, "link-local, where clouds tell machines their secrets"),
        (address.is_multicast, "multicast"),
        (address.is_private, "a private network"),
        (any(address in network for network in _NETWORKS), "no public address"),
        (not address.is_global, "no public address"),
    ):
        if is_so:
            return what
    return ""


def chosen(host: str, found: list[Address], *, local: bool) -> Address:
    """All that a name leads to have to be public: which one is taken is the name server's choice."""
    for address in found:
        if not local and (why := not_public(address)):
            raise NotPublic(
                f"{host} leads to {address}, which is {why}: nothing is sent there unless an admin allows it "
                '(PATCH with {"local": true})'
            )
    return found[0]
