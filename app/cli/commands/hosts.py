"""Commands for hosts, SCAP content and schedules."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.commands import disposable_machines
from app.cli.options import RULES, AsJson, AtOnce, Data, EventsAsJson, Harmed, Recipes, Waves
from app.config import Settings

app = typer.Typer()
scap = typer.Typer(help="Manage SCAP content: data streams and tailorings.", no_args_is_help=True)
app.add_typer(scap, name="scap")
host_app = typer.Typer(help="Add, check and group hosts.", no_args_is_help=True)
app.add_typer(host_app, name="host")
app.add_typer(disposable_machines.rootfs_app, name="rootfs")
app.add_typer(disposable_machines.machine_app, name="machine")
plan = typer.Typer(help="Start runs on a schedule.", no_args_is_help=True)
app.add_typer(plan, name="schedule")


@app.command(name="scan")
def scan_with_openscap(
    host: Annotated[str, typer.Argument(help="Name of the host.")],
    content: Annotated[str, typer.Option(help="A data stream of this machine; see `temper scap list`.")],
    profile: Annotated[str, typer.Option(help="A profile of the data stream, by its long or short name.")],
    rule: Annotated[list[str] | None, typer.Option(help="A rule of the data stream. Repeat for more rules.")] = None,
    data: Data = Path("data"),
    as_json: AsJson = False,
) -> None:
    """Scan a host with OpenSCAP. Exits with 0 if every rule passes, 2 if a rule does not."""
    from app.cli.host_scan_and_scap_content import scan_host

    raise typer.Exit(scan_host(Settings(data=data), host, content, profile, rule or (), as_json=as_json))


@app.command(name="candidates")
def show_rule_candidates(
    rule: Annotated[str, typer.Argument(help="Id of the rule, for example V-257985.")],
    host: Annotated[str, typer.Option(help="Name of the host.")] = "fixture",
    skill: Annotated[str, typer.Option(help="The skill that has the rule; see `temper skills`.")] = "stig",
    recipes: Recipes = None,
    data: Data = Path("data"),
    as_json: AsJson = False,
) -> None:
    """List the proposed fixes for a rule on a host. They come from recipes and from the content.

    Exits with 0 if the policy accepts one of them, 2 if none."""
    from app.cli.fix_candidates_of_rule import print_candidates_and_get_acceptance_code

    settings = Settings(data=data, recipes=tuple(recipes or ()))
    raise typer.Exit(print_candidates_and_get_acceptance_code(settings, rule, host, skill, as_json=as_json))


@app.command(name="plan-run")
def forecast_host_run(
    host: Annotated[str, typer.Option(help="Name of the host.")] = "fixture",
    skill: Annotated[str, typer.Option(help="The skill to plan for; see `temper skills`.")] = "stig",
    rule: Annotated[list[str] | None, typer.Option(help="A rule of the skill. Repeat for more rules.")] = None,
    recipes: Recipes = None,
    data: Data = Path("data"),
    as_json: AsJson = False,
) -> None:
    """Scan a host and predict what a run would fix. Also lists the findings for a person, and changes nothing.

    Exits with 0 if the policy accepts a change for every finding, 2 if not."""
    from app.cli.finding_forecasts import print_forecasts_and_get_exit_code

    settings = Settings(data=data, recipes=tuple(recipes or ()))
    raise typer.Exit(print_forecasts_and_get_exit_code(settings, host, skill, rule or (), as_json=as_json))


@scap.command("list")
def scap_list(
    datastream: Annotated[str, typer.Argument(help="A data stream, by name or path. Default: list all.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the data streams of this machine, or the profiles of one."""
    from app.cli.host_scan_and_scap_content import print_datastreams_or_profiles

    print_datastreams_or_profiles(datastream, as_json=as_json)


@scap.command("add")
def scap_add(
    file: Annotated[Path, typer.Argument(help="A data stream, or the XCCDF file of a STIG, as XML or zip.")],
) -> None:
    """Add a data stream for scans, or a STIG for evidence. The evidence uses the STIG's ids and texts."""
    from app.cli.host_scan_and_scap_content import add_benchmark_file

    add_benchmark_file(file)


