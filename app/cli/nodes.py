"""`temper nodes`: the processes that share the database, as /ops shows them."""

from rich.console import Console
from rich.table import Table
from rich.text import Text
from sqlmodel import Session

from app.config import Settings
from app.store import nodes
from app.store.db import open_database, shared
from app.text.clean import clean

AT_WORK, NOBODY = 0, 2


def show_nodes(settings: Settings) -> int:
    """Ends with NOBODY when runs would wait."""
    console = Console(highlight=False)
    database = open_database(settings.database)
    try:
        if not shared(database):
            console.print(f"{settings.database} is a file: one process works on it at a time.", soft_wrap=True)
            return AT_WORK
        with Session(database) as session:
            living, at_work = nodes.standings(session), nodes.at_work(session)
    finally:
        database.dispose()
    console.print(_table(living) if living else "no node lives on this database: start temper serve or temper worker.")
    return AT_WORK if at_work else NOBODY


def _table(living: list[nodes.Standing]) -> Table:
    table = Table("node", "kind", "last seen", "keeps", "runs")
    for one in living:
        keeps = "schedules, webhooks" if one.leads else ""
        runs = ", ".join(one.runs) or "idle"
        table.add_row(Text(clean(one.name, 100)), one.kind, f"{one.silent_seconds:.0f} s ago", keeps, runs)
    return table
