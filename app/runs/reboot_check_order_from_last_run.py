"""Create the order for a check after a reboot, with the rules of the last run that changed the host."""

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from app.errors import Rejected
from app.events.kinds import RunQueued
from app.runs.order import Order
from app.store.events import EventStore
from app.store.models import RunRow
from app.store.prior_knowledge import CHANGES
from app.text.clean import clean_text


def create_reboot_check_order(database: Engine, host: str, by: str) -> Order:
    with Session(database) as session:
        changed = select(RunRow).where(RunRow.host == host, RunRow.state == "finished", col(RunRow.mode).in_(CHANGES))
        last = session.exec(changed.order_by(col(RunRow.queued_at).desc()).limit(1)).first()
    if last is None:
        raise Rejected(
            "host", f"no run has changed {clean_text(host, 64)!a}, so there is nothing to check after a reboot."
        )
    asked = next(one.event for one in EventStore(database).read_events(last.id, kinds=("run.queued",)))
    rules = asked.rules if isinstance(asked, RunQueued) else None
    return Order(host=host, skill=last.skill, rules=rules, after_reboot=True, by=by)
