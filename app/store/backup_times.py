"""The times of the backups, in the database: every node knows of the newest, also if another made it."""

from sqlalchemy import Engine, func
from sqlmodel import Field, Session, SQLModel, col, select


class BackupRow(SQLModel, table=True):
    __tablename__ = "backup"

    made_at: float = Field(primary_key=True)
    by: str
    """The account that made it."""


def record_backup(database: Engine, at: float, by: str) -> None:
    with Session(database) as session, session.begin():
        session.merge(BackupRow(made_at=at, by=by))


def find_newest_backup_time(session: Session) -> float | None:
    """Return the time of the newest backup; None if none was made."""
    return session.exec(select(func.max(col(BackupRow.made_at)))).one()
