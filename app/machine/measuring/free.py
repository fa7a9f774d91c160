"""Whether runs leave their engines alone for as long as a probe takes. Pure."""

from collections.abc import Iterable

from app.loop.state import RunState


def in_the_way(states: Iterable[RunState]) -> str:
    """The sentence that says which run works; empty where none does. A paused one, or one that waits, does not."""
    for state in states:
        if state.status == "running" and state.idle_since is None:
            return f"Run {state.run} is working: pause it or wait for its end, then probe."
    return ""
