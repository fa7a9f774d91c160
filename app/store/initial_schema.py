"""Creates the tables of a new SQLite file from a schema file; newer migrations follow as usual.

`python -m tests.store.fresh` rewrites that file after a migration was added.
"""

from pathlib import Path

from sqlalchemy import Engine

from app.config import find_migrations


def create_initial_schema(engine: Engine) -> None:
    """Create all tables from the schema file, which is eight times faster than migrating and needs no Alembic."""
    statements = find_schema_file().read_text(encoding="utf-8").split(";\n")
    with engine.begin() as connection:
        # SQLite's driver begins no transaction for DDL: a kill would leave a partial schema.
        connection.exec_driver_sql("begin immediate")
        if engine.dialect.has_table(connection, "alembic_version"):
            return  # another process was faster
        for statement in filter(str.strip, statements):
            connection.exec_driver_sql(statement)


def find_schema_file() -> Path:
    return max(find_migrations().glob("*.sql"))
