"""All errors that some code catches, as a tree.

TemperError                 its text is shown to a person: what is wrong and what to do
├── BadInput                the caller can correct it; nothing was changed
│   ├── BadLineup           an error in a line-up file, with its line
│   └── Rejected            an invalid order, answer or command, with the field and the kind of problem
├── EnvironmentUnusable     this machine or folder cannot be used
│   └── ConnectionLost      the connection to a host ended during work
├── StorageFault            a disk or a folder of this machine fails: runs wait until it works again
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

import errno
from collections.abc import Iterator
from contextlib import contextmanager

_STORAGE_FAULTS = {
    errno.ENOSPC: "Disk full: Temper cannot write {what}. Free space there",
    errno.EDQUOT: "Quota used up: Temper cannot write {what}. Raise the quota or free space",
    errno.EROFS: "Disk read-only: Temper cannot write {what}. Mount it writable",
    errno.EIO: "Disk error: Temper cannot read or write {what}. Look at the disk",
    errno.EACCES: "Permission denied: Temper cannot use {what}. Give its account the right to",
    errno.EPERM: "Permission denied: Temper cannot use {what}. Give its account the right to",
    errno.EMFILE: "Too many open files: Temper cannot open {what}. Raise the limit",
    errno.ENFILE: "Too many open files: Temper cannot open {what}. Raise the limit",
}


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
def convert_bad_input_to_rejected(field: str, kind: str = "invalid") -> Iterator[None]:
    """Raise a BadInput of the block as Rejected, with the field and the kind of problem."""
    try:
        yield
    except BadInput as exc:
        raise Rejected(field, str(exc), kind) from exc


class EnvironmentUnusable(TemperError):
    pass


class ConnectionLost(EnvironmentUnusable):
    pass


class StorageFault(TemperError):
    pass


def find_storage_fault(exc: BaseException | None) -> StorageFault | None:
    """Return the fault of this machine's disk or folders that `exc` is or was raised from, or None."""
    while exc is not None and not isinstance(exc, StorageFault | ConnectionLost):
        if isinstance(exc, OSError) and (said := _STORAGE_FAULTS.get(exc.errno or 0)):
            what = f"the file {exc.filename}" if isinstance(exc.filename, str) else "a file in the data folder"
            return StorageFault(f"{said.format(what=what)}; the run resumes by itself.")
        exc = exc.__cause__
    return exc if isinstance(exc, StorageFault) else None


def is_storage_or_host_connection_fault(exc: BaseException) -> bool:
    """Return whether `exc` says nothing about a host or a change: a fault of our storage, or of the line to a host."""
    return isinstance(exc, ConnectionLost) or find_storage_fault(exc) is not None


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
