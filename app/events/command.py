"""A person's command for a run: pause, resume, stop, approve, refuse or edit."""

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
    """For an edit: `{"actions": [...], "note": ""}`, in the Worker's format."""
    via: str = ""
    """How the person signed in: session, token, demo, terminal."""
