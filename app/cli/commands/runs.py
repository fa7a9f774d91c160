"""Commands for runs and their evidence."""

from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options
from app.config import Settings
from app.events.default_item_budget import ATTEMPTS_PER_ITEM, SECONDS_PER_ITEM
from app.store.run_list_filters_and_columns import NO_FILTERS, GivenFilters, RunFilter, accept_filters_as_parameters

if TYPE_CHECKING:
    from app.events.person_command import Verb  # msgspec comes with these, and help needs it not
    from app.runs.order import Order
    from app.runs.rollout.rollout_request import RolloutSpec

app = typer.Typer()
ModeName = Annotated[
    str | None,
    typer.Option(help="Mode: auto, review, dry-run or scan. Default: auto on the built-in host, review on others."),
]
RebootAtEnd = Annotated[
    bool,
    typer.Option(
        "--reboot",
        help="Reboot the host after the last item and check which fixes still hold. A person approves it, "
        "unless the host is a machine of temper machine.",
    ),
]
HostWords = Annotated[
    str, typer.Option(help="Start a rollout on these hosts: names, patterns, groups or all, separated by commas.")
]
Papers = Annotated[
    Path | None, typer.Option("--from", help="Take the open rules from this file: CKLB, CKL, XCCDF results or ARF.")
]
Consent = Annotated[
    str,
    typer.Option(
        "--without-rollback",
        help='Accept that changes cannot be rolled back: "I accept that HOST cannot be rolled back".',
    ),
]
Escalated = Annotated[
    float, typer.Option(min=0, max=100, help="Rollout: pause if more than this percentage of findings was escalated.")
]
Replay = Annotated[
    bool, typer.Option("--replay/--no-replay", help="First try fixes that passed on another host with the same files.")
]


@app.command(name="run")
def start_run(
    host: Annotated[str, typer.Option(help="Name of the host to harden.")] = "fixture",
    rules: Annotated[str | None, typer.Option(help=options.RULES)] = None,
    skill: Annotated[str, typer.Option(help="Skill to run; see `temper skills`, or scap:CONTENT:PROFILE.")] = "stig",
    mode: ModeName = None,
    speed: options.Speed = options.PACE,
    data: options.Data = Path("data"),
    lineup: options.LineupName = "simulated",
    as_json: options.EventsAsJson = False,
    keep: Annotated[bool, typer.Option("--keep", help="Do not reset the built-in host first.")] = False,
    attempts: Annotated[int, typer.Option(min=1, max=50, help="Maximum attempts per item.")] = ATTEMPTS_PER_ITEM,
    item_minutes: Annotated[float, typer.Option(min=0.01, help="Maximum minutes per item.")] = SECONDS_PER_ITEM / 60,
    note: Annotated[str, typer.Option(help="Note for the log.")] = "",
    papers: Papers = None,
    consent: Consent = "",
    hosts: HostWords = "",
    at_once: options.AtOnce = 8,
    waves: options.Waves = "1,10%,rest",
    harmed: options.Harmed = 1,
    escalated: Escalated = 100.0,
    replay: Replay = True,
    engine: options.EnginesOrNone = None,
    recipes: options.Recipes = None,
    reboot: RebootAtEnd = False,
    reboot_minutes: Annotated[float, typer.Option(min=0.1, help="Minutes until a rebooted host must be back.")] = 10,
) -> None:
    """Harden one host or many and follow the run. Exits with 0 if all rules passed, 2 if some did not, else with 1."""
    import asyncio
    import getpass

    from app.cli.harden import harden_host, restrict_order_to_open_rules
    from app.cli.rollout import run_rollout
    from app.cli.server_to_lineup import parse_engine_addresses_and_none_or_lineup, select_endpoints_as_lineup
    from app.events.event_field_types import Budget
    from app.runs.order import Order, require_choice_of_lineup_or_none, split_at_commas_unless_none

    addresses, choice = parse_engine_addresses_and_none_or_lineup(engine)
    asked = Settings(data=data, lineup=lineup, speed=speed, recipes=tuple(recipes or ()))
    settings = select_endpoints_as_lineup(asked, addresses)
    order = Order(
        host=host,
        skill=skill,
        rules=split_at_commas_unless_none(rules),
        mode=mode,
        keep=keep,
        budget=Budget(attempts=attempts, item_seconds=item_minutes * 60, reboot_seconds=reboot_minutes * 60),
        note=note,
        consent=consent,
        pace=speed,
        replay_fixes=replay,
        engine=require_choice_of_lineup_or_none(choice),
        reboot=reboot,
        by=getpass.getuser(),
    )
    order = restrict_order_to_open_rules(order, papers) if papers else order
    if hosts:
        rollout = _create_rollout_spec(order, hosts, at_once, waves, harmed, escalated)
        raise typer.Exit(asyncio.run(run_rollout(settings, rollout, as_json=as_json)))
    raise typer.Exit(asyncio.run(harden_host(settings, order, as_json=as_json)))


def _create_rollout_spec(
    order: "Order", hosts: str, at_once: int, waves: str, harmed: int, escalated: float
) -> "RolloutSpec":
    from app.runs.rollout.rollout_request import RolloutSpec, RolloutTerms

    terms = RolloutTerms(at_once=at_once, waves=waves, harmed=harmed, escalated=escalated)
    return RolloutSpec(order=order, hosts=(), words=hosts, terms=terms)


def _build_filter_parameter(run_filter: RunFilter) -> Parameter:
    annotation = Annotated[str | None, typer.Option(help=run_filter.option_help)]
    return Parameter(
        run_filter.option or run_filter.name, Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=annotation
    )


