"""Commands for site values of rules."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, Data
from app.config import Settings

app = typer.Typer()
parameter = typer.Typer(help="Values that the site chooses for rules, within their bounds.", no_args_is_help=True)
app.add_typer(parameter, name="parameter")

Name = Annotated[str, typer.Argument(help="What it is called; `temper parameter list` names them.")]
Host = Annotated[str, typer.Option(help="For this host; for every host when this and --group are left out.")]
Group = Annotated[str, typer.Option(help="For the hosts of this group, whoever is in it when a run begins.")]
Skill = Annotated[str, typer.Option(help="The skill whose rules go by it.")]


@parameter.command("list")
def parameter_list(
    host: Annotated[str, typer.Option(help="What counts on this host.")] = "",
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
    value: Annotated[str, typer.Argument(help="Its value; left out with --file.")] = "",
    file: Annotated[Path | None, typer.Option(help="The file that holds it, such as a notice of many lines.")] = None,
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
