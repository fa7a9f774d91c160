"""Writes the line-up for servers that somebody named by their addresses: which role asks which model, and how."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from app.engines.model_size_from_name import is_small_model
from app.engines.server_capabilities import EndpointReport, append_v1_unless_present
from app.errors import BadInput
from app.events.event_field_types import Role
from app.text.clean import clean_text

ROLES: tuple[Role, ...] = get_args(Role)
KEY_VARIABLE = "TEMPER_ENGINE_KEY"
"""Environment variable that holds the key for every server that somebody named. It is written nowhere."""
_SHARE_FOR_ANSWER = 4
_MOST_ANSWER: Mapping[Role, int] = {"architect": 3000, "worker": 3000, "auditor": 1200, "sentry": 1200}
_TEMPERATURE = 0.2
_NOTE = "Written by Temper from what the servers answered. Edit a copy, and give its path to --lineup."


@dataclass(frozen=True)
class EndpointAddress:
    """One address that was named: a server, the model that is wanted there, and the roles that it was named for."""

    base: str
    model: str = ""
    roles: tuple[Role, ...] = ()


def contains_url(word: str) -> bool:
    return "://" in word


def parse_endpoints(addresses: Sequence[str]) -> tuple[EndpointAddress, ...]:
    """Parse `URL`, `URL#MODEL` and `ROLE=URL#MODEL`; an address without a role takes the roles that no other has.

    Raise BadInput for a word that is none of these, a role that is named twice, and roles that nothing takes.
    """
    found = [_parse_http_url_with_optional_role(word) for word in addresses]
    taken = [role for one in found for role in one.roles]
    if twice := next((role for role in ROLES if taken.count(role) > 1), None):
        raise BadInput(f"--engine names the {twice} twice: give each role one address.")
    others = [one for one in found if not one.roles]
    if len(others) > 1:
        raise BadInput("--engine has two addresses without a role: write ROLE=URL for one of them.")
    free = tuple(role for role in ROLES if role not in taken)
    if free and not others:
        raise BadInput(f"--engine gives no address for the {' and the '.join(free)}: add one address without a role.")
    return tuple(one if one.roles else EndpointAddress(one.base, one.model, free) for one in found)


def _parse_http_url_with_optional_role(word: str) -> EndpointAddress:
    name, _, address = word.rpartition("=") if "=" in word.partition("://")[0] else ("", "", word)
    address, _, model = address.partition("#")
    if name and name not in ROLES:
        raise BadInput(f"--engine: {name[:40]!a} is not a role: write {', '.join(ROLES[:-1])} or {ROLES[-1]}.")
    if not re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", address):
        raise BadInput(
            f"--engine: {clean_text(word, 120)!a} is not an address: write http://HOST:PORT/v1; #MODEL chooses a model."
        )
    return EndpointAddress(append_v1_unless_present(address), model, tuple(role for role in ROLES if role == name))


def format_lineup(inspected_endpoints: Sequence[tuple[EndpointAddress, EndpointReport]], key_env: str = "") -> str:
    """Return the line-up as TOML. All texts of servers are cleaned and quoted."""
    where = ", ".join(f"{report.model} at {report.base.split('/')[2]}" for _, report in inspected_endpoints)
    parts = [f"title = {_quote_text(where)}", f"note = {_quote_text(_NOTE)}"]
    for number, (address, report) in enumerate(inspected_endpoints, 1):
        name = f"endpoint{number}" if len(inspected_endpoints) > 1 else "endpoint"
        parts.append(_format_engine(name, report, key_env))
        parts += [_format_seat(role, name, report) for role in address.roles]
    return "\n\n".join(parts) + "\n"


def _format_engine(name: str, report: EndpointReport, key_env: str) -> str:
    lines = [
        f"[engines.{name}]",
        f"title = {_quote_text(report.model)}",
        'kind = "openai"',
        f"model = {_quote_text(report.model)}",
        f"max_model_len = {report.context}  # {report.context_source}",
        f"base_urls = [{_quote_text(report.base)}]",
        f"structured = {str(report.structured).lower()}",
    ]
    if report.schema_form != "json_schema":
        lines.append(f'schema_form = "{report.schema_form}"')
    if not report.several:
        lines.append("max_num_seqs = 1  # it breaks answers off when another request comes")
    if report.program:
        lines.append(f"program = {_quote_text(report.program)}")
    if report.metrics:
        lines.append(f"metrics_urls = [{_quote_text(report.base.removesuffix('/v1') + '/metrics')}]")
    if key_env:
        lines.append(f"api_key_env = {_quote_text(key_env)}")
    return "\n".join(lines)


def _format_seat(role: Role, engine_name: str, report: EndpointReport) -> str:
    most = min(_MOST_ANSWER[role], report.context // _SHARE_FOR_ANSWER)
    lines = [f"[seats.{role}]", f'engine = "{engine_name}"', f"temperature = {_TEMPERATURE}", f"max_tokens = {most}"]
    if is_small_model(report.billions):
        lines.append("guided = true")
    return "\n".join(lines)


def _quote_text(text: str) -> str:
    return json.dumps(clean_text(text, 300))
