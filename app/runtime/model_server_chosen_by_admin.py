"""A model server that an admin names on a page or over the API: ask what it can do, seat its models, use them."""

import asyncio
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.engines.endpoint_lineup import KEY_VARIABLE, ROLES, EndpointAddress, format_lineup, parse_endpoints
from app.engines.server_capabilities import EndpointReport, inspect_endpoint
from app.errors import BadInput, EngineError, Rejected, convert_bad_input_to_rejected
from app.events.event_field_types import Role
from app.runtime.address_lookup import Address, HostLookup, find_embedded_ipv4, resolve_host
from app.text.clean import clean_text

LINEUP_FILE = "own-server.toml"
INSPECT_SECONDS = 100.0
"""Time for all questions to one model together: the server may have to load it first."""
LOOKUP_SECONDS = 10.0
KEPT_SECONDS, MOST_KEPT = 900.0, 8
"""How long, and how many, answered inspections wait for their seats. Each holds a key."""
MOST_KEY = 1000


_METADATA = {ipaddress.ip_address(one) for one in ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254")}
"""Where clouds tell machines their secrets, beside the link-local addresses."""
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
"""Addresses that a network translates to IPv4 in a way of its own (RFC 8215)."""


@dataclass(frozen=True)
class ServerAddress:
    """What was typed about a server. The key is in no representation of it."""

    address: str
    model: str = ""
    key: str = field(default="", repr=False)


@dataclass(frozen=True)
class Inspection:
    id: str
    """Unguessable, so that only who asked can seat the models with its key."""
    server: ServerAddress
    base: str
    report: EndpointReport
    at: float


@dataclass(frozen=True)
class LineupChange:
    """A line-up that this process uses next, and the key for its engines."""

    path: str
    """Path of the line-up; empty for the one that the process started with."""
    title: str
    key: str = field(default="", repr=False)


def explain_forbidden(address: Address) -> str:
    """Return why Temper does not talk to an address, or an empty string. Private networks and loopback are allowed."""
    if inner := find_embedded_ipv4(address):
        return explain_forbidden(inner)
    if address.is_link_local or address in _METADATA:
        return "where clouds tell machines their secrets"
    if address in _LOCAL_NAT64:
        return "which stands for an IPv4 address that Temper cannot tell from it"
    return "no address of a server" if address.is_multicast or address.is_unspecified else ""


class OwnServer:
    """The inspections of one process, and the change of line-up that it waits for. It holds keys in memory only."""

    def __init__(self, lookup: HostLookup = resolve_host, clock: Callable[[], float] = time.monotonic) -> None:
        self._lookup, self._clock = lookup, clock
        self._kept: OrderedDict[str, Inspection] = OrderedDict()
        self._asking = False
        self.change: LineupChange | None = None
        self.requested = asyncio.Event()
        """Set once there is a change; the process acts on it when no run is in progress."""

    async def inspect(self, http: httpx.AsyncClient, server: ServerAddress) -> Inspection:
        """Ask the server. Raise Rejected, with the field at fault, if it cannot be used."""
        one = _parse_server_url_and_model_or_reject(server)
        report = await self._inspect_or_reject_if_already_asking(http, one, server.key)
        found = Inspection(secrets.token_urlsafe(16), server, one.base, report, self._clock())
        self._kept[found.id] = found
        self._forget_old_inspections()
        return found

    def require_inspection(self, inspection: str) -> Inspection:
        """Return an inspection. Raise Rejected if it is too old or unknown."""
        self._forget_old_inspections()
        if inspection not in self._kept:
            raise Rejected("inspection", "This was asked too long ago, or by a process that has ended: ask again.")
        return self._kept[inspection]

    async def write_and_request_lineup(
        self, http: httpx.AsyncClient, inspection: str, model_of_role: Mapping[Role, str], data: Path
    ) -> LineupChange:
        """Write the line-up for the models and request its use. Each other model of the server is asked, too."""
        asked = self.require_inspection(inspection)
        wanted = {role: model_of_role.get(role, "") or asked.report.model for role in ROLES}
        known = {asked.report.model: asked.report}
        for role, model in wanted.items():
            if model not in known:
                with convert_bad_input_to_rejected(role):
                    endpoint = EndpointAddress(asked.base, model)
                    known[model] = await self._inspect_or_reject_if_already_asking(http, endpoint, asked.server.key)
        seated = [
            (EndpointAddress(asked.base, model, tuple(role for role in ROLES if wanted[role] == model)), report)
            for model, report in known.items()
            if model in wanted.values()
        ]
        text = format_lineup(seated, KEY_VARIABLE if asked.server.key else "")
        path = await asyncio.to_thread(write_own_lineup, data, text)
        title = ", ".join(report.model for _, report in seated)
        self._kept.pop(inspection, None)
        return self.store_change_and_signal_request(
            LineupChange(str(path), f"{title} at {asked.base}", asked.server.key)
        )

    async def delete_lineup_and_request_original(self, data: Path) -> LineupChange:
        """Delete the written line-up, and request the use of the one that the process started with."""
        try:
            await asyncio.to_thread((data / LINEUP_FILE).unlink)
        except FileNotFoundError as exc:
            told = "No server of your own is in use: there is nothing to stop using."
            raise Rejected("", told, "not-found") from exc
        return self.store_change_and_signal_request(LineupChange("", "the line-up of the start"))

    def store_change_and_signal_request(self, change: LineupChange) -> LineupChange:
        self.change = change
        self.requested.set()
        return change

    async def _check_host(self, base: str) -> None:
        url = httpx.URL(base)
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                found = await self._lookup(url.host, url.port or (443 if url.scheme == "https" else 80))
        except (OSError, UnicodeError) as exc:  # a TimeoutError is an OSError
            host = clean_text(url.host, 100)
            raise Rejected("address", f"The name {host!a} is not known here: check the spelling.") from exc
        for address in found:
            if why := explain_forbidden(address):
                raise Rejected("address", f"{clean_text(url.host, 100)} leads to {address}, {why}: name another one.")

    async def _inspect_or_reject_if_already_asking(
        self, http: httpx.AsyncClient, endpoint: EndpointAddress, key: str
    ) -> EndpointReport:
        """Ask the server, once it is checked where its name leads now. The requests then resolve the name again."""
        if self._asking:
            raise Rejected("", "Temper is asking a server already: try again when that is done.", "busy")
        self._asking = True
        try:
            await self._check_host(endpoint.base)
            async with asyncio.timeout(INSPECT_SECONDS):
                return await inspect_endpoint(http, endpoint.base, key, endpoint.model)
        except TimeoutError as exc:
            late = f"{endpoint.base} gave no complete answer in {INSPECT_SECONDS:.0f} s"
            raise Rejected("address", f"{late}: load the model, then try again.") from exc
        except EngineError as exc:
            at_fault = "key" if "API key" in str(exc) else "model" if "It serves: " in str(exc) else "address"
            hint = " Enter the key again." if at_fault == "key" and key else ""
            raise Rejected(at_fault, clean_text(f"{exc}{hint}", 500)) from exc
        finally:
            self._asking = False

    def _forget_old_inspections(self) -> None:
        late = [name for name, one in self._kept.items() if self._clock() - one.at > KEPT_SECONDS]
        for name in [*late, *list(self._kept)[:-MOST_KEPT]]:
            self._kept.pop(name, None)


def _parse_server_url_and_model_or_reject(server: ServerAddress) -> EndpointAddress:
    """Return the address as --engine would read it. Raise Rejected for one that it would not take."""
    typed = server.address.strip()
    wrong = f"{clean_text(typed, 120)!a} is not an address: write http://HOST:PORT/v1."
    if "=" in typed.partition("://")[0] or "#" in typed:
        raise Rejected("address", wrong)
    try:
        [one] = parse_endpoints([typed])
        url = httpx.URL(one.base)
        usable = bool(url.host) and 0 < (url.port or 80) < 65536
    except (BadInput, httpx.InvalidURL) as exc:
        raise Rejected("address", wrong) from exc
    if not usable:
        raise Rejected("address", wrong)
    if len(server.key) > MOST_KEY or not (server.key.isascii() and (not server.key or server.key.isprintable())):
        raise Rejected("key", f"A key has at most {MOST_KEY} printable ASCII characters: enter it again.")
    return EndpointAddress(one.base, server.model.strip())


def write_own_lineup(data: Path, text: str) -> Path:
    """Write the line-up in one step, so that a start never reads a part of it. Return its path."""
    data.mkdir(parents=True, exist_ok=True)
    path = data / LINEUP_FILE
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
    return path.resolve()
