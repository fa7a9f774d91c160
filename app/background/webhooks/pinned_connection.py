"""The HTTP connection to one webhook while its deliveries are sent, and the check that its address is public."""

import asyncio
import ipaddress

import httpx

from app.background.webhooks.delivery_body_and_signature import Delivery
from app.runtime.address_lookup import Address, HostLookup, find_embedded_ipv4, resolve_host

_INSIDE = {"168.63.129.16": "the address at which Azure tells machines about themselves"}
"""Addresses that are public by registry but internal in a cloud."""
_NETWORKS = tuple(
    ipaddress.ip_network(one) for one in ("192.0.0.0/24", "fec0::/10", "64:ff9b:1::/48", "100::/64", "5f00::/16")
)
"""Reserved networks that Python's `ipaddress` does not know in every version."""


class AddressNotPublic(Exception):
    pass


def explain_not_public(address: Address) -> str:
    """Return why an address is not public, or an empty string."""
    if inner := find_embedded_ipv4(address):
        return explain_not_public(inner)
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


def get_first_if_all_allowed(host: str, addresses: list[Address], *, allow_private: bool) -> Address:
    """Return the first address. Raise AddressNotPublic if any of them is not public and `allow_private` is off."""
    for address in addresses:
        if not allow_private and (why := explain_not_public(address)):
            raise AddressNotPublic(
                f"{host} leads to {address}, which is {why}: nothing is sent there unless an admin allows it "
                '(PATCH with {"local": true})'
            )
    return addresses[0]


class PinnedConnection:
    """Connect only to the address that was checked; use the name for Host, SNI and the certificate.

    Use contextlib.aclosing to close the connection."""

    def __init__(self, url: str, *, local: bool, patience: float, names: HostLookup = resolve_host) -> None:
        self._url, self._local, self._patience, self._names = url, local, patience, names
        # Ignore the environment's proxies: they would resolve the name again, without the check.
        self._http = httpx.AsyncClient(trust_env=False, follow_redirects=False)
        self._at: Address | None = None

    async def aclose(self) -> None:
        await self._http.aclose()

    async def post(self, delivery: Delivery) -> str:
        """Send a delivery. Return the problem, or an empty string on success."""
        try:
            async with asyncio.timeout(self._patience):  # httpx limits each read, not the whole request
                url = httpx.URL(self._url)
                if self._at is None:
                    found = await self._names(url.host, url.port or (443 if url.scheme == "https" else 80))
                    self._at = get_first_if_all_allowed(url.host, found, allow_private=self._local)
                headers = {**delivery.headers, "host": url.netloc.decode("ascii")}
                there = url.copy_with(host=str(self._at))
                named = {"sni_hostname": url.raw_host.decode("ascii")}
                async with self._http.stream(
                    "POST", there, content=delivery.body, headers=headers, timeout=self._patience, extensions=named
                ) as answer:
                    return "" if answer.is_success else f"it answered {answer.status_code}"
        except TimeoutError:
            return f"it did not answer within {self._patience:g} s"
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as exc:
            return f"it is unreachable: {exc or type(exc).__name__}"
