"""How this process has a host that other processes may want as well."""

from collections.abc import Callable
from dataclasses import dataclass

from app.targets.lock import Fence, no_fence


def nothing() -> None:
    """What a host's folder holds is nobody else's matter."""


def nobody_else() -> bool:
    """Who cannot reach the host has to say so: there is no other who could."""
    return False


@dataclass(frozen=True)
class Ownership:
    fence: Fence = no_fence
    claim: int = 0
    """Higher than that of everybody who had the host before: the host refuses the lower. 0 is no claim."""
    bring: Callable[[], None] = nothing
    """The host's folder as whoever had the host last left it."""
    keep: Callable[[], None] = nothing
    """What has changed in the host's folder, for whoever has the host next. It returns once that is safe."""
    yields: Callable[[], bool] = nobody_else
    """The host does not answer this process: whether another was given it, who may reach it."""
    hurried: Callable[[], bool] = nobody_else
    """There are others: a line that went silent is known for cut in seconds, since all that is lost is the way."""


ALONE = Ownership()
