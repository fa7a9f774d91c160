"""What a person asks of a run: pause, resume, stop, approve or refuse."""

from dataclasses import dataclass
from typing import Literal

Verb = Literal["pause", "resume", "stop", "approve", "refuse"]


@dataclass(frozen=True)
class Command:
    id: int
    verb: str
    by: str
    reason: str
    approval: str
