"""The log of a process: a line an event, with time, level, logger and fields, as text or as JSON."""

import json
import logging
import sys
import threading
from datetime import UTC, datetime
from typing import Any, Literal

from app.text.clean import clean_text

LogFormat = Literal["text", "json"]
LONGEST = 20_000
LEVELS = {"WARNING": "WARN", "CRITICAL": "FATAL"}
"""Levels as the text has them, where the usual name is longer than five letters."""
_RECORD_FIELDS = (
    "name msg args levelname levelno pathname filename module exc_info exc_text stack_info lineno funcName"
    " created msecs relativeCreated thread threadName processName process message asctime taskName color_message"
)
_NO_FIELDS = frozenset(_RECORD_FIELDS.split())

log = logging.getLogger(__name__)


class RedactingFormatter(logging.Formatter):
    """A formatter whose tracebacks hold no secrets and no values of the database."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  named by the class above
        from app.cli.crash_report import format_redacted_traceback  # noqa: PLC0415  most commands end without a traceback

        return format_redacted_traceback(ei[1])


class PlainFormatter(RedactingFormatter):
    """One line, with further lines indented, without control characters: a message may quote a host or a model."""

    def format(self, record: logging.LogRecord) -> str:
        return clean_text(super().format(record), LONGEST).rstrip("\n").replace("\n", "\n    ")


class CommandLog(PlainFormatter):
    """`engine failed  engine=gemma-31b reason="…"`: for a command that keeps no log of a server."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  called so by Python
        return _join_fields(record.message, record)


class TextLog(PlainFormatter):
    """`2026-11-23T15:02:07.123Z INFO  temper.runtime  run recovered  run=ab12 after_s=0.9`; further lines indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  called so by Python
        level = LEVELS.get(record.levelname, record.levelname)
        head = f"{_format_record_time(record)} {level:<5} {_get_logger_label(record)}  {record.message}"
        return _join_fields(head, record)


class JsonLog(RedactingFormatter):
    """One JSON object a line, in ASCII, with the message and each field as keys."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _format_record_time(record),
            "level": record.levelname.lower(),
            "logger": _get_logger_label(record),
            "message": record.getMessage()[:LONGEST],
        }
        if record.exc_info and record.exc_info[0]:
            line["traceback"] = self.formatException(record.exc_info)[-LONGEST:]
        return json.dumps({**_collect_extra_fields(record), **line}, default=str)


def set_last_resort_format() -> None:
    """Set the formatter of Python's last-resort handler, which writes to standard error."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(CommandLog())


def open_log(kind: LogFormat) -> LogFormat:
    """Log to standard error in this format, and return it. Our loggers start at INFO, those of libraries at WARNING."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLog() if kind == "json" else TextLog())
    logging.getLogger().addHandler(handler)
    logging.getLogger("app").setLevel(logging.INFO)
    queue = logging.getLogger("dbos")  # without a handler of its own it is given one, in a format of its own
    queue.addHandler(handler)
    queue.propagate = False
    logging.captureWarnings(capture=True)
    threading.excepthook = _log_thread_error
    sys.unraisablehook = _log_unraisable_error
    return kind


def print_failure(sentence: str) -> None:
    """Print on standard error why this process ends, as a line of the log if that is JSON."""
    if any(isinstance(handler.formatter, JsonLog) for handler in logging.getLogger().handlers):
        log.critical(sentence)
    else:
        print(f"temper: {sentence}", file=sys.stderr)  # noqa: T201


def _log_thread_error(args: threading.ExceptHookArgs) -> None:
    log.error("a thread ended by a fault of ours", exc_info=args.exc_value)


def _log_unraisable_error(args: Any) -> None:
    log.error("an error that nobody could be told of", exc_info=args.exc_value)


def _format_record_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _get_logger_label(record: logging.LogRecord) -> str:
    """Return the room of ours that logged it (`temper.runtime`), or the library's own name."""
    package, *inside = record.name.split(".")
    return ".".join(["temper", *inside[:1]]) if package == "app" else record.name


def _join_fields(head: str, record: logging.LogRecord) -> str:
    fields = " ".join(f"{name}={_quote_value(value)}" for name, value in _collect_extra_fields(record).items())
    return f"{head}  {fields}" if fields else head


def _collect_extra_fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _NO_FIELDS and value is not None}


def _quote_value(value: object) -> str:
    """Return one word as it is, else a JSON string, so that no value looks like another field."""
    text = str(value)
    return text if text and not set(text) & set(' "=\\\t\n') else json.dumps(text, ensure_ascii=False)
