"""`temper verify`: is the log whole, and what does it say the run came to?"""

from collections import Counter

from rich.console import Console

from app.cli.find_run import find_run
from app.config import Settings
from app.events.record import Broken, check_chain, read
from app.loop.state import fold
from app.store.db import open_database
from app.store.events import EventStore

HOLDS, BROKEN = 0, 2


def verify_run(settings: Settings, wanted: str) -> int:
    database = open_database(settings.database)
    run = find_run(database, wanted)
    console = Console()
    rows = EventStore(database).lines(run)
    try:
        last = check_chain(rows)
    except Broken as exc:
        console.print(f"[bold]does not hold[/]: run {run}: {exc}", highlight=False)
        return BROKEN
    state = fold(read(line, digest) for _, line, digest in rows)
    counts = Counter(item.status for item in state.items.values())
    summary = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    console.print(f"holds: run {run}, {len(rows)} events, {state.status}: {summary or 'no items'}", highlight=False)
    console.print(f"chain head {last}", highlight=False, soft_wrap=True)
    return HOLDS
