"""Resolve host names and check that their addresses are public."""

import asyncio
import ipaddress
import socket

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_INSIDE = {
    "168.63.129.16": "the address at which Azure tells machines about themselves",
}
"""Addresses that are public by registry but internal in a cloud."""
_NETWORKS = tuple(
    ipaddress.ip_network(one) for one in ("192.0.0.0/24", "fec0::/10", "64:ff9b:1::/48", "100::/64", "5f00::/16")
)
"""Reserved networks that Python's `ipaddress` does not know in every version."""
_CARRIES_IPV4 = (
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
"""IPv6 networks that embed an IPv4 address, with its offset in bits from the right."""


class AddressNotPublic(Exception):
    pass


async def resolve_host(host: str, port: int) -> list[Address]:
    """Resolve a host once, so that the checked address is the one connected to. libc parses odd number forms."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(at[0]).partition("%")[0]) for *_, at in found]


def explain_not_public(address: Address) -> str:
    """Return why an address is not public, or an empty string."""
    if isinstance(address, ipaddress.IPv6Address):
        for network, right in _CARRIES_IPV4:
            if address in network and not (address.is_loopback or address.is_unspecified):
                return explain_not_public(ipaddress.IPv4Address(int(address) >> right & 0xFFFFFFFF))
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


def choose_address(host: str, found: list[Address], *, local: bool) -> Address:
    """Return the first address. Raise AddressNotPublic if any of them is not public and `local` is off."""
    for address in found:
        if not local and (why := explain_not_public(address)):
            raise AddressNotPublic(
                f"{host} leads to {address}, which is {why}: nothing is sent there unless an admin allows it "
                '(PATCH with {"local": true})'
            )
    return found[0]
