"""Commands for waivers."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, Data
from app.config import Settings

app = typer.Typer()
waiver = typer.Typer(help="Manage waivers: findings that an owner accepts until a date.", no_args_is_help=True)
app.add_typer(waiver, name="waiver")


@waiver.command("add")
def waiver_add(
    rule: Annotated[str, typer.Argument(help="Id of the rule.")],
    owner: Annotated[str, typer.Option(help="Owner of the waiver, who accepts the risk.")],
    reason: Annotated[str, typer.Option(help="Why the finding is not fixed.")],
    until: Annotated[
        str, typer.Option(help="Date on which the waiver ends, such as 2027-01-31; at most a year ahead.")
    ],
    host: Annotated[str, typer.Option(help="Apply to this host. Without --host and --group: every host.")] = "",
    group: Annotated[str, typer.Option(help="Apply to the hosts that are in this group when a run starts.")] = "",
    ticket: Annotated[str, typer.Option(help="Number of the ticket in another system.")] = "",
    skill: Annotated[str, typer.Option(help="Skill of the rule.")] = "stig",
    data: Data = Path("data"),
) -> None:
    """Waive a finding until a date. It stays a finding in all evidence and is open again on that date."""
    import getpass

    from app.cli.waiver import add_waiver
    from app.runs.waiver_changes import WaiverSpec

    words = {"rule": rule, "host": host, "owner": owner, "reason": reason, "ticket": ticket, "until": until}
    add_waiver(Settings(data=data), WaiverSpec(**words, group=group, skill=skill, by=getpass.getuser()))


@waiver.command("list")
def waiver_list(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the waivers, soonest end first."""
    from app.cli.waiver import list_waivers

    list_waivers(Settings(data=data), as_json=as_json)


@waiver.command("end")
def waiver_end(
    waiver: Annotated[str, typer.Argument(help="Id of the waiver.")],
    why: Annotated[str, typer.Option(help="Why the waiver ends early.")],
    data: Data = Path("data"),
) -> None:
    """End a waiver early. It stays listed."""
    import getpass

    from app.cli.waiver import revoke_waiver

    revoke_waiver(Settings(data=data), waiver, getpass.getuser(), why)
