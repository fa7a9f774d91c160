"""Format log records for a terminal or journal: one line, with further lines indented."""

import logging

from app.text.clean import clean

_LONGEST = 20_000


class PlainLog(logging.Formatter):
    """Remove control characters: messages and tracebacks may quote hosts, models or uploaded files."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record), _LONGEST).rstrip("\n").replace("\n", "\n    ")


def log_plainly() -> None:
    """Set the formatter of Python's last-resort handler, which writes to standard error."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(PlainLog())
