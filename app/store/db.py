"""Opens and migrates the database: a SQLite file or a PostgreSQL address."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, make_url, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DatabaseError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as AllInUse
from sqlmodel import Session, SQLModel

from app.config import get_migrations_folder
from app.errors import EnvironmentUnusable

HEAD = "0024"
"""The newest migration. A database at this revision opens without loading Alembic."""
IDLE_MILLISECONDS = 4000
"""PostgreSQL ends an idle transaction after this time, so that a frozen node cannot keep its locks."""
POOL, MORE = 10, 10
FOR_A_CONNECTION = 5.0
"""Seconds to wait for a free pooled connection."""
AGAIN_AFTER = 0.1

DATABASE_UNAVAILABLE = (OperationalError, InternalError, AllInUse)
"""Errors of a database that is locked, full, unreachable or overloaded; a retry may succeed."""

_WARY = {
    "connect_timeout": "10",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}

DatabaseLocation = Path | str
"""The path of a SQLite file, or the address of a PostgreSQL database."""


def open_and_migrate_database(location: DatabaseLocation) -> Engine:
    engine = _open_postgres(location) if isinstance(location, str) else _open_sqlite(location)
    try:
        _migrate_if_needed(engine, location)
    except BaseException as exc:
        engine.dispose()
        if not isinstance(exc, DatabaseError):
            raise
        raise EnvironmentUnusable(
            f"cannot use {mask_password(location)}: {shorten_database_error(exc)}. {_suggest_remedy(location)}"
        ) from exc
    return engine


def is_shared(engine: Engine | Connection) -> bool:
    """Return whether several nodes can share the database, i.e. whether it is PostgreSQL."""
    return engine.dialect.name == "postgresql"


def mask_password(location: DatabaseLocation) -> str:
    """Return the location for display, without its password."""
    return make_url(location).render_as_string() if isinstance(location, str) else str(location)


@contextmanager
def hold_exclusive_lock_between_nodes(engine: Engine, lock_name: str) -> Iterator[None]:
    """Hold a lock named `lock_name` that one node has at a time; others wait. On SQLite it does nothing."""
    if not is_shared(engine):
        yield
        return
    key = func.hashtext(lock_name)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # Polled: a blocked statement would hold up a concurrent index build, which waits for all statements.
        while not connection.execute(select(func.pg_try_advisory_lock(key))).scalar():
            time.sleep(AGAIN_AFTER)
        try:
            yield
        finally:
            connection.execute(select(func.pg_advisory_unlock(key)))


def lock_chain(session: Session, chain: str) -> None:
    """Lock a hash chain until the transaction ends: two writers would append to the same predecessor."""
    if is_shared(session.get_bind()):
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"temper {chain}"))))
    else:
        session.execute(text("BEGIN IMMEDIATE"))


def create_insert(session: Session, table: type[SQLModel]) -> postgresql.Insert | sqlite.Insert:
    """Return an INSERT that takes an ON CONFLICT clause, which each dialect has in a class of its own."""
    return (postgresql.insert if is_shared(session.connection()) else sqlite.insert)(table)


def insert_once(session: Session, row: SQLModel) -> None:
    """Insert the row unless it exists: after a crash, or from two nodes, the same event may arrive twice."""
    session.flush()
    session.execute(create_insert(session, type(row)).values(row.model_dump()).on_conflict_do_nothing())


def _open_sqlite(path: Path) -> Engine:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise EnvironmentUnusable(f"cannot use {path}: {exc}. {_suggest_remedy(path)}") from exc
    return _build_engine(URL.create("sqlite", database=str(path)), POOL, MORE)


def _open_postgres(address: str) -> Engine:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as exc:  # ValueError: a port that is not a number
        raise EnvironmentUnusable(
            "TEMPER_DATABASE_URL is not a valid address: use postgresql://USER:PASSWORD@HOST/DATABASE."
        ) from exc
    if url.drivername not in ("postgresql", "postgres"):
        raise EnvironmentUnusable(
            f"TEMPER_DATABASE_URL names {url.drivername}. Temper supports PostgreSQL, or SQLite without this variable."
        )
    return _build_engine(add_keepalives(url).set(drivername="postgresql+psycopg"), POOL, MORE)


def open_separate_engine(engine: Engine, connections: int, *, tests_before_use: bool = True) -> Engine:
    """Open the same database with a pool of its own. The caller disposes of it.

    `tests_before_use`: test connections before use. A caller that retries lost connections saves that statement.
    """
    return _build_engine(engine.url, connections, 0, tests_before_use=tests_before_use)


def _build_engine(url: URL, connections: int, overflow: int, *, tests_before_use: bool = True) -> Engine:
    pool: dict[str, Any] = {"pool_size": connections, "max_overflow": overflow, "pool_timeout": FOR_A_CONNECTION}
    pool["hide_parameters"] = True  # an error is logged and sent in: a password's digest has no place there
    if url.drivername == "sqlite":
        engine = create_engine(url, connect_args={"timeout": 15}, **pool)
        event.listen(engine, "connect", _set_pragmas)
        return engine
    options = f"-c idle_in_transaction_session_timeout={IDLE_MILLISECONDS}"
    # Last in, first out: the next statement reuses the connection that prepared it.
    pool |= {"pool_pre_ping": tests_before_use, "pool_use_lifo": True}
    return create_engine(url, connect_args={"options": options}, **pool)


def use_autocommit_if_shared(engine: Engine) -> Engine:
    return engine.execution_options(isolation_level="AUTOCOMMIT") if is_shared(engine) else engine


def add_keepalives_to_address(address: str) -> str:
    """Return the address with keepalive parameters, for libraries that open their own connections."""
    url = make_url(address)
    return (
        add_keepalives(url).render_as_string(hide_password=False) if url.drivername.startswith("postgres") else address
    )


def add_keepalives(url: URL) -> URL:
    """Add keepalive parameters, so that a dead connection is noticed within seconds, not after TCP's 15 minutes."""
    return url.update_query_dict({name: value for name, value in _WARY.items() if name not in url.query})


