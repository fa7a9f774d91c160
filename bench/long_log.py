"""The events of a long run: a simulated run's log, lived through again and again with longer thoughts."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import msgspec

from app.events.kinds import Event, RunFinished, TurnDelta, TurnFinished, TurnInterrupted, TurnStarted, get_event_kind
from app.events.record import Recorded
from app.store.db import open_and_migrate_database
from app.store.events import EventStore

PIECE = re.compile(r"\s*\S{1,6}|\s+")
"""About a token."""


def played(folder: Path) -> list[Recorded]:
    """The log of a simulated run."""
    words = ["run", "--data", str(folder), "--speed", "0", "--json"]
    done = subprocess.run([sys.executable, "-m", "app", *words], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    database = open_and_migrate_database(folder / "temper.sqlite")
    run = msgspec.json.decode(done.stdout.splitlines()[0])["run"]
    log = list(EventStore(database).read_events(run))
    database.dispose()
    return log


@dataclass(frozen=True)
class Parts:
    """A run's log cut in three: what comes before the first item, the items, what comes after the last."""

    before: list[Event]
    items: list[Event]
    after: list[Event]


def parts(log: list[Recorded]) -> Parts:
    events = [one.event for one in log if not isinstance(one.event, TurnDelta)]
    kinds = [get_event_kind(event) for event in events]
    first = kinds.index("item.started")
    last = max(n for n, kind in enumerate(kinds) if kind.startswith("item.")) + 1
    end = [msgspec.structs.replace(one, tree="") if isinstance(one, RunFinished) else one for one in events[last:]]
    return Parts(events[:first], events[first:last], end)  # of a host that nobody laid out, there is no tree


def steps(cut: Parts, total: int, rounds: int) -> Iterator[Event]:
    """About `total` events, without the run's end."""
    once = sum(len(list(pieces(event, 1))) for event in cut.items if isinstance(event, TurnFinished))
    quiet = len(cut.before) + rounds * len(cut.items)
    longer = max(1, round((total - quiet - once) / (once * max(rounds - 1, 1))))
    yield from cut.before
    for number in range(rounds):
        for event in cut.items:
            yield from lived(event, number, 1 if number == 0 else longer)


def lived(event: Event, number: int, longer: int) -> Iterator[Event]:
    """One event of a round; a turn's end is preceded by its pieces, and repeats them whole."""
    if not isinstance(event, TurnStarted | TurnFinished | TurnInterrupted):
        yield event
        return
    turn = f"{event.turn}.{number}"
    if not isinstance(event, TurnFinished):
        yield msgspec.structs.replace(event, turn=turn)
        return
    told: dict[str, list[str]] = {"thought": [], "answer": []}
    for channel, text in pieces(event, longer):
        told[channel].append(text)
        yield TurnDelta(turn=turn, role=event.role, channel=channel, text=text, tokens=len(told[channel]))
    yield msgspec.structs.replace(event, turn=turn, thought="".join(told["thought"]), answer="".join(told["answer"]))


def pieces(event: TurnFinished, longer: int) -> Iterator[tuple[str, str]]:
    """The answer stays what it is; the thought goes round until the turn has `longer` times its pieces."""
    thought, answer = PIECE.findall(event.thought), PIECE.findall(event.answer)
    more = longer * (len(thought) + len(answer)) - len(answer)
    yield from (("thought", text) for text in islice(cycle(thought or ["so "]), more))
    yield from (("answer", text) for text in answer)
