"""What must hold after every fault, and once a run has ended."""

import time
from collections import Counter
from pathlib import Path

from sqlmodel import Session, select

from app.events.kinds import ActionApplied, ActionApplying, ActionFailedToApply, ActionRolledBack, RunFailed
from app.events.record import AUDIT, check_chain_and_get_head, parse_line
from app.loop.state import RunState, fold_events
from app.store.db import DatabaseLocation, open_and_migrate_database
from app.store.events import EventStore
from app.store.models import RunRow
from app.targets.host_registry import open_target

PATIENCE = 90.0


class Held:
    """The log as an outsider reads it, and all that was ever read of it."""

    def __init__(self, place: DatabaseLocation, data: Path) -> None:
        self._database = open_and_migrate_database(place)
        self._store, self._data = EventStore(self._database), data
        self._seen: dict[str, list[tuple[int, bytes, str]]] = {}

    def runs(self) -> list[RunRow]:
        with Session(self._database) as session:
            return list(session.exec(select(RunRow).order_by(RunRow.queued_at)).all())

    def unended(self) -> str | None:
        return next((row.id for row in self.runs() if row.ended_at is None), None)

    def head(self, run: str) -> int:
        return self._store.read_newest_seq(run)

    def moves_on(self, run: str, beyond: int) -> float:
        """Seconds until the run has an event after `beyond`, or has ended."""
        began = time.monotonic()
        while self.head(run) <= beyond and self.unended() == run:
            assert time.monotonic() - began < PATIENCE, f"run {run} stands at {beyond}"
            time.sleep(0.01)
        return time.monotonic() - began

    def check(self) -> None:
        """Nothing lost, nothing doubled, nothing changed after it was read; what has ended is whole."""
        check_chain_and_get_head(self._store.read_lines(AUDIT))
        for row in self.runs():
            lines = self._store.read_lines(row.id)
            check_chain_and_get_head(lines)
            before = self._seen.get(row.id, [])
            assert lines[: len(before)] == before, f"run {row.id} is not what was read of it"
            self._seen[row.id] = lines
            state = fold_events(parse_line(line, digest) for _, line, digest in lines)
            if state.ended:
                self._ended(state, row.id)
        for row in self.runs():
            ended = fold_events(parse_line(line, digest) for _, line, digest in self._seen.get(row.id, [])).ended
            assert not ended or row.ended_at, f"the log of run {row.id} has its end, the list has it at work"

    def _ended(self, state: RunState, run: str) -> None:
        events = [one.event for one in self._store.read_events_without_deltas(run)]
        begun = Counter(event.journal for event in events if isinstance(event, ActionApplying))
        ends = [event.journal for event in events if isinstance(event, ActionApplied | ActionFailedToApply)]
        undone = {event.journal for event in events if isinstance(event, ActionRolledBack)}
        assert set(begun.values()) <= {1}, f"run {run} announced a change twice"
        assert max(Counter(ends).values(), default=1) == 1, f"run {run} made a change twice"
        open_ones = set(begun) - set(ends) - undone
        assert not open_ones, f"run {run} left {open_ones} open"
        for event in events:
            assert not isinstance(event, RunFailed), f"run {run} failed: {event.reason}"

    def host(self) -> None:
        """Once nobody works: it is what the last run's log says, and nothing is half done."""
        target = open_target("fixture", self._data / "hosts")
        last = self.runs()[-1]
        state = fold_events(self._store.read_events_for_fold(last.id))
        assert target.list_pending() == []
        assert state.ended is None or target.compute_digest() == state.ended.tree, (
            "the host is not as the last run left it"
        )

    def events(self) -> int:
        return sum(self.head(row.id) for row in self.runs())

    def keep(self, folder: Path) -> None:
        """Every log, line by line, for whoever looks into a failure."""
        for row in self.runs():
            lines = [line for _, line, _ in self._store.read_lines(row.id)]
            (folder / f"{row.id}.jsonl").write_bytes(b"\n".join(lines))

    def close(self) -> None:
        self._database.dispose()
