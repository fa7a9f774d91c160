"""`temper score export-tasks`: write the tasks of a score for any terminal agent."""

from pathlib import Path

from rich.console import Console

from app.runs.order import select_rules
from app.scores.harbor import export_harbor_tasks
from app.scores.hosts import create_builtin_host, generate_host


def export_tasks(folder: Path, rules: str, hosts: int, held_back: str) -> None:
    chosen = [
        create_builtin_host() if number == 0 and not held_back else generate_host(f"{held_back}/1", number)
        for number in range(hosts)
    ]
    made = export_harbor_tasks(folder, select_rules(rules, "stig"), chosen)
    Console().print(f"{len(made)} tasks in {folder}", markup=False, highlight=False, soft_wrap=True)
