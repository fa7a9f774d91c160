"""Copies a database into another one, table by table in one transaction, and verifies the hash chains afterwards."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, MetaData, Table, func, insert, select, text

from app.errors import BadInput, EnvironmentUnusable
from app.events.record import MACHINE, BrokenChain, check_chain_and_get_head
from app.store.events import EventStore

CHUNK = 2000
OF_PROCESSES = ("alembic_version", "node", "lease")
"""Tables about running processes, which are not copied."""


@dataclass(frozen=True)
class CopyResult:
    rows: dict[str, int]
    """Row count by table."""
    chains: int
    """The number of chains, runs and the audit log, that were verified in the copy."""


def copy_sqlite_rows_and_verify_chains(source: Engine, into: Engine) -> CopyResult:
    tables = _reflect_tables_to_copy(into)
    there = _reflect_tables_to_copy(source)
    with source.connect() as reading, into.begin() as writing:
        _require_empty(writing, tables)
        rows = {table.name: _copy_table(reading, there[table.name], writing, table) for table in tables.values()}
    return CopyResult(rows, _check_chains(EventStore(into), into))


def _reflect_tables_to_copy(engine: Engine) -> dict[str, Table]:
    """Return the tables by name, ordered so that referenced tables come first."""
    known = MetaData()
    known.reflect(engine)
    return {table.name: table for table in known.sorted_tables if table.name not in OF_PROCESSES}


def _require_empty(connection: Connection, tables: dict[str, Table]) -> None:
    for table in tables.values():
        if count := connection.execute(select(func.count()).select_from(table)).scalar():
            raise BadInput(f"the target database already has {count} rows of {table.name}: use an empty database.")


def _copy_table(reading: Connection, source_table: Table, writing: Connection, target_table: Table) -> int:
    count = 0
    for chunk in _read_chunks(reading, source_table):
        writing.execute(insert(target_table), chunk)
        count += len(chunk)
    for column in target_table.primary_key.columns:
        sequence = writing.execute(select(func.pg_get_serial_sequence(target_table.name, column.name))).scalar()
        if sequence:
            most = writing.execute(select(func.max(column))).scalar()
            writing.execute(text("select setval(:name, :most)"), {"name": sequence, "most": most or 1})
    return count


def _read_chunks(reading: Connection, table: Table) -> Iterator[list[dict[str, object]]]:
    rows = reading.execution_options(yield_per=CHUNK).execute(select(table).order_by(*table.primary_key.columns))
    for partition in rows.mappings().partitions():
        yield [dict(row) for row in partition]


def _check_chains(store: EventStore, into: Engine) -> int:
    event = _reflect_tables_to_copy(into)["event"]
    with into.connect() as connection:
        runs = [row[0] for row in connection.execute(select(event.c.run).distinct()) if row[0] != MACHINE]
    for run in runs:
        try:
            with closing(store.stream_lines(run)) as rows:
                check_chain_and_get_head(rows, run)
        except BrokenChain as exc:
            raise EnvironmentUnusable(
                f"copied, but the chain of {run} is broken: {exc}. It is broken in the source too; see temper verify."
            ) from exc
    return len(runs)
