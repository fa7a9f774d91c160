"""Commands for site values of rules."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, Data
from app.config import Settings

app = typer.Typer()
parameter = typer.Typer(help="Set the values that rules leave to the site.", no_args_is_help=True)
app.add_typer(parameter, name="parameter")

Name = Annotated[str, typer.Argument(help="Name of the parameter; see `temper parameter list`.")]
Host = Annotated[str, typer.Option(help="Apply to this host. Without --host and --group: every host.")]
Group = Annotated[str, typer.Option(help="Apply to the hosts that are in this group when a run starts.")]
Skill = Annotated[str, typer.Option(help="Skill whose rules use the parameter.")]


@parameter.command("list")
def parameter_list(
    host: Annotated[str, typer.Option(help="Show the values in effect on this host.")] = "",
    skill: Skill = "stig",
    data: Data = Path("data"),
    as_json: AsJson = False,
) -> None:
    """List the parameters, with bounds, value and the hosts that each value is set for."""
    from app.cli.parameter import list_parameters

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
    """Set a value. New runs use it: the scanner checks it, and the roles and the evidence contain it."""
    import getpass

    from app.cli.parameter import read_value, set_value
    from app.runs.parameters import ParameterSpec

    words = {"name": name, "value": read_value(value, file), "host": host, "group": group, "skill": skill}
    set_value(Settings(data=data), ParameterSpec(**words, by=getpass.getuser()))


@parameter.command("clear")
def parameter_clear(
    name: Name, host: Host = "", group: Group = "", skill: Skill = "stig", data: Data = Path("data")
) -> None:
    """Clear a value. The next value in order applies again: the group's, every host's, or the default."""
    import getpass

    from app.cli.parameter import clear_value
    from app.runs.parameters import ParameterSpec

    wish = ParameterSpec(name=name, host=host, group=group, skill=skill, by=getpass.getuser())
    clear_value(Settings(data=data), wish)
