"""A person's command for a run: pause, resume, stop, approve, refuse or edit."""

from typing import Literal

from msgspec import Struct

Verb = Literal["pause", "resume", "stop", "approve", "refuse", "edit"]


class Command(Struct, frozen=True):
    id: int
    verb: str
    by: str
    reason: str
    approval: str
    actions: str = ""
    """For an edit: `{"actions": [...], "note": ""}`, in the Worker's format."""
    via: str = ""
    """How the person signed in: session, token, demo, terminal."""
    token: str = ""
    """Id of the API token, if one was used."""
    made_by: str = ""
    """Who made the token for somebody else, names with a space between them."""
