"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from app.config import Settings

PACE = Settings.speed
RULES = "Comma-separated rule ids; all of the skill when left out."
Data = Annotated[Path, typer.Option(help="Folder for the database, the hosts and the logs.")]
LineupName = Annotated[str, typer.Option("--lineup", help="Name of a shipped line-up, or path to a line-up file.")]
Speed = Annotated[
    float, typer.Option(min=0, help="Pace of simulated engines: 1 is as measured on the GPUs, 0 as fast as it can.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")]
Address = Annotated[str, typer.Option("--host", help="Address to listen on; other than loopback it takes sign-in.")]
SignIn = Annotated[bool, typer.Option("--sign-in", help="Ask who comes, also on loopback: behind a proxy, always.")]
Proxy = Annotated[
    list[str] | None,
    typer.Option("--proxy", help="Address or network of a proxy before it: only what that forwards is believed."),
]
AuditSyslog = Annotated[str, typer.Option(help="HOST:PORT of a syslog that is told the head of the audit chain.")]
OidcIssuer = Annotated[str, typer.Option("--oidc", help="Issuer of an OpenID Connect provider to sign in by.")]
OidcClient = Annotated[str, typer.Option(help="Temper's client id there.")]
OidcSecretFrom = Annotated[str, typer.Option(help="Variable, or file, that holds the client's secret; never it.")]
OidcClaim = Annotated[str, typer.Option(help="Claim that becomes a person's name.")]
OidcRight = Annotated[str, typer.Option(help="Right of who comes for the first time: viewer, operator or admin.")]
OidcGroup = Annotated[
    list[str] | None,
    typer.Option("--oidc-group", help="GROUP=RIGHT, as often as needed: then groups alone say who comes in as what."),
]
OidcGroupsClaim = Annotated[str, typer.Option(help="Claim that lists a person's groups; a.b is b inside a.")]
OidcScope = Annotated[str, typer.Option(help="Scope to ask for besides openid, profile and email.")]
Otlp = Annotated[
    str,
    typer.Option(
        envvar="OTEL_EXPORTER_OTLP_ENDPOINT", help="http://HOST:4318 of an OpenTelemetry collector to tell; none is."
    ),
]
KeepDays = Annotated[
    float, typer.Option(min=0, help="Runs that ended more days ago shrink to their evidence; 0 keeps them whole.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON array, a row each.")]
RunId = Annotated[str, typer.Argument(help="The run, or the first characters of its id.")]
TokenFrom = Annotated[
    str, typer.Option(help="Variable, or file, that holds your token: where two people answer, each brings one.")
]
Reason = Annotated[str, typer.Option(help="Why; it goes into the log.")]
