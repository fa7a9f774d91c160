"""All errors that some code catches, as a tree.

TemperError                 its text is shown to a person: what is wrong and what to do
├── BadInput                the caller can correct it; nothing was changed
│   ├── BadLineup           an error in a line-up file, with its line
│   └── Rejected            an invalid order, answer or command, with the field and the kind of problem
├── EnvironmentUnusable     this machine or folder cannot be used
│   └── ConnectionLost      the connection to a host ended during work
├── EngineError             a turn did not finish
│   ├── EngineUnavailable   not reachable, or status 503
│   ├── EngineRefused       status 4xx: the request is invalid
│   ├── EngineDied          the stream ended without a finish_reason
│   └── EngineStalled       the stream is open and silent
├── ActionFailed            a change on the host failed
│   └── HostDrifted         the host is not as it was when people approved the change
└── RollbackFailed          the host differs from before the change: the run halts
LeaseLost                   not shown to people: another node owns the run, so work on it stops here
"""

from collections.abc import Iterator
from contextlib import contextmanager


class TemperError(Exception):
    @property
    def sentence(self) -> str:
        """Return the text with a capital first letter, for pages and API answers."""
        said = str(self)
        return said[:1].upper() + said[1:]


class BadInput(TemperError):
    pass


class BadLineup(BadInput):
    pass


class Rejected(BadInput):
    def __init__(self, field: str, said: str, kind: str = "invalid") -> None:
        """`kind` is a problem type of the API; web/api/problem.py maps it to a status, for pages too."""
        super().__init__(said)
        self.field, self.kind = field, kind


@contextmanager
def reject_as(field: str, kind: str = "invalid") -> Iterator[None]:
    """Raise a BadInput of the block as Rejected, with the field and the kind of problem."""
    try:
        yield
    except BadInput as exc:
        raise Rejected(field, str(exc), kind) from exc


class EnvironmentUnusable(TemperError):
    pass


class ConnectionLost(EnvironmentUnusable):
    pass


class EngineError(TemperError):
    pass


class EngineUnavailable(EngineError):
    pass


class EngineRefused(EngineError):
    pass


class EngineDied(EngineError):
    pass


class EngineStalled(EngineError):
    pass


class ActionFailed(TemperError):
    pass


class HostDrifted(ActionFailed):
    pass


class RollbackFailed(TemperError):
    pass


class LeaseLost(Exception):
    pass
