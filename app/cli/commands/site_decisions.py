"""Commands for what a site decides: the inbox, waivers, site values and approval policies."""

import getpass
from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, Data
from app.config import Settings

app = typer.Typer()
waiver = typer.Typer(help="Manage waivers. An owner accepts a finding until a date.", no_args_is_help=True)
app.add_typer(waiver, name="waiver")
approvals = typer.Typer(help="Check the policy that says which changes need approval.", no_args_is_help=True)
app.add_typer(approvals, name="approvals")
parameter = typer.Typer(help="Set the values that rules leave to the site.", no_args_is_help=True)
app.add_typer(parameter, name="parameter")

Name = Annotated[str, typer.Argument(help="Name of the parameter; see `temper parameter list`.")]
Host = Annotated[str, typer.Option(help="Apply to this host. Without --host and --group: every host.")]
Group = Annotated[str, typer.Option(help="Apply to the hosts that are in this group when a run starts.")]
Skill = Annotated[str, typer.Option(help="Skill whose rules use the parameter.")]


@app.command("inbox")
def inbox_list(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List everything that waits for a person. That is approvals, findings, paused rollouts, failed hosts, waivers."""
    from app.cli.site_decisions import list_inbox

    list_inbox(Settings(data=data), as_json=as_json)


@waiver.command("add")
def waiver_add(
    rule: Annotated[str, typer.Argument(help="Id of the rule.")],
    owner: Annotated[str, typer.Option(help="Owner of the waiver, who accepts the risk.")],
    reason: Annotated[str, typer.Option(help="Why the finding is not fixed.")],
    until: Annotated[
        str, typer.Option(help="Date on which the waiver ends, such as 2027-01-31; at most a year ahead.")
    ],
    host: Host = "",
    group: Group = "",
    ticket: Annotated[str, typer.Option(help="Number of the ticket in another system.")] = "",
    skill: Annotated[str, typer.Option(help="Skill of the rule.")] = "stig",
    data: Data = Path("data"),
) -> None:
    """Waive a finding until a date. It stays a finding in all evidence and is open again on that date."""
    from app.cli.site_decisions import add_waiver
    from app.runs.waiver_changes import WaiverSpec

    words = {"rule": rule, "host": host, "owner": owner, "reason": reason, "ticket": ticket, "until": until}
    add_waiver(Settings(data=data), WaiverSpec(**words, group=group, skill=skill, by=getpass.getuser()))


@waiver.command("list")
def waiver_list(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the waivers, soonest end first."""
    from app.cli.site_decisions import list_waivers

    list_waivers(Settings(data=data), as_json=as_json)


@waiver.command("end")
def waiver_end(
    waiver: Annotated[str, typer.Argument(help="Id of the waiver.")],
    why: Annotated[str, typer.Option(help="Why the waiver ends early.")],
    data: Data = Path("data"),
) -> None:
    """End a waiver early. It stays listed."""
    from app.cli.site_decisions import revoke_waiver

    revoke_waiver(Settings(data=data), waiver, getpass.getuser(), why)


@approvals.command("check")
def approvals_check(
    file: Annotated[Path, typer.Argument(help="The policy file, as in TEMPER_APPROVALS.")], as_json: AsJson = False
) -> None:
    """Check a policy file. Prints how many approvals each kind of change needs."""
    from app.cli.site_decisions import check_approvals

    check_approvals(file, as_json=as_json)


@parameter.command("list")
def parameter_list(
    host: Annotated[str, typer.Option(help="Show the values in effect on this host.")] = "",
    skill: Skill = "stig",
    data: Data = Path("data"),
    as_json: AsJson = False,
) -> None:
    """List the parameters with bounds, values and hosts."""
    from app.cli.site_decisions import list_parameters

    list_parameters(Settings(data=data), skill, host, as_json=as_json)


@parameter.command("set")
def parameter_set(
    name: Name,
    value: Annotated[str, typer.Argument(help="The value. Leave it out with --file.")] = "",
    file: Annotated[
        Path | None, typer.Option(help="Read the value from this file, for example a notice of several lines.")
    ] = None,
    host: Host = "",
    group: Group = "",
    skill: Skill = "stig",
    data: Data = Path("data"),
) -> None:
    """Set a value. New runs use it: the scanner checks it, the roles see it, and the evidence contains it."""
    from app.cli.site_decisions import read_value, set_parameter_value
    from app.runs.site_values import ParameterSpec

    words = {"name": name, "value": read_value(value, file), "host": host, "group": group, "skill": skill}
    set_parameter_value(Settings(data=data), ParameterSpec(**words, by=getpass.getuser()))


@parameter.command("clear")
def parameter_clear(
    name: Name, host: Host = "", group: Group = "", skill: Skill = "stig", data: Data = Path("data")
) -> None:
    """Clear a value. The next value in order applies again: the group's, every host's, or the default."""
    from app.cli.site_decisions import clear_parameter_value
    from app.runs.site_values import ParameterSpec

    wish = ParameterSpec(name=name, host=host, group=group, skill=skill, by=getpass.getuser())
    clear_parameter_value(Settings(data=data), wish)
