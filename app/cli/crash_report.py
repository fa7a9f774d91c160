"""Explain unexpected errors: a sentence if the database refused something, else a file with the traceback."""

import tempfile
import traceback
from collections.abc import Iterator

from sqlalchemy.exc import DBAPIError

from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error
from app.text.redaction import redact_secrets

_MAY_NOT, _READ_ONLY = "42501", "25006"
_DRIVERS = ("psycopg", "sqlalchemy")
"""Their errors quote values of statements and rows."""


def explain_database_error(exc: Exception) -> str:
    """Return what the database refused and what to do, or an empty string if it is not the cause."""
    state = getattr(getattr(exc, "orig", None) or exc, "sqlstate", None)
    if state == _MAY_NOT:
        way_on = "Use the role that the server uses, or grant this one SELECT, INSERT, UPDATE and DELETE on all tables."
        return f"the role in TEMPER_DATABASE_URL may not do this: {shorten_database_error(exc)}. {way_on}"
    if state == _READ_ONLY:
        refusal = f"the database in TEMPER_DATABASE_URL is read-only: {shorten_database_error(exc)}"
        return f"{refusal}. Name the one that the server uses."
    if isinstance(exc, DATABASE_UNAVAILABLE):
        way_on = "Check that it runs and its disk has room, then try again."
        return f"the database does not answer: {shorten_database_error(exc)}. {way_on}"
    return ""


def write_fault(exc: BaseException) -> str:
    """Write the traceback of `exc`, without values from the database, to a new file and return its path."""
    with tempfile.NamedTemporaryFile("w", prefix="temper-fault-", suffix=".txt", delete=False) as file:
        file.write(format_redacted_traceback(exc))
    return file.name


def format_redacted_traceback(exc: BaseException) -> str:
    """Return the traceback of `exc` and of its causes, without values that were sent to a database or read from it."""
    return redact_secrets("\n".join(_iterate_traceback_lines_with_causes(exc)))


def _iterate_traceback_lines_with_causes(exc: BaseException) -> Iterator[str]:
    if before := exc.__cause__ or (None if exc.__suppress_context__ else exc.__context__):
        yield from _iterate_traceback_lines_with_causes(before)
        yield "\nThat led to:\n"
    yield "Traceback (most recent call last):"
    yield "".join(traceback.format_tb(exc.__traceback__)).rstrip("\n")
    yield f"{type(exc).__module__}.{type(exc).__qualname__}: {_format_message_without_database_values(exc)}"


def _format_message_without_database_values(exc: BaseException) -> str:
    if type(exc).__module__.partition(".")[0] not in _DRIVERS:
        return str(exc)
    if isinstance(exc, DBAPIError):
        return f"{_format_message_without_database_values(exc.orig) if exc.orig else ''}\nSQL: {exc.statement}"
    names = {name: getattr(getattr(exc, "diag", None), name, None) for name in ("table_name", "constraint_name")}
    found = {"sqlstate": getattr(exc, "sqlstate", None), **names}
    return ", ".join(f"{name} {value}" for name, value in found.items() if value) or "no details"
