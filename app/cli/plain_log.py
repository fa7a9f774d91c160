"""What is logged goes to a terminal or a journal: a record is one line of ours, and the rest of it is set in."""

import logging

from app.text.clean import clean

_LONGEST = 20_000


class PlainLog(logging.Formatter):
    """A message or a traceback may quote a host, a model or a file that somebody sent."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record), _LONGEST).rstrip("\n").replace("\n", "\n    ")


def log_plainly() -> None:
    """Where nobody set up logging, Python has one handler left; it writes to standard error."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(PlainLog())
