"""Whether running runs leave the engines free for a probe. Pure."""

from collections.abc import Iterable

from app.loop.state import RunState


def find_working_run(states: Iterable[RunState]) -> str:
    """Return a sentence that names a working run, or an empty string. Paused and waiting runs do not count."""
    for state in states:
        if state.status == "running" and state.idle_since is None:
            return f"Run {state.run} is working: pause it or wait for its end, then probe."
    return ""
