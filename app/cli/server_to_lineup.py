"""`--engine URL`: find out what a server can do, and write the line-up that uses it."""

import asyncio
import importlib
import os
import shlex
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx
from rich.console import Console
from rich.text import Text

from app.cli.output import print_json, print_line
from app.config import Settings
from app.engines.client import EngineClient
from app.engines.conformance import Check, check_conformance
from app.engines.endpoint_lineup import KEY_VARIABLE, EndpointAddress, contains_url, format_lineup, parse_endpoints
from app.engines.server_capabilities import EndpointReport, inspect_endpoint
from app.errors import BadInput, EngineError
from app.runtime import model_server_chosen_by_admin
from app.text.clean import clean_text

LINEUP_FILE = "endpoints.toml"


def select_endpoints_as_lineup(settings: Settings, addresses: Sequence[str]) -> Settings:
    """Return the settings with a line-up for the addresses, which is written to the data folder. Print what was found.

    Without addresses the settings stay. Raise BadInput if a server cannot be used.
    """
    if not addresses:
        return settings
    if settings.lineup not in ("", Settings.lineup):
        raise BadInput("Give --engine or --lineup, not both.")
    # Imported while the servers answer, because it takes two seconds.
    threading.Thread(target=importlib.import_module, args=("app.cli.serve",), daemon=True).start()
    found = [(one, inspect_address(one)) for one in parse_endpoints(addresses)]
    path = write_lineup(settings.data, found)
    console = Console(stderr=True, highlight=False)
    for one, report in found:
        print_report(one, report, console)
    console.print(Text(f"The line-up is in {path}."), soft_wrap=True)
    return replace(settings, lineup=str(path))


def select_lineup_file_chosen_on_page(settings: Settings, *, is_lineup_given: bool) -> Settings:
    """Return the settings with the line-up that was chosen on the page, unless this start chose one."""
    stored = settings.data / model_server_chosen_by_admin.LINEUP_FILE
    if is_lineup_given or not stored.is_file():
        return settings
    note = f"Using the line-up {stored}, which was chosen on the page. --lineup takes another one."
    Console(stderr=True, highlight=False).print(Text(note), soft_wrap=True)
    return replace(settings, lineup=str(stored.resolve()))


def parse_engine_addresses_and_none_or_lineup(values: Sequence[str] | None) -> tuple[list[str], str]:
    """Return the addresses among the words, and the other one: `none`, or `lineup` if there is no other."""
    addresses = [word for word in values or () if contains_url(word)]
    others = [word for word in values or () if not contains_url(word)]
    if len(others) > 1 or (others and addresses):
        raise BadInput("Give --engine none, or the addresses of servers, not both.")
    return addresses, others[0] if others else "lineup"


def inspect_address(endpoint: EndpointAddress) -> EndpointReport:
    """Ask the server. Raise BadInput with what to do if it does not answer or serves no model."""

    async def ask_server() -> EndpointReport:
        async with httpx.AsyncClient() as http:
            return await inspect_endpoint(http, endpoint.base, os.environ.get(KEY_VARIABLE, ""), endpoint.model)

    try:
        return asyncio.run(ask_server())
    except EngineError as exc:
        hint = f" If it needs a key, set {KEY_VARIABLE}." if "API key" in str(exc) else ""
        raise BadInput(clean_text(f"--engine {endpoint.base}: {exc}{hint}", 500)) from exc


def write_lineup(data: Path, inspected_endpoints: Sequence[tuple[EndpointAddress, EndpointReport]]) -> Path:
    data.mkdir(parents=True, exist_ok=True)
    path = data / LINEUP_FILE
    path.write_text(format_lineup(inspected_endpoints, KEY_VARIABLE if os.environ.get(KEY_VARIABLE) else ""))
    return path.resolve()


def print_report(endpoint: EndpointAddress, report: EndpointReport, console: Console) -> None:
    """Print what was found and what Temper does without what is missing."""
    roles = f", for the {', '.join(endpoint.roles)}" if endpoint.roles else ""
    console.print(Text(f"{endpoint.base}{roles}", style="bold"))
    for label, found, note in report.rows:
        line = f"  {label}: {found}" + (f" ({note})" if note else "")
        console.print(Text(clean_text(line, 300)), soft_wrap=True)


def print_score_instructions(address: str) -> None:
    """Print how to score the model of a demo and send the result in."""
    print_line(
        f"To score this model and send the result in: temper score {shlex.quote(address)} --public my-score.json\n"
        "It plays thirty rules on fresh hosts, three times; with --seeds 1 only once. docs/scores.md says more."
    )


def print_endpoint_capabilities(address: str, *, conformance: bool, as_json: bool) -> int:
    """Print what the server can do, and with `conformance` checks of it. Return 0, or 1 if Temper cannot use it."""
    [one] = parse_endpoints([address])
    report = inspect_address(one)
    checks = asyncio.run(_run_conformance_checks(report)) if conformance else []
    if as_json:
        print_json({"endpoint": report, "checks": checks})
    else:
        console = Console(highlight=False)
        print_report(one, report, console)
        for check in checks:
            word = "yes" if check.passed else "no "
            without = f"; without it: {check.without}" if check.without and not check.passed else ""
            console.print(Text(f"  {word} {check.name}: {check.detail or '—'}{without}"), soft_wrap=True)
    return 1 if any(check.is_needed and not check.passed for check in checks) else 0


async def _run_conformance_checks(report: EndpointReport) -> list[Check]:
    async with httpx.AsyncClient() as http:
        client = EngineClient(http, report.base, key=os.environ.get(KEY_VARIABLE, ""), dialect=report.dialect)
        return [check async for check in check_conformance(client, report)]
