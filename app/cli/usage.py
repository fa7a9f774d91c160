"""`temper usage`: print tokens, GPU time and energy per person."""

import sys
import time

from sqlmodel import Session

from app.cli.existing_database import open_existing_database
from app.cli.listing import print_rows
from app.config import Settings
from app.runs.usage import compute_usage, format_usage_csv, parse_usage_query
from app.store.events import EventStore


def print_usage(settings: Settings, since: str, until: str, per: str, *, as_json: bool, csv: bool) -> None:
    asked = parse_usage_query(since, until, per, None, time.time())
    database = open_existing_database(settings)
    with Session(database) as session:
        lines = compute_usage(session, EventStore(database), asked)
    if csv:
        sys.stdout.write(format_usage_csv(lines))
    else:
        print_rows(lines, "No runs were ordered in this period.", as_json=as_json)
