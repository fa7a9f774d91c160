"""What a call raises.

TemperError
├── ConnectionFailed     the server did not answer
└── Problem              the server refused (RFC 9457); problems.py has a class for each type
"""

from collections.abc import Sequence
from dataclasses import dataclass


class TemperError(Exception):
    """Base class of everything that this package raises on purpose."""


class ConnectionFailed(TemperError):
    """The server did not answer."""


@dataclass(frozen=True)
class FieldFault:
    """What is wrong with one field of a request."""

    field: str
    detail: str


class Problem(TemperError):
    """The server refused a request, and says why."""

    def __init__(self, status: int, kind: str, title: str, detail: str, faults: Sequence[FieldFault] = ()) -> None:
        super().__init__(detail or title)
        self.status = status
        self.kind = kind
        """The last part of `type`, such as `not-found`; empty if something between you and Temper answered."""
        self.title, self.detail, self.faults = title, detail, tuple(faults)
