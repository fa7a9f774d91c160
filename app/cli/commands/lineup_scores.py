"""Commands for scores: the share of findings that a line-up fixes, and the harm it does."""

from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from app.cli.options import Data, Out, RunId
from app.config import Settings
from app.errors import BadInput
from app.events.default_item_budget import ATTEMPTS_PER_ITEM, SECONDS_PER_ITEM


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
ResultFile = Annotated[
    Path | None,
    typer.Option(
        help="File to write the result to. Default: beside the --public file. An interrupted score resumes from the "
        "notes beside it."
    ),
]
Rules = Annotated[str, typer.Option(help="Comma-separated rule ids. Default: all.")]
Pack = Annotated[
    Path | None, typer.Option(help="Also write a zip of the result and each run's evidence, for temper verify.")
]
Note = Annotated[str, typer.Option(help="Note for the result file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Also print the result file.")]


@score.command("lineup")
def score_lineup(
    lineup: Annotated[
        str,
        typer.Argument(
            help="Name or path of a line-up, address of a model server, or a baseline: nothing, candidates; with "
            "--host also bash, ansible."
        ),
    ],
    out: ResultFile = None,
    public: Annotated[
        Path | None, typer.Option(help="Also write a signed result to submit. It has every turn, and no address.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of seeds; each seed generates its own hosts.")
    ] = 3,
    hosts: Annotated[
        int, typer.Option(min=1, max=100, help="Hosts per seed: the built-in host first, then generated hosts.")
    ] = 1,
    rules: Rules = "",
    host: Annotated[
        str,
        typer.Option(
            help="Use the disposable machine of this name instead, as built for each seed: a virtual machine that "
            "temper machine built, or else a Debian that shares this kernel and is built if it is missing."
        ),
    ] = "",
    skill: Annotated[
        str, typer.Option(help="Skill on a virtual machine. Default: all rules of the content that comes with it.")
    ] = "",
    held_back: Annotated[
        str, typer.Option(help="Generate all hosts from this secret seed; the result contains only its digest.")
    ] = "",
    speed: Annotated[float, typer.Option(min=0, help="Pace of simulated engines; 0 means as fast as possible.")] = 0.0,
    attempts: Annotated[int, typer.Option(min=1, max=50, help="Maximum attempts per rule.")] = ATTEMPTS_PER_ITEM,
    item_minutes: Annotated[float, typer.Option(min=0.01, help="Maximum minutes per rule.")] = SECONDS_PER_ITEM / 60,
    pack: Pack = None,
    note: Note = "",
    as_json: AsJson = False,
    data: Data = Path("data"),
) -> None:
    """Score a line-up on fresh hosts. Exits with 0 if no host was left worse than before, else with 2."""
    from app.cli.lineup_score import ScoreOptions, build_score_settings, run_score
    from app.cli.lineup_score_on_machine import score_on_machine
    from app.events.event_field_types import Budget

    if out is None and public is None:
        raise BadInput("Give --out FILE for the result, or --public FILE for a result to submit.")
    if public and host:
        raise BadInput("--public is for the built-in and generated hosts: leave --host out.")
    if skill and not host:
        raise BadInput("--skill is for a virtual machine: add --host NAME, or leave it out.")
    out = out or (public or Path()).with_suffix(".result.json")
    settings = Settings(data=data, speed=speed, kind="score")
    budget = Budget(attempts=attempts, item_seconds=item_minutes * 60)
    asked = ScoreOptions(lineup, seeds, hosts, rules, held_back, out, pack, note, as_json, budget, public, skill)
    if host:
        raise typer.Exit(score_on_machine(settings, asked, host))
    raise typer.Exit(run_score(build_score_settings(settings, lineup), asked))


@score.command("check")
def check_score(
    file: Annotated[Path, typer.Argument(help="File that `temper score --public` wrote.")],
    key: Annotated[str, typer.Option(help="Public key that must have signed it, as `temper key` prints it.")] = "",
) -> None:
    """Check a submitted result and say what it proves. Exits with 0 if it is valid, 2 if not, and 3 without --key."""
    from app.cli.public_lineup_score import check_score as check

    raise typer.Exit(check(file, key))


@score.command("table")
def score_table(
    files: Annotated[list[Path], typer.Argument(help="Result files.")],
    into: Annotated[Path | None, typer.Option(help="File to write. Default: stdout.")] = None,
) -> None:
    """Write a page of scores from result files."""
    from app.cli.lineup_score import write_score_table as make

    make(files, into)


@score.command("export-tasks")
def export_tasks(
    folder: Annotated[Path, typer.Argument(help="Folder to write to; each task gets its own folder.")],
    rules: Rules = "",
    hosts: Annotated[
        int, typer.Option(min=1, max=100, help="Number of hosts: the built-in host first, then generated hosts.")
    ] = 1,
    held_back: Annotated[str, typer.Option(help="Generate all hosts from this seed.")] = "",
) -> None:
    """Export the tasks in Harbor's format, for any terminal agent."""
    from app.cli.lineup_score import export_tasks as export

    export(folder, rules, hosts, held_back)


@app.command("export-trajectory")
def export_trajectory(run_id: RunId, out: Out = "", data: Data = Path("data")) -> None:
    """Export a run as a trajectory (ATIF). Each turn has its prompt, thought, answer and result."""
    from app.cli.evidence_export import export_trajectory as export

    export(Settings(data=data), run_id, out)
