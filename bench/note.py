"""The page in docs/measurements that a bench writes with --write."""

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

NOTES = Path(__file__).parent.parent / "docs" / "measurements"


def write_note(name: str, title: str, said: str, lines: Iterable[str], *ran_with: str) -> None:
    """`said`: how it was measured; `ran_with`: versions, and what else a reader has to know of where it ran."""
    today = datetime.now(UTC).date().isoformat()
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    where = " · ".join([today, machine, f"Python {platform.python_version()}", *ran_with])
    head = [f"# {title}", "", where, "", *([said, ""] if said else [])]
    (NOTES / f"{name}.md").write_text("\n".join([*head, *lines, ""]))


def versions(*names: str) -> str:
    return ", ".join(f"{name} {version(name)}" for name in names)
