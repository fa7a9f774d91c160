"""Format log records for a terminal or journal: one line, with further lines indented."""

import logging
from typing import Any

from app.text.clean import clean_text

LONGEST = 20_000


class PlainFormatter(logging.Formatter):
    """Remove control characters: messages and tracebacks may quote hosts, models or uploaded files."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  named by the class above
        from app.cli.fault import describe_fault  # noqa: PLC0415  most commands end without a traceback

        return describe_fault(ei[1])

    def format(self, record: logging.LogRecord) -> str:
        return clean_text(super().format(record), LONGEST).rstrip("\n").replace("\n", "\n    ")


def set_plain_format() -> None:
    """Set the formatter of Python's last-resort handler, which writes to standard error."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(PlainFormatter())
