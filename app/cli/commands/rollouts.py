"""Commands for rollouts: one order for many hosts, started with `temper run --hosts`."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, Data, Reason
from app.config import Settings

app = typer.Typer()
rollout = typer.Typer(help="Follow and control rollouts. Start one with temper run --hosts.", no_args_is_help=True)
app.add_typer(rollout, name="rollout")
RolloutName = Annotated[str, typer.Argument(help="Id of the rollout, or its first characters.")]


@rollout.command("list")
def rollout_list(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the rollouts of this data folder, newest first."""
    from app.cli.rollout import list_rollouts

    list_rollouts(Settings(data=data), as_json=as_json)


@rollout.command("show")
def rollout_show(wanted: RolloutName, data: Data = Path("data"), as_json: AsJson = False) -> None:
    """Show the hosts of a rollout in order, with run and result."""
    from app.cli.rollout import print_rollout

    print_rollout(Settings(data=data), wanted, as_json=as_json)


@rollout.command("evidence")
def rollout_evidence(
    wanted: RolloutName,
    out: Annotated[
        str, typer.Option(help="File to write, or - for stdout. Default: a name from the rollout's id.")
    ] = "",
    data: Data = Path("data"),
) -> None:
    """Write the evidence of a rollout. One zip file holds an index and the evidence of each run."""
    from app.cli.rollout import write_rollout_evidence

    write_rollout_evidence(Settings(data=data), wanted, out)


def _add_rollout_verb(verb: str, summary: str) -> None:
    def rollout_verb(wanted: RolloutName, data: Data = Path("data"), reason: Reason = "") -> None:
        from app.cli.rollout import apply_rollout_verb

        apply_rollout_verb(Settings(data=data), wanted, verb, reason)

    rollout.command(verb, help=summary)(rollout_verb)


_add_rollout_verb("pause", "Pause a rollout. No further host starts, and each run pauses after its change in progress.")
_add_rollout_verb("resume", "Resume a rollout. The limits that paused it count from zero again.")
_add_rollout_verb(
    "stop", "Stop a rollout. No further host starts, its runs stop, and a change in progress is rolled back."
)
