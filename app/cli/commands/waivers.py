"""Commands for waivers."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, Data
from app.config import Settings

app = typer.Typer()
waiver = typer.Typer(help="Findings that somebody answers for until a day.", no_args_is_help=True)
app.add_typer(waiver, name="waiver")


@waiver.command("add")
def waiver_add(
    rule: Annotated[str, typer.Argument(help="The rule, as its skill calls it.")],
    owner: Annotated[str, typer.Option(help="Who answers for it.")],
    reason: Annotated[str, typer.Option(help="Why it is not fixed.")],
    until: Annotated[str, typer.Option(help="The day on which it ends, like 2027-01-31; within a year.")],
    host: Annotated[str, typer.Option(help="Where; on every host when this and --group are left out.")] = "",
    group: Annotated[str, typer.Option(help="On the hosts of this group, whoever is in it when a run begins.")] = "",
    ticket: Annotated[str, typer.Option(help="Its number elsewhere.")] = "",
    skill: Annotated[str, typer.Option(help="What the rule is of.")] = "stig",
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
    waiver: Annotated[str, typer.Argument(help="The waiver's id.")],
    why: Annotated[str, typer.Option(help="Why it ends before its day.")],
    data: Data = Path("data"),
) -> None:
    """End a waiver early. It stays listed."""
    import getpass

    from app.cli.waiver import revoke_waiver

    revoke_waiver(Settings(data=data), waiver, getpass.getuser(), why)
