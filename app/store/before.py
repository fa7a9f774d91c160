"""How a host stood at the end of its last run: what a later one's drift is measured against."""

from sqlalchemy import Engine
from sqlmodel import col, select

from app.events.kinds import VerdictGiven
from app.store.events import EventStore
from app.store.held import asking
from app.store.models import RunRow


class StoredBefore:
    def __init__(self, database: Engine, store: EventStore, run: str) -> None:
        self._database, self._store, self._run = database, store, run

    def passed(self) -> tuple[str, frozenset[str]]:
        before = self._last()
        words = {}
        for recorded in self._store.events(before, kinds=("verdict",)) if before else ():
            event = recorded.event
            if isinstance(event, VerdictGiven) and event.phase in ("opening", "closing"):
                words[event.rule] = event.word  # the closing scan comes later, and has the last word
        return before, frozenset(rule for rule, word in words.items() if word == "pass")

    def _last(self) -> str:
        with asking(self._database) as session:
            ours = session.get_one(RunRow, self._run)
            like = select(RunRow.id).where(
                RunRow.host == ours.host,
                RunRow.skill == ours.skill,
                RunRow.state == "finished",
                col(RunRow.queued_at) < ours.queued_at,
            )
            return session.exec(like.order_by(col(RunRow.queued_at).desc()).limit(1)).first() or ""
