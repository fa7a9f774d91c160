"""`temper host reboot-check`: check whether the last run's results hold after a reboot."""

import asyncio
import getpass

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from app.cli.existing_database import open_existing_database
from app.cli.harden import ALL_PASSED, SOME_DID_NOT, harden_host
from app.config import Settings
from app.events.kinds import RebootChecked
from app.runs.order import Order
from app.runs.reboot import create_reboot_order
from app.store.events import EventStore
from app.store.models import RunRow


def check_reboot(settings: Settings, host: str, *, as_json: bool) -> int:
    code = asyncio.run(harden_host(settings, _load_order(settings, host), as_json=as_json))
    database = open_existing_database(settings)
    try:
        found = _find_reboot_result(database, host)
    finally:
        database.dispose()
    lost = found is None or found.slipped or found.waiting or found.worse
    return SOME_DID_NOT if lost and code == ALL_PASSED else code


def _load_order(settings: Settings, host: str) -> Order:
    database = open_existing_database(settings)
    try:
        return create_reboot_order(database, host, getpass.getuser())
    finally:
        database.dispose()


def _find_reboot_result(database: Engine, host: str) -> RebootChecked | None:
    newest = select(RunRow.id).where(RunRow.host == host).order_by(col(RunRow.queued_at).desc()).limit(1)
    with Session(database) as session:
        run = session.exec(newest).first() or ""
    found = (one.event for one in EventStore(database).read_events(run, kinds=("reboot.checked",)))
    return next((event for event in found if isinstance(event, RebootChecked)), None)
