"""`temper score export-tasks`: write the tasks of a score for any terminal agent."""

from pathlib import Path

from rich.console import Console

from app.runs.order import rules_of
from app.scores.harbor import export
from app.scores.hosts import built_in, generated


def export_tasks(folder: Path, rules: str, hosts: int, held_back: str) -> None:
    chosen = [
        built_in() if number == 0 and not held_back else generated(f"{held_back}/1", number) for number in range(hosts)
    ]
    made = export(folder, rules_of(rules, "stig"), chosen)
    Console().print(f"{len(made)} tasks in {folder}", markup=False, highlight=False, soft_wrap=True)
