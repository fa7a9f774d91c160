"""Downsampled samples, many to a row, since a year of single rows would fill the disk."""

from sqlalchemy import Engine, Select, delete, func, select
from sqlmodel import Field, LargeBinary, Session, SQLModel, col

from app.store.session_shared_within_request import open_read_connection


class ThinnedRow(SQLModel, table=True):
    __tablename__ = "thinned"

    step: int = Field(primary_key=True)
    """Seconds between two values."""
    at: float = Field(primary_key=True)
    """Start of the stretch."""
    body: bytes = Field(sa_type=LargeBinary)


class ThinnedStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def save(self, step: int, at: float, body: bytes) -> None:
        with Session(self._engine) as session, session.begin():
            session.merge(ThinnedRow(step=step, at=at, body=body))

    def list_stretches_that_begin_between(self, step: int, since: float, until: float) -> list[tuple[float, bytes]]:
        """Return the stretches that begin in [since, until), in order."""
        query = select(col(ThinnedRow.at), col(ThinnedRow.body)).where(
            col(ThinnedRow.step) == step, col(ThinnedRow.at) >= since, col(ThinnedRow.at) < until
        )
        with open_read_connection(self._engine) as connection:
            return [(row.at, row.body) for row in connection.execute(query.order_by(col(ThinnedRow.at)))]

    def find_first_stretch_start(self, step: int, since: float) -> float | None:
        return self._read_time_among_step_rows(select(func.min(ThinnedRow.at)).where(col(ThinnedRow.at) >= since), step)

    def find_last_stretch_start(self, step: int) -> float | None:
        return self._read_time_among_step_rows(select(func.max(ThinnedRow.at)), step)

    def _read_time_among_step_rows(self, query: Select[float], step: int) -> float | None:
        with open_read_connection(self._engine) as connection:
            return connection.execute(query.where(col(ThinnedRow.step) == step)).scalar()

    def delete_before(self, step: int, before: float) -> None:
        with self._engine.begin() as connection:
            connection.execute(delete(ThinnedRow).where(col(ThinnedRow.step) == step, col(ThinnedRow.at) < before))
