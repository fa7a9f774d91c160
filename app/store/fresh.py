"""A new SQLite file gets its tables at once, as the migrations up to some point left them; newer ones follow as ever.

`python -m tests.store.fresh` writes the file anew after a migration was added.
"""

from pathlib import Path

from sqlalchemy import Engine

from app.config import migrations


def lay_out(engine: Engine) -> None:
    """An eighth of the work of all the migrations, and nothing of Alembic is read in."""
    statements = laid_out_by().read_text(encoding="utf-8").split(";\n")
    with engine.begin() as connection:
        # SQLite's driver begins no transaction for a change of tables: a kill would leave some of them there.
        connection.exec_driver_sql("begin immediate")
        if engine.dialect.has_table(connection, "alembic_version"):
            return  # somebody was quicker
        for statement in filter(str.strip, statements):
            connection.exec_driver_sql(statement)


def laid_out_by() -> Path:
    return max(migrations().glob("*.sql"))
