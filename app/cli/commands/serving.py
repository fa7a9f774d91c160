"""Commands that serve the web application, run workers and start engines."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli import options
from app.config import Settings
from app.errors import BadInput
from app.own_environment_install_command import format_install_command

app = typer.Typer()
OnRootfs = Annotated[
    bool,
    typer.Option(
        "--rootfs",
        help="Harden a disposable Debian over SSH, with OpenSCAP as the scanner. Temper builds it on this machine.",
    ),
]
OnMachine = Annotated[
    bool,
    typer.Option(
        "--vm", help="Harden a disposable Debian in a virtual machine that boots. Temper builds it on this machine."
    ),
]
WholeBenchmark = Annotated[
    bool,
    typer.Option(
        "--whole",
        help="Run the whole benchmark of 316 rules on a disposable Debian, without a model: Temper tries the "
        "content's own proposals. With --vm: on a machine that boots, which takes an hour or more.",
    ),
]
MachineName = Annotated[
    str,
    typer.Option(
        help="With --rootfs or --vm: name of the machine, by default debian or debian12. Its run starts from its "
        "built state."
    ),
]


@app.command(name="demo")
def run_demo(
    port: options.Port = 8000,
    speed: options.Speed = options.PACE,
    data: options.Data = Path("data"),
    lineup: options.LineupName = "simulated",
    engine: options.Engines = None,
    no_run: Annotated[bool, typer.Option("--no-run", help="Serve the page without starting a run.")] = False,
    rootfs: OnRootfs = False,
    vm: OnMachine = False,
    whole: WholeBenchmark = False,
    real: Annotated[
        bool, typer.Option("--real", help="Use a small real model on the CPU (line-up cpu) for four rules.")
    ] = False,
    machine: MachineName = "",
    log_format: options.LogFormatName = "text",
) -> None:
    """Serve the web application and start a demo run. It uses the built-in host; an interrupted run resumes instead."""
    from app.cli.server_to_lineup import print_score_instructions, select_endpoints_as_lineup

    settings = Settings(data=data, port=port, lineup=lineup, speed=speed, log_format=log_format)
    settings = select_endpoints_as_lineup(settings, () if real else engine or ())

    # After the questions: what these bring in is imported in the background while the servers answer.
    import asyncio
    import getpass

    from app.cli.debian_demo import serve_debian_demo, serve_vm_demo
    from app.cli.real_model_demo import create_demo_run_order_for_lineup, select_cpu_lineup
    from app.cli.serve import serve_until_signal
    from app.cli.up import follow_cold_starts
    from app.runs.order import Order

    settings = select_cpu_lineup(settings) if real else settings
    if vm:
        serve_vm_demo(settings, machine or "debian12", starts_run=not no_run, whole=whole)
    elif rootfs or whole:
        serve_debian_demo(settings, machine or "debian", start=not no_run, whole=whole)
    else:
        by = getpass.getuser()
        demo = Order(mode="auto", pace=speed, note="demo", by=by)
        order = create_demo_run_order_for_lineup(settings, by) if real or engine else demo
        beside = follow_cold_starts if real else None
        asyncio.run(serve_until_signal(settings, first_order=None if no_run else order, side_task=beside))
        if len(engine or ()) == 1:
            print_score_instructions((engine or [""])[0])


@app.command(name="serve")
def serve_app(
    ctx: typer.Context,
    port: options.Port = 8000,
    address: options.Address = "127.0.0.1",
    sign_in: options.SignIn = False,
    proxy: options.Proxy = None,
    audit_syslog: options.AuditSyslog = "",
    otlp: options.Otlp = "",
    oidc: options.OidcIssuer = "",
    oidc_client: options.OidcClient = "temper",
    oidc_secret_from: options.OidcSecretFrom = "",
    oidc_claim: options.OidcClaim = "preferred_username",
    oidc_right: options.OidcRight = "viewer",
    oidc_group: options.OidcGroup = None,
    oidc_groups_claim: options.OidcGroupsClaim = "groups",
    oidc_scope: options.OidcScope = "",
    keep_days: options.KeepDays = 0.0,
    attach: options.Attach = False,
    speed: options.Speed = options.PACE,
    data: options.Data = Path("data"),
    lineup: options.LineupName = "simulated",
    engine: options.Engines = None,
    log_format: options.LogFormatName = "text",
) -> None:
    """Serve the web application and API, and work on runs."""
    import asyncio

    from app.cli.listening_socket import parse_trusted_proxies
    from app.cli.serve import serve_until_signal
    from app.cli.server_to_lineup import select_endpoints_as_lineup, select_lineup_file_chosen_on_page
    from app.people.identity_provider_groups import parse_group_right_pairs
    from app.people.rights import parse_right

    settings = Settings(
        data=data,
        host=address,
        port=port,
        sign_in=sign_in,
        proxies=parse_trusted_proxies(proxy or []),
        audit_syslog=audit_syslog,
        otlp=otlp,
        oidc=oidc,
        oidc_client=oidc_client,
        oidc_secret_from=oidc_secret_from,
        oidc_claim=oidc_claim,
        oidc_right=parse_right(oidc_right),
        oidc_groups=parse_group_right_pairs(oidc_group or []),
        oidc_groups_claim=oidc_groups_claim,
        oidc_scope=oidc_scope,
        keep_days=keep_days,
        attach=attach,
        lineup=lineup,
        speed=speed,
        log_format=log_format,
    )
    source = ctx.get_parameter_source("lineup")
    chosen = bool(engine) or (source is not None and source.name != "DEFAULT")
    settings = select_lineup_file_chosen_on_page(
        select_endpoints_as_lineup(settings, engine or ()), is_lineup_given=chosen
    )
    asyncio.run(serve_until_signal(settings))


@app.command(name="worker")
def run_worker(
    attach: options.Attach = False,
    keep_days: options.KeepDays = 0.0,
    speed: options.Speed = options.PACE,
    data: options.Data = Path("data"),
    lineup: options.LineupName = "simulated",
    log_format: options.LogFormatName = "text",
) -> None:
    """Work on runs without a web server. The worker is a node on the database in TEMPER_DATABASE_URL."""
    import asyncio

    from app.cli.serve import work_until_signal

    settings = Settings(
        data=data, attach=attach, lineup=lineup, speed=speed, keep_days=keep_days, kind="worker", log_format=log_format
    )
    asyncio.run(work_until_signal(settings))


@app.command(name="up")
def start_engines_and_serve(
    lineup: Annotated[str, typer.Argument(help="Name of a shipped line-up, or path to a line-up file.")] = "",
    engine: options.Engines = None,
    papers: Annotated[
        str, typer.Option("--print", help="Start nothing; print the configuration that does: systemd or compose.")
    ] = "",
    into: Annotated[Path | None, typer.Option(help="With --print: folder to write the files to.")] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Start the line-up even if the doctor reports that it will not start.")
    ] = False,
    port: options.Port = 8000,
    address: options.Address = "127.0.0.1",
    sign_in: options.SignIn = False,
    proxy: options.Proxy = None,
    data: options.Data = Path("data"),
    log_format: options.LogFormatName = "text",
) -> None:
    """Start engines and the web application. Prints each step of the cold starts. With --engine, use
    servers that are already running."""
    from app.cli.listening_socket import parse_trusted_proxies
    from app.cli.up import print_unit_files, select_lineup_or_endpoints, start_lineup_and_serve

    settings = Settings(
        data=data,
        host=address,
        port=port,
        sign_in=sign_in,
        proxies=parse_trusted_proxies(proxy or []),
        lineup=lineup,
        log_format=log_format,
    )
    if papers:
        print_unit_files(settings, papers, into, engine or ())
    else:
        start_lineup_and_serve(select_lineup_or_endpoints(settings, engine or ()), anyway=anyway)


@app.command("mcp")
def serve_mcp_tools(
    url: Annotated[str, typer.Option(help="Address of Temper.")] = "http://127.0.0.1:8000",
    token_from: Annotated[
        str,
        typer.Option(
            help="Environment variable or file that holds a token of `temper token create`. Never give "
            "the token itself."
        ),
    ] = "",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve on http://127.0.0.1:PORT/mcp instead of stdin and stdout."),
    ] = None,
) -> None:
    """Serve MCP, the Model Context Protocol. Other agents can then read, plan, start reviewed runs and follow them."""
    try:
        from app.cli.mcp_server import serve_mcp
    except ModuleNotFoundError as exc:
        raise BadInput(f"{exc.name} is not installed. Run: {format_install_command('mcp>=2.3')}") from exc

    serve_mcp(url, token_from, port)
