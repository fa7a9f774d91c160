"""The command line. Each command reads its settings, does one thing and ends with an exit code."""

import sys
from typing import Annotated

import typer

from app import __version__
from app.cli.commands import administration, engines, hosts, lineup_scores, rollouts, runs, serving, site_decisions
from app.cli.exit_codes import COULD_NOT, INTERRUPTED, USAGE
from app.cli.server_log import print_failure, set_last_resort_format
from app.cli.single_subcommand_loading import Terminal
from app.errors import TemperError
from app.private_files import set_private_umask
from app.text.clean import clean_text

# Typer bundles its own click and does not export this class: the base of all its command-line errors.
UsageError = typer.BadParameter.__mro__[1]

PARTS = (serving, runs, rollouts, engines, hosts, administration, lineup_scores, site_decisions)
# Typer imports all of pydantic to parse an unset flag; it takes a default of False without parsing.
NOT_GIVEN = {"help": False, "install_completion": False, "show_completion": False}

app = Terminal(
    name="temper",
    help="Harden Linux hosts with four AI roles. Watch, approve and audit every change.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings={
        "default_map": NOT_GIVEN
        | {str(group.name): NOT_GIVEN for part in PARTS for group in part.app.registered_groups}
    },
)


@app.callback()
def temper(
    version: Annotated[bool, typer.Option("--version", help="Print the version of Temper.", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(f"temper {__version__}")
        raise typer.Exit


for part in PARTS:
    app.add_typer(part.app)


def main() -> None:
    set_private_umask()
    set_last_resort_format()
    UsageError.exit_code = USAGE  # type: ignore[attr-defined]
    try:
        app()
    except TemperError as exc:
        print_failure(clean_text(str(exc), 8000))
        sys.exit(COULD_NOT)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as exc:  # noqa: BLE001  a bug: print one sentence, keep the traceback for a report
        from app.cli.crash_report import explain_database_error, write_fault  # noqa: PLC0415  needed only here

        refusal = explain_database_error(exc)
        print_failure(refusal or f"a fault of its own ({type(exc).__name__}); please report it with {write_fault(exc)}")
        sys.exit(COULD_NOT)


if __name__ == "__main__":
    main()
