"""Every error that somebody catches, and nothing else.

TemperError                 its text is for a person: what is wrong, what to do
├── BadInput                the caller can mend it; nothing was changed
│   ├── BadLineup           a line-up file, with its line
│   └── NotTaken            an order, an answer or a command: which part is at fault, and what sort of fault it is
├── Unusable                this machine or folder cannot be worked with
│   └── LineCut             the connection to a host ended in mid-work
├── EngineError             a turn did not come to its end
│   ├── EngineUnavailable   not reachable, or it says 503
│   ├── EngineRefused       it answered 4xx: the request is at fault
│   ├── EngineDied          the stream ended without a finish_reason
│   └── EngineStalled       the stream is open and silent
├── ActionFailed            a change on the target could not be made
└── CannotRestore           the host is not what it was: halt
Fenced                      apart, for nobody's eyes: a run is another node's now, and who works on it here stops
"""


class TemperError(Exception):
    @property
    def sentence(self) -> str:
        """As it stands on a page or in an answer; a terminal says it after a colon."""
        said = str(self)
        return said[:1].upper() + said[1:]


class BadInput(TemperError):
    pass


class BadLineup(BadInput):
    pass


class NotTaken(BadInput):
    def __init__(self, field: str, said: str, kind: str = "invalid") -> None:
        """`kind` is one of the API's problems; its table says the status, for pages, too (web/api/problem.py)."""
        super().__init__(said)
        self.field, self.kind = field, kind


class Unusable(TemperError):
    pass


class LineCut(Unusable):
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


class CannotRestore(TemperError):
    pass


class Fenced(Exception):
    pass
