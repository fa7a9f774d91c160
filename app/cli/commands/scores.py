"""Commands for scores: the share of findings that a line-up fixes, and the harm it does."""

from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from app.cli.options import Data, RunId
from app.config import Settings
from app.events.limits import ATTEMPTS, ITEM_SECONDS


class DefaultLineupGroup(TyperGroup):
    """Treat `temper score LINEUP` as `temper score lineup LINEUP`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["lineup", *args]
        return super().parse_args(ctx, args)


app = typer.Typer()
score = typer.Typer(
    cls=DefaultLineupGroup,
    help="Score a line-up: temper score LINEUP --out FILE. `temper score lineup --help` has the options.",
    no_args_is_help=True,
)
app.add_typer(score, name="score")
Out = Annotated[Path, typer.Option(help="The result file. A score that was cut off goes on from what lies beside it.")]
Rules = Annotated[str, typer.Option(help="Comma-separated rule ids; all when left out.")]
Pack = Annotated[Path | None, typer.Option(help="A zip of the result and of each run's evidence, for temper verify.")]
Note = Annotated[str, typer.Option(help="A line of yours that goes into the result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result file, too.")]


@score.command("lineup")
def score_lineup(
    lineup: Annotated[
        str,
        typer.Argument(
            help="A shipped line-up, a path to one, or a baseline: nothing; with --host bash and ansible, too."
        ),
    ],
    out: Out,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="How often; each seed generates hosts of its own.")] = 3,
    hosts: Annotated[
        int, typer.Option(min=1, max=100, help="Hosts for each seed: the built-in one, then generated ones.")
    ] = 1,
    rules: Rules = "",
    host: Annotated[
        str, typer.Option(help="On a disposable Debian of this name instead, made new for each seed.")
    ] = "",
    held_back: Annotated[
        str, typer.Option(help="Generate all hosts from this seed; the result has only its digest.")
    ] = "",
    speed: Annotated[float, typer.Option(min=0, help="Pace of simulated engines; 0 is as fast as it can.")] = 0.0,
    attempts: Annotated[int, typer.Option(min=1, max=50, help="Attempts per rule.")] = ATTEMPTS,
    item_minutes: Annotated[float, typer.Option(min=0.01, help="Minutes per rule.")] = ITEM_SECONDS / 60,
    pack: Pack = None,
    note: Note = "",
    as_json: AsJson = False,
    data: Data = Path("data"),
) -> None:
    """Score a line-up on fresh hosts. Ends with 0 if no host was left worse than before, else with 2."""
    from app.cli.score import ScoreOptions, use_score_folder
    from app.cli.score import run_score as work
    from app.cli.score_debian import score_debian
    from app.events.vocabulary import Budget

    settings = Settings(data=data, speed=speed, kind="run")
    budget = Budget(attempts=attempts, item_seconds=item_minutes * 60)
    asked = ScoreOptions(lineup, seeds, hosts, rules, held_back, out, pack, note, as_json, budget)
    raise typer.Exit(score_debian(settings, asked, host) if host else work(use_score_folder(settings, lineup), asked))


@score.command("table")
def score_table(
    files: Annotated[list[Path], typer.Argument(help="Result files.")],
    into: Annotated[Path | None, typer.Option(help="The file to write; stdout when left out.")] = None,
) -> None:
    """Write a page of scores from result files."""
    from app.cli.score import write_score_table as make

    make(files, into)


@score.command("export-tasks")
def export_tasks(
    folder: Annotated[Path, typer.Argument(help="The folder to write to: one folder for each task.")],
    rules: Rules = "",
    hosts: Annotated[int, typer.Option(min=1, max=100, help="The built-in host, then generated ones.")] = 1,
    held_back: Annotated[str, typer.Option(help="Generate all hosts from this seed.")] = "",
) -> None:
    """Export the tasks in Harbor's format, for any terminal agent."""
    from app.cli.score import export_tasks as export

    export(folder, rules, hosts, held_back)


@app.command("export-trajectory")
def export_trajectory(
    run_id: RunId,
    out: Annotated[str, typer.Option(help="File to write, - for stdout; named after the run when left out.")] = "",
    data: Data = Path("data"),
) -> None:
    """Export a run as a trajectory (ATIF): each turn with its prompt, thought, answer and result."""
    from app.cli.evidence import export_trajectory as export

    export(Settings(data=data), run_id, out)