@scap.command("tailor")
def scap_tailor(
    file: Annotated[Path, typer.Argument(help="An xccdf:Tailoring file, as written by SCAP Workbench or autotailor.")],
    content: Annotated[str, typer.Option(help="The data stream that the file tailors; see `temper scap list`.")],
    name: Annotated[str, typer.Option(help="Name of the tailoring in Temper. Default: the file's name.")] = "",
) -> None:
    """Add a tailoring file: each of its profiles becomes a skill. A file that does not fit is rejected."""
    from app.cli.host_scan_and_scap_content import import_tailoring_file

    import_tailoring_file(file, content, name)


@scap.command("export")
def scap_export(
    skill: Annotated[str, typer.Option(help="Profile of a data stream: scap:CONTENT:PROFILE.")],
    host: Annotated[
        str, typer.Option(help="Export the decisions for this host. Without --host and --group: those for every host.")
    ] = "",
    group: Annotated[str, typer.Option(help="Export the decisions for this group.")] = "",
    rules: Annotated[str, typer.Option(help=RULES)] = "",
    out: Annotated[str, typer.Option(help="File to write, or - for stdout.")] = "",
    data: Data = Path("data"),
) -> None:
    """Export a host's or group's decisions as an xccdf:Tailoring. It has waivers, site values and a choice of rules."""
    from app.cli.host_scan_and_scap_content import write_tailoring
    from app.runs.waivers_and_values_as_tailoring import TailoringSpec

    write_tailoring(Settings(data=data), TailoringSpec(skill=skill, host=host, group=group, rules=rules), out)


@host_app.command("add")
def host_add(
    name: Annotated[str, typer.Argument(help="Name of the host in Temper.")],
    place: Annotated[str, typer.Argument(help="user@address or user@address:port.")],
    key: Annotated[Path | None, typer.Option(help="Log in with the private key in this file.")] = None,
    agent: Annotated[bool, typer.Option("--agent", help="Log in with the keys of the SSH agent.")] = False,
    password_from: Annotated[
        str, typer.Option(help="Environment variable or file that holds the password. Never give the password itself.")
    ] = "",
    known_hosts: Annotated[Path | None, typer.Option(help="Take the host key from this known_hosts file.")] = None,
    accept_key: Annotated[
        str, typer.Option(help="Accept the host key with this SHA256:… fingerprint. Default: ask.")
    ] = "",
    watch: Annotated[
        list[str] | None,
        typer.Option(help="Health check: a login, as user=KEYFILE, that must keep working. Repeat for more."),
    ] = None,
    data: Data = Path("data"),
) -> None:
    """Add a host over SSH. Temper asks you to confirm its host key, tests the login and checks the rollback."""
    from app.cli.host import NewHost, add_host

    new = NewHost(name, place, key, agent, password_from, known_hosts, accept_key, tuple(watch or ()))
    add_host(Settings(data=data), new)


