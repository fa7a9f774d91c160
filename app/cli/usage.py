"""`temper usage`: print tokens, GPU time and energy per person."""

import sys
import time

from sqlmodel import Session

from app.cli.existing import existing_database
from app.cli.listing import listed
from app.config import Settings
from app.runs.usage import as_csv, usage, usage_asked
from app.store.events import EventStore


def show_usage(settings: Settings, since: str, until: str, per: str, *, as_json: bool, csv: bool) -> None:
    asked = usage_asked(since, until, per, None, time.time())
    database = existing_database(settings)
    with Session(database) as session:
        lines = usage(session, EventStore(database), asked)
    if csv:
        sys.stdout.write(as_csv(lines))
    else:
        listed(lines, "No run was asked for in this time.", as_json=as_json)
