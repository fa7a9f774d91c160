"""How this process owns a host that other nodes may take over."""

from collections.abc import Callable
from dataclasses import dataclass

from app.targets.host_lock import Fence, skip_fence_check


def do_nothing() -> None:
    """Do nothing: no other node shares the host's folder."""


def return_false() -> bool:
    """Return False: there is no other node."""
    return False


@dataclass(frozen=True)
class Ownership:
    fence: Fence = skip_fence_check
    fencing_token: int = 0
    """The fencing token: the host refuses commands with a lower one. 0 disables fencing."""
    load_folder: Callable[[], None] = do_nothing
    """Load the host's folder as the last owner left it."""
    save_folder: Callable[[], None] = do_nothing
    """Save the changes of the host's folder for the next owner. Returns when they are durable."""
    hand_over: Callable[[], bool] = return_false
    """Called if the host is unreachable: True if the host was handed to another node."""
    has_other_nodes: Callable[[], bool] = return_false
    """True if other nodes exist: a silent connection is then closed within seconds, so that they can take over."""


ALONE = Ownership()