def _set_pragmas(connection: sqlite3.Connection, _record: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")


def shorten_database_error(exc: Exception) -> str:
    """Return the first line of the database's error message."""
    return str(getattr(exc, "orig", None) or exc).strip().partition("\n")[0]


def _suggest_remedy(location: DatabaseLocation) -> str:
    return "Check TEMPER_DATABASE_URL." if isinstance(location, str) else "Choose a writable folder with --data."


def _migrate_if_needed(engine: Engine, location: DatabaseLocation) -> None:
    if read_revision(engine) == HEAD:
        return
    with hold_exclusive_lock_between_nodes(engine, "temper migrations"):
        found = read_revision(engine)
        if found is None and not is_shared(engine):
            _create_initial_schema(engine)
            found = read_revision(engine)
        if found == HEAD:
            return
        if found and found not in list_known_revisions():
            other = "database" if isinstance(location, str) else "--data folder"
            raise EnvironmentUnusable(
                f"{mask_password(location)} was created by a newer Temper ({found}): upgrade temper, or "
                f"choose another {other}."
            )
        run_migrations(engine)


def _create_initial_schema(engine: Engine) -> None:
    """Create all tables from the schema file, which is eight times faster than migrating and needs no Alembic.

    `python -m tests.store.fresh` rewrites that file after a migration was added.
    """
    statements = max(get_migrations_folder().glob("*.sql")).read_text(encoding="utf-8").split(";\n")
    with engine.begin() as connection:
        # SQLite's driver begins no transaction for DDL: a kill would leave a partial schema.
        connection.exec_driver_sql("begin immediate")
        if engine.dialect.has_table(connection, "alembic_version"):
            return  # another process was faster
        for statement in filter(str.strip, statements):
            connection.exec_driver_sql(statement)


def read_revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        if not engine.dialect.has_table(connection, "alembic_version"):
            return None
        return connection.execute(text("select version_num from alembic_version")).scalar()


def list_known_revisions() -> set[str]:
    return {path.name.split("_")[0] for path in (get_migrations_folder() / "versions").glob("*.py")}


def run_migrations(engine: Engine) -> None:
    from alembic import command  # noqa: PLC0415  0.4 s of import that an up-to-date database does not need
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(get_migrations_folder()))
    with engine.begin() as connection:
        if not is_shared(connection):
            # SQLite's driver begins no transaction for DDL: a kill would leave a partial migration.
            connection.exec_driver_sql("begin immediate")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