@host_app.command("list")
def host_list(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the hosts with their addresses."""
    from app.cli.host import list_hosts

    list_hosts(Settings(data=data), as_json=as_json)


@host_app.command("check")
def host_check(
    name: Annotated[str, typer.Argument(help="Name of the host.")],
    undo: Annotated[
        bool, typer.Option("--undo", help="First roll back the change that is still open on the host.")
    ] = False,
    data: Data = Path("data"),
) -> None:
    """Log in to a host and run its health checks. Exits with 0 if it is healthy and no change is open, else with 2."""
    from app.cli.host import check_host

    raise typer.Exit(check_host(Settings(data=data), name, roll_back_open_changes=undo))


@host_app.command("reboot-check")
def check_host_after_reboot(
    name: Annotated[str, typer.Argument(help="The host that was rebooted.")],
    data: Data = Path("data"),
    as_json: EventsAsJson = False,
) -> None:
    """Check after a reboot whether the last run's changes hold. Exits with 0 if they all hold, else with 2."""
    from app.cli.harden import run_check_after_reboot

    raise typer.Exit(run_check_after_reboot(Settings(data=data), name, as_json=as_json))


@host_app.command("remove")
def host_remove(
    name: Annotated[str, typer.Argument(help="Name of the host.")],
    clean: Annotated[bool, typer.Option("--clean", help="First remove all of Temper's files from the host.")] = False,
    data: Data = Path("data"),
) -> None:
    """Remove a host from Temper. Only --clean changes the host itself; journals on this machine are kept."""
    from app.cli.host import remove_host

    remove_host(Settings(data=data), name, clean_up=clean)


@host_app.command("group")
def host_group(
    name: Annotated[str, typer.Argument(help="Name of the group.")],
    hosts: Annotated[
        list[str] | None,
        typer.Argument(help="The hosts of the group; they replace its former hosts. Default: list its hosts."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the group. Its hosts stay.")] = False,
    data: Data = Path("data"),
    as_json: AsJson = False,
) -> None:
    """Define a group of hosts, for temper run --hosts NAME."""
    from app.cli.host import print_hosts_of_group, remove_group, set_group_hosts

    settings = Settings(data=data)
    if remove:
        remove_group(settings, name)
    elif hosts:
        set_group_hosts(settings, name, hosts)
    else:
        print_hosts_of_group(settings, name, as_json=as_json)


@plan.command("add")
def schedule_add(
    host: Annotated[
        str, typer.Argument(help="A host. For a rollout: a pattern, a group, or several names separated by commas.")
    ],
    cron: Annotated[str, typer.Option(help='Start times in cron format, such as "30 2 * * 1-5".')],
    zone: Annotated[str, typer.Option(help="Time zone of the start times, such as Europe/Berlin.")] = "UTC",
    mode: Annotated[str, typer.Option(help="Mode: scan, dry-run, review or auto.")] = "scan",
    skill: Annotated[str, typer.Option(help="Skill to run.")] = "stig",
    rules: Annotated[str | None, typer.Option(help=RULES)] = None,
    window: Annotated[float | None, typer.Option(min=1, help="Minutes after which Temper stops the run.")] = None,
    at_once: AtOnce = 8,
    waves: Waves = "1,10%,rest",
    harmed: Harmed = 1,
    data: Data = Path("data"),
) -> None:
    """Scan or harden a host on a schedule."""
    import getpass

    from app.background.schedules.schedule_editing import ScheduleSpec
    from app.cli.schedule import add_schedule
    from app.runs.order import Order, split_at_commas_unless_none
    from app.runs.rollout.rollout_request import RolloutTerms

    order = Order(host=host, skill=skill, rules=split_at_commas_unless_none(rules), mode=mode, by=getpass.getuser())
    terms = RolloutTerms(at_once=at_once, waves=waves, harmed=harmed)
    add_schedule(
        Settings(data=data), ScheduleSpec(order=order, cron=cron, zone=zone, window_minutes=window, terms=terms)
    )


@plan.command("list")
def schedule_list(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the schedules with the next time and the last result of each."""
    from app.cli.schedule import list_schedules

    list_schedules(Settings(data=data), as_json=as_json)


def _add_schedule_verb(verb: str, summary: str) -> None:
    def schedule_verb(
        schedule: Annotated[str, typer.Argument(help="Id of the schedule.")], data: Data = Path("data")
    ) -> None:
        from app.cli.schedule import pause_resume_or_remove_schedule_and_print

        pause_resume_or_remove_schedule_and_print(Settings(data=data), schedule, verb)

    plan.command(verb, help=summary)(schedule_verb)


_add_schedule_verb("pause", "Pause a schedule. Its times do not count as missed.")
_add_schedule_verb("resume", "Resume a schedule from its next time.")
_add_schedule_verb("remove", "Remove a schedule. Its runs stay.")