@app.command(name="runs")
@accept_filters_as_parameters(_build_filter_parameter)
def show_runs(
    filters: GivenFilters = NO_FILTERS,
    most: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Maximum number of results.")] = 50,
    data: options.Data = Path("data"),
    as_json: options.AsJson = False,
) -> None:
    """List the runs of this data folder, newest first."""
    from app.cli.run_list_and_labels import list_runs

    list_runs(Settings(data=data), filters, most, as_json=as_json)


@app.command(name="name")
def rename_run(
    run_id: options.RunId,
    called: Annotated[str | None, typer.Argument(help="New name of the run; an empty name removes it.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="A tag. Repeat for more; together they replace the run's tags.")
    ] = None,
    untag: Annotated[bool, typer.Option("--no-tags", help="Remove all tags.")] = False,
    data: options.Data = Path("data"),
) -> None:
    """Set the name and tags of a run."""
    from app.cli.run_list_and_labels import set_run_name_and_tags

    set_run_name_and_tags(Settings(data=data), run_id, called, [] if untag else tag)


@app.command(name="skills")
def show_skills(as_json: options.AsJson = False) -> None:
    """List the skills that --skill accepts."""
    from app.cli.skill_and_lineup_lists import list_skills

    list_skills(as_json=as_json)


def _add_run_verb(verb: "Verb", summary: str) -> None:
    def run_verb(run_id: options.RunId, data: options.Data = Path("data"), reason: options.Reason = "") -> None:
        from app.cli.run_control import record_run_command_in_database

        record_run_command_in_database(Settings(data=data), run_id, verb, reason)

    app.command(name=verb, help=summary)(run_verb)


_add_run_verb("pause", "Pause a run after the turn in progress.")
_add_run_verb("resume", "Resume a paused run.")
_add_run_verb("stop", "Stop a run. The turn ends at once, and a change in progress is rolled back.")


@app.command(name="approve")
def approve_change(
    run_id: options.RunId,
    data: options.Data = Path("data"),
    reason: options.Reason = "",
    token_from: options.TokenFrom = "",
) -> None:
    """Approve the change that a run is waiting for."""
    from app.cli.run_control import record_run_command_in_database

    record_run_command_in_database(Settings(data=data), run_id, "approve", reason, token_from)


@app.command(name="refuse")
def refuse_change(
    run_id: options.RunId, reason: options.Reason, data: options.Data = Path("data"), token_from: options.TokenFrom = ""
) -> None:
    """Refuse the change that a run is waiting for."""
    from app.cli.run_control import record_run_command_in_database

    record_run_command_in_database(Settings(data=data), run_id, "refuse", reason, token_from)


@app.command(name="verify")
def verify_anything(
    what: Annotated[
        str,
        typer.Argument(
            help="Id of a run or its first characters, an evidence.zip, a shared file, or audit for the audit log."
        ),
    ],
    head: Annotated[str | None, typer.Option(help="The chain head that you recorded earlier.")] = None,
    key: Annotated[
        str | None, typer.Option(help="Require this signing key: the public key, or a file that holds it.")
    ] = None,
    ca: Annotated[Path | None, typer.Option(help="Certificate of the authority that stamped a pack.")] = None,
    data: options.Data = Path("data"),
) -> None:
    """Verify a run, evidence, a score or the audit log. Evidence is a pack or a shared file.

    Exits with 0 if valid, 2 if not, and 3 if a pack, a shared file or a score is valid and no --key was given."""
    from app.cli.verify import UnusableOption, verify_by_kind

    try:
        raise typer.Exit(verify_by_kind(Settings(data=data), what, head, key, ca))
    except UnusableOption as exc:
        raise typer.BadParameter(str(exc)) from exc


@app.command(name="key")
def show_signing_key(
    change: Annotated[
        str, typer.Option("--change", help="Replace the key, with this reason. The old key is deleted.")
    ] = "",
    data: options.Data = Path("data"),
) -> None:
    """Print the public key that signs evidence. Pass it to temper verify --key to pin it."""
    from app.cli.evidence_export import print_or_change_signing_key

    print_or_change_signing_key(Settings(data=data), change)


@app.command(name="evidence")
def export_evidence(
    run_id: options.RunId,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="Format: zip, cklb, ckl, arf, xccdf, poam-csv, poam-json, poam-emass, oscal-poam, "
            "oscal-ar, ansible, bash, report.",
        ),
    ] = "zip",
    out: options.Out = "",
    data: options.Data = Path("data"),
) -> None:
    """Write the evidence of a finished run. That is a checklist, results, POA&M, the report, or the pack of all."""
    from app.cli.evidence_export import write_evidence

    write_evidence(Settings(data=data), run_id, form, out)


@app.command(name="share")
def share_run(
    run_id: options.RunId,
    file: Annotated[str, typer.Argument(help="File to write; - for stdout. Default: temper-RUN.html.")] = "",
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Include the prompts, which describe the host. Default: withheld.")
    ] = False,
    data: options.Data = Path("data"),
) -> None:
    """Write a finished run as one HTML file. It plays the run and checks its log, without a server or a network."""
    from app.cli.run_as_html_file import write_shared_file

    write_shared_file(Settings(data=data), run_id, file, prompts=prompts)


@app.command("export-ansible")
def export_ansible(run_id: options.RunId, out: options.Out = "", data: options.Data = Path("data")) -> None:
    """Write a run's passed changes as an Ansible role. The zip file also has a playbook."""
    from app.cli.evidence_export import write_evidence

    write_evidence(Settings(data=data), run_id, "ansible", out)
