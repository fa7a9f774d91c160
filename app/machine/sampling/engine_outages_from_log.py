"""Times in which an engine did not work, from the states that were logged."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.events.kinds import EngineSampled, EngineState
from app.events.record import Recorded
from app.store.events import EventStore

BROKEN = ("stalled", "dead", "absent")
NOTICED_AFTER = 2.0
"""Seconds for which a hung engine has been silent when its state is logged: the patience of a health check."""
LOOK_BACK = 30 * 86400.0
"""Seconds before the time asked for in which to look for the state that it began with. States are kept for good, but an
engine that is restarted again and again has many."""
SAMPLED_WITHIN = 60.0
"""Seconds in which an engine that works has been sampled: its state is logged only when it changes."""


@dataclass(frozen=True)
class EngineOutage:
    engine: str
    state: str
    since: float
    until: float | None
    """None while it lasts."""


def compute_outage_begin(logged_at: float, engine_state: str) -> float:
    """Return when an outage began whose state was logged at a time."""
    return logged_at - NOTICED_AFTER if engine_state == "stalled" else logged_at


def read_outages_except_unended_of_departed_engines(
    store: EventStore, since: float, until: float, present_engines: Collection[str] | None = None
) -> list[EngineOutage]:
    """Return the outages that touch this time, by their start. An engine that has not been seen yet has none.

    `present_engines`: those of the line-up. An engine that left it has no further states, so an outage of it that seems
    to last is left out.
    """
    found = _list_outages(store, since, _read_states(store, since - LOOK_BACK, until))
    return [one for one in found if one.until is not None or present_engines is None or one.engine in present_engines]


def _read_states(store: EventStore, since: float, until: float) -> list[Recorded]:
    return store.read_samples(since, until, ("engine.state",))


def _list_outages(store: EventStore, since: float, states: Sequence[Recorded]) -> list[EngineOutage]:
    found: list[EngineOutage] = []
    broken: dict[str, tuple[float, str]] = {}
    seen: set[str] = set()
    for one in states:
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

    Open pages learn of its end at once, so a page that is opened then may not show that it lasts. The states before
    these seconds are read once, since hours of samples lie between them.
    """

    def __init__(self, store: EventStore, seconds: float) -> None:
        self._store, self._seconds = store, seconds
        self._known: tuple[int, Sequence[EngineOutage]] = (-1, ())
        self._earlier: tuple[float, list[Recorded]] = (-math.inf, [])

    def read_outages(self, at: float) -> Sequence[EngineOutage]:
        second, found = self._known
        if second != int(at) or any(one.until is None for one in found):
            since = at - self._seconds
            states = self._read_earlier_states(since) + _read_states(self._store, math.nextafter(since, at), at)
            found = _list_outages(self._store, since, states)
            self._known = int(at), found
        return found

    def _read_earlier_states(self, until: float) -> list[Recorded]:
        """Return the states of LOOK_BACK before `until`. Read only what follows those of the last call, if it can."""
        upto, states = self._earlier
        if upto <= until < upto + LOOK_BACK:
            kept = [one for one in states if one.at >= until - LOOK_BACK]
            states = kept + _read_states(self._store, math.nextafter(upto, math.inf), until)
        else:
            states = _read_states(self._store, until - LOOK_BACK, until)
        self._earlier = until, states
        return states
