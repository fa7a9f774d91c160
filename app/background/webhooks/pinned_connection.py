"""The HTTP connection to one webhook while its deliveries are sent."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import httpx

from app.background.webhooks.delivery import Delivery
from app.background.webhooks.public_address import Address, choose_address, resolve_host

AddressLookup = Callable[[str, int], Awaitable[list[Address]]]
"""A function that resolves a host name and port to addresses."""


class PinnedConnection:
    """Connect only to the address that was checked; use the name for Host, SNI and the certificate."""

    def __init__(self, url: str, *, local: bool, patience: float, names: AddressLookup = resolve_host) -> None:
        self._url, self._local, self._patience, self._names = url, local, patience, names
        # Ignore the environment's proxies: they would resolve the name again, without the check.
        self._http = httpx.AsyncClient(trust_env=False, follow_redirects=False)
        self._at: Address | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def post(self, sealed: Delivery) -> str:
        """Send a delivery. Return the problem, or an empty string on success."""
        try:
            async with asyncio.timeout(self._patience):  # httpx limits each read, not the whole request
                url = httpx.URL(self._url)
                if self._at is None:
                    port = url.port or (443 if url.scheme == "https" else 80)
                    self._at = choose_address(url.host, await self._names(url.host, port), local=self._local)
                headers = {**sealed.headers, "host": url.netloc.decode("ascii")}
                there = url.copy_with(host=str(self._at))
                named = {"sni_hostname": url.raw_host.decode("ascii")}
                async with self._http.stream(
                    "POST", there, content=sealed.body, headers=headers, timeout=self._patience, extensions=named
                ) as answer:
                    return "" if answer.is_success else f"it answered {answer.status_code}"
        except TimeoutError:
            return f"it did not answer within {self._patience:g} s"
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as exc:
            return f"it is unreachable: {exc or type(exc).__name__}"
