"""Times in which an engine did not work, from the states that were logged."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.events.kinds import EngineSampled, EngineState
from app.store.events import EventStore

BROKEN = ("stalled", "dead", "absent")
NOTICED_AFTER = 2.0
"""Seconds for which a hung engine has been silent when its state is logged: the patience of a health check."""
LOOK_BACK = 3600.0
"""Seconds before the time asked for in which to look for the state that it began with."""
SAMPLED_WITHIN = 60.0
"""Seconds in which an engine that works has been sampled: its state is logged only when it changes."""


@dataclass(frozen=True)
class EngineOutage:
    engine: str
    state: str
    since: float
    until: float | None
    """None while it lasts."""


def compute_outage_begin(logged_at: float, state: str) -> float:
    """Return when an outage began whose state was logged at a time."""
    return logged_at - NOTICED_AFTER if state == "stalled" else logged_at


def read_engine_outages(store: EventStore, since: float, until: float) -> list[EngineOutage]:
    """Return the outages that touch this time, by their start. An engine that has not been seen yet has none."""
    found: list[EngineOutage] = []
    broken: dict[str, tuple[float, str]] = {}
    seen: set[str] = set()
    for one in store.read_samples(since - LOOK_BACK, until, ("engine.state",)):
        if not isinstance(event := one.event, EngineState):
            continue
        if event.state in BROKEN and (event.engine in seen or _was_sampled_shortly_before(store, event.engine, one.at)):
            broken.setdefault(event.engine, (compute_outage_begin(one.at, event.state), event.state))
        elif event.state not in BROKEN:
            seen.add(event.engine)
            if begun := broken.pop(event.engine, None):
                found.append(EngineOutage(event.engine, begun[1], begun[0], one.at))
    found += [EngineOutage(engine, state, at, None) for engine, (at, state) in broken.items()]
    return sorted((one for one in found if one.until is None or one.until > since), key=lambda one: one.since)


def _was_sampled_shortly_before(store: EventStore, engine: str, moment: float) -> bool:
    samples = store.read_samples(moment - SAMPLED_WITHIN, moment, ("engine.sample",))
    return any(isinstance(one.event, EngineSampled) and one.event.engine == engine for one in samples)


class RecentOutages:
    """Outages of the last seconds before a time, read once a second at most; while one lasts, each time.

    Open pages learn of its end at once, so a page that is opened then may not show that it lasts.
    """

    def __init__(self, store: EventStore, seconds: float) -> None:
        self._store, self._seconds = store, seconds
        self._known: tuple[int, Sequence[EngineOutage]] = (-1, ())

    def read_outages(self, at: float) -> Sequence[EngineOutage]:
        second, found = self._known
        if second != int(at) or any(one.until is None for one in found):
            found = read_engine_outages(self._store, at - self._seconds, at)
            self._known = int(at), found
        return found
