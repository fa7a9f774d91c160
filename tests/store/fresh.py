"""The tables of a new SQLite file, as the migrations make them: `python -m tests.store.fresh` writes them down anew."""

import tempfile
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from app.config import get_migrations_folder
from app.store.db import HEAD


def moved(engine, to, by=command.upgrade):
    """To that migration, in a transaction."""
    config = Config()
    config.set_main_option("script_location", str(get_migrations_folder()))
    with engine.begin() as connection:
        connection.exec_driver_sql("begin immediate")
        config.attributes["connection"] = connection
        by(config, to)


def tables(engine):
    """As they are made, and at which migration."""
    with engine.connect() as connection:
        made = "select sql from sqlite_master where sql is not null order by type desc, name"
        (at,) = connection.exec_driver_sql("select version_num from alembic_version").scalars()
        return [*connection.exec_driver_sql(made).scalars(), f"INSERT INTO alembic_version VALUES ('{at}')"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{folder}/t.sqlite")
        moved(engine, HEAD)
        written = "".join(f"{statement};\n" for statement in tables(engine))
        engine.dispose()
    for old in get_migrations_folder().glob("*.sql"):
        old.unlink()
    Path(get_migrations_folder(), f"{HEAD}.sql").write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
