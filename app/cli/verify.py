"""`temper verify`: is the log whole, and what does it say the run came to?"""

from collections import Counter

from rich.console import Console
from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.find_run import find_run
from app.config import Settings
from app.events.kinds import RunFinished, RunStopped
from app.events.record import Broken, check_chain, read
from app.loop.state import RunState, fold
from app.store import queries
from app.store.db import open_database
from app.store.events import EventStore
from app.targets.catalog import open_target

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
    if tree := _tree(state):
        console.print(_compare(settings, database, state, tree), highlight=False)
    return HOLDS


def _tree(state: RunState) -> str | None:
    return state.ended.tree if isinstance(state.ended, RunFinished | RunStopped) else None


def _compare(settings: Settings, database: Engine, state: RunState, tree: str) -> str:
    assert state.request
    host = state.request.host
    with Session(database) as session:
        newest = queries.newest_run(session, host)
    if newest is None or newest.id != state.run:
        return f"{host} has been worked on since"
    same = open_target(host, settings.hosts).digest() == tree
    return (
        f"{host} is as the run left it" if same else f"{host} is NOT as the run left it: its files have changed since"
    )
