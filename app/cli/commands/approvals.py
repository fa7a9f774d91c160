"""Commands for approval policies."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson

app = typer.Typer()
approvals = typer.Typer(help="Policy for the approvals that each kind of change needs.", no_args_is_help=True)
app.add_typer(approvals, name="approvals")


@approvals.command("check")
def approvals_check(
    file: Annotated[Path, typer.Argument(help="The policy file, as in TEMPER_APPROVALS.")], as_json: AsJson = False
) -> None:
    """Check a policy file and print how many approvals each kind of change needs."""
    from app.cli.approvals import check_approvals

    check_approvals(file, as_json=as_json)
