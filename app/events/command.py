"""What a person asks of a run: pause, resume, stop, approve, refuse or edit."""

from dataclasses import dataclass
from typing import Literal

Verb = Literal["pause", "resume", "stop", "approve", "refuse", "edit"]


@dataclass(frozen=True)
class Command:
    id: int
    verb: str
    by: str
    reason: str
    approval: str
    actions: str = ""
    """Of an edit: `{"actions": [...], "note": ""}`, as the Worker would answer."""
    via: str = ""
    """How who asks has come in: session, token, demo, terminal."""
