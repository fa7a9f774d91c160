"""Whether anything was written since one looked last: known in microseconds, so that nobody reads in vain."""

from itertools import count

from sqlalchemy import Engine

from app.store.db import shared


class Changes:
    def __init__(self, database: Engine) -> None:
        self._never_the_same = count()
        self._connection = None if shared(database) else database.raw_connection()
        if self._connection:
            self._connection.detach()  # a connection sees others' commits alone, so nobody writes by this one

    def version(self) -> int:
        """Another one after every commit, of this process or of any other; PostgreSQL cannot tell: always another."""
        if self._connection is None:
            return next(self._never_the_same)
        cursor = self._connection.cursor()
        cursor.execute("PRAGMA data_version")  # read from memory that SQLite's processes share
        [(version,)] = cursor.fetchall()
        return int(version)

    def close(self) -> None:
        if self._connection:
            self._connection.close()
