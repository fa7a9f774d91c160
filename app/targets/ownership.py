"""How this process owns a host that other nodes may take over."""

from collections.abc import Callable
from dataclasses import dataclass

from app.targets.lock import Fence, no_fence


def nothing() -> None:
    """Do nothing: no other node shares the host's folder."""


def nobody_else() -> bool:
    """Return False: there is no other node."""
    return False


@dataclass(frozen=True)
class Ownership:
    fence: Fence = no_fence
    claim: int = 0
    """The fencing token: the host refuses commands with a lower one. 0 disables fencing."""
    bring: Callable[[], None] = nothing
    """Load the host's folder as the last owner left it."""
    keep: Callable[[], None] = nothing
    """Save the changes of the host's folder for the next owner. Returns when they are durable."""
    yields: Callable[[], bool] = nobody_else
    """Called if the host is unreachable: True if the host was handed to another node."""
    hurried: Callable[[], bool] = nobody_else
    """True if other nodes exist: a silent connection is then closed within seconds, so that they can take over."""


ALONE = Ownership()
