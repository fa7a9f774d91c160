"""Options that several commands share, and the secret that such an option names."""

import os
from pathlib import Path
from typing import Annotated

import typer

from app.cli.server_log import LogFormat, open_log
from app.config import Settings
from app.errors import BadInput

PACE = Settings.speed
RULES = "Comma-separated rule ids. Default: all rules of the skill."
Data = Annotated[Path, typer.Option(help="Folder for the database, the hosts and the logs.")]
Recipes = Annotated[
    list[Path] | None,
    typer.Option(
        help="Recipe file: rule ids and the actions to try for them. Repeat for more. See Skills in the documentation."
    ),
]
LineupName = Annotated[str, typer.Option("--lineup", help="Name of a shipped line-up, or path to a line-up file.")]
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        help="Server with OpenAI's API to use for all roles: http://HOST:PORT/v1, with #MODEL to choose a model. "
        "Use ROLE=URL#MODEL for one role, and repeat it for more. Temper reads the key from TEMPER_ENGINE_KEY.",
    ),
]
EnginesOrNone = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        help="Server with OpenAI's API (http://HOST:PORT/v1, URL#MODEL or ROLE=URL#MODEL; repeatable), or none: use no "
        "model, and try the fixes that the content proposes. Default: the line-up.",
    ),
]
Speed = Annotated[
    float,
    typer.Option(
        min=0, help="Pace of simulated engines: 1 is the pace measured on the GPUs, 0 means as fast as possible."
    ),
]
AtOnce = Annotated[int, typer.Option(min=1, max=1000, help="Rollout: maximum hosts at a time.")]
Waves = Annotated[str, typer.Option(help="Rollout: number of hosts in each wave.")]
Harmed = Annotated[int, typer.Option(min=0, help="Rollout: pause after this many harmed hosts; 0 means never.")]
EventsAsJson = Annotated[bool, typer.Option("--json", help="Print the events as JSON lines.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")]
Address = Annotated[
    str, typer.Option("--host", help="Address to listen on. Any address other than loopback requires sign-in.")
]
SignIn = Annotated[
    bool, typer.Option("--sign-in", help="Require sign-in on loopback too. Always use it behind a proxy.")
]
Proxy = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy", help="Address or network of a trusted reverse proxy. Temper ignores other forwarded headers."
    ),
]
AuditSyslog = Annotated[str, typer.Option(help="HOST:PORT of a syslog server that receives the head of the audit log.")]
OidcIssuer = Annotated[str, typer.Option("--oidc", help="Issuer of an OpenID Connect provider for sign-in.")]
OidcClient = Annotated[str, typer.Option(help="Temper's client id at the provider.")]
OidcSecretFrom = Annotated[
    str, typer.Option(help="Environment variable or file that holds the client secret. Never give the secret itself.")
]
OidcClaim = Annotated[str, typer.Option(help="Claim to use as the person's name.")]
OidcRight = Annotated[str, typer.Option(help="Right of people at their first sign-in: viewer, operator or admin.")]
OidcGroup = Annotated[
    list[str] | None,
    typer.Option(
        "--oidc-group",
        help="GROUP=RIGHT. Repeat for more; then groups alone decide who may sign in and with which right.",
    ),
]
OidcGroupsClaim = Annotated[str, typer.Option(help="Claim that lists a person's groups; a.b means b inside a.")]
OidcScope = Annotated[str, typer.Option(help="Scope to request besides openid, profile and email.")]
Otlp = Annotated[
    str,
    typer.Option(
        envvar="OTEL_EXPORTER_OTLP_ENDPOINT",
        help="Send telemetry to this OpenTelemetry collector: http://HOST:4318. Default: none.",
    ),
]
KeepDays = Annotated[
    float, typer.Option(min=0, help="Days after which ended runs shrink to their evidence; 0 keeps them whole.")
]
LogFormatName = Annotated[
    LogFormat,
    typer.Option(
        "--log-format",
        envvar="TEMPER_LOG_FORMAT",
        callback=open_log,
        help="Format of the server's log on standard error: text, or json with one object per line.",
    ),
]
Attach = Annotated[bool, typer.Option("--attach", help="Only observe the engines; another program starts them.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON array with an object for each row.")]
RunId = Annotated[str, typer.Argument(help="Id of the run, or its first characters.")]
TokenFrom = Annotated[
    str,
    typer.Option(
        help="Environment variable or file that holds your token. If two people must answer, each uses their own."
    ),
]
Out = Annotated[str, typer.Option(help="File to write, or - for stdout. Default: a name from the run's id.")]
Reason = Annotated[str, typer.Option(help="Reason; the log records it.")]


def read_secret(variable_or_file: str) -> str:
    """Return the secret in the environment variable or file `variable_or_file`. Raise BadInput if there is neither."""
    if (secret := os.environ.get(variable_or_file)) is not None:
        return secret.strip()
    try:
        return Path(variable_or_file).read_text().strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise BadInput(
            f"{variable_or_file[:80]!a} is neither an environment variable nor a readable file: give one of these."
        ) from exc
