"""`temper inbox`, `temper waiver`, `temper parameter` and `temper approvals`. The audit log records changes."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sqlmodel import Session

from app.cli.database_access import has_database, open_existing_database, record_action, sync_host_folders
from app.cli.output import Row, print_rows, print_stored_rows, to_datetime, to_row
from app.config import Settings
from app.errors import BadInput
from app.loop.state import fold_events
from app.runs.approval_policy_file import build_approval_table, list_unreachable_rule_lines, read_approvals
from app.runs.open_decision_reader import DecisionReader
from app.runs.site_values import ParameterSpec, delete_parameter_value, list_parameter_states, set_parameter
from app.runs.waiver_changes import WaiverSpec, create_waiver, end_waiver
from app.skills.parameter import LONGEST
from app.store import waivers
from app.store.database_clock import database_time
from app.store.db import open_and_migrate_database
from app.store.events import STEADY, EventStore


def list_inbox(settings: Settings, *, as_json: bool = False) -> None:
    print_stored_rows(settings, _read_inbox, "Nothing waits for a person.", as_json=as_json)


def _read_inbox(session: Session) -> list[Row]:
    database = session.get_bind().engine
    events, now = EventStore(database), database_time(session)
    decisions = DecisionReader(database, lambda run: fold_events(events.read_events(run, kinds=STEADY)), lambda: now)
    columns = ("kind", "risk", "since", "host", "rule", "run", "why")
    return [to_row(one, columns, since=to_datetime(one.since)) for one in decisions.list_decisions()]


def add_waiver(settings: Settings, wish: WaiverSpec) -> None:
    sync_host_folders(settings)
    database = open_and_migrate_database(settings.database_path_or_url)
    with Session(database) as session, session.begin():
        row = create_waiver(session, wish, database_time(session), settings.hosts_folder)
        waiver, summary = row.id, row.waiver.summary
    record_action(database, f"waiver add {waiver} {wish.rule}", detail=summary)
    print(f"waiver {waiver}: {summary}")  # noqa: T201


def list_waivers(settings: Settings, *, as_json: bool = False) -> None:
    print_stored_rows(settings, _read_waivers, "No waivers yet. Create one with temper waiver add.", as_json=as_json)


def _read_waivers(session: Session) -> list[Row]:
    now = database_time(session)
    own = ("owner", "reason", "ticket", "by", "ended_at", "ended_why")
    return [
        to_row(row, ("id", "rule", "where", "state", "until", *own), where=row.waiver.scope.label, state=row.state(now))
        for row in waivers.list_waivers(session)
    ]


def revoke_waiver(settings: Settings, waiver: str, by: str, why: str) -> None:
    database = open_existing_database(settings)
    with Session(database) as session, session.begin():
        row = end_waiver(session, waiver, database_time(session), by=by, why=why)
        result = f"waiver {row.id} has ended: {row.rule} on {row.waiver.scope.label} is open again"
    record_action(database, f"waiver end {waiver}", detail=why)
    print(result)  # noqa: T201


def list_parameters(settings: Settings, skill: str, host: str, *, as_json: bool) -> None:
    sync_host_folders(settings)
    with TemporaryDirectory() as empty:  # the bounds can be read before there is a database, and none is created
        location = settings.database_path_or_url if has_database(settings) else Path(empty) / "temper.sqlite"
        with Session(open_and_migrate_database(location)) as session:
            states = list_parameter_states(session, skill, host, settings.hosts_folder)
    columns = ("name", "value", "set_for", "may_be", "usual", "rules", "title")
    rows = [
        to_row(one.parameter, columns, value=one.value, set_for=one.where or "default", may_be=one.parameter.bounds)
        for one in states
    ]
    print_rows(rows, f"The rules of {skill} have no site values.", as_json=as_json)


def set_parameter_value(settings: Settings, parameter: ParameterSpec) -> None:
    sync_host_folders(settings)
    database = open_and_migrate_database(settings.database_path_or_url)
    with Session(database) as session, session.begin():
        row = set_parameter(session, parameter, database_time(session), settings.hosts_folder)
        result = f"{row.name} = {' '.join(row.value.split())}, for {row.scope.label}"
    record_action(database, f"parameter set {parameter.name}", detail=f"{parameter.skill}: {result}")
    print(result)  # noqa: T201


def clear_parameter_value(settings: Settings, parameter: ParameterSpec) -> None:
    sync_host_folders(settings)
    database = open_existing_database(settings)
    with Session(database) as session, session.begin():
        row = delete_parameter_value(session, parameter, settings.hosts_folder)
        result = f"{row.name} is cleared for {row.scope.label}"
    record_action(database, f"parameter clear {parameter.name}", detail=f"{parameter.skill}: {result}")
    print(result)  # noqa: T201


def read_value(value: str, file: Path | None) -> str:
    """Return the value, or the content of the file that was given instead."""
    if file is None:
        return value
    if value:
        raise BadInput("Give either the value or a file that contains it, not both.")
    try:
        with file.open(encoding="utf-8") as opened:
            return opened.read(LONGEST + 2)
    except (OSError, UnicodeDecodeError) as exc:
        raise BadInput(f"{file} cannot be read as text: {exc}.") from exc


def check_approvals(file: Path, *, as_json: bool) -> None:
    policy = read_approvals(file)
    print_rows(build_approval_table(policy), "", as_json=as_json)
    if as_json:
        return
    for line in list_unreachable_rule_lines(policy):
        print(f"line {line} never applies: an earlier rule already covers every change that it matches")  # noqa: T201
    print(f"In mode review, each change needs at least one person. sha256 {policy.sha256}")  # noqa: T201
