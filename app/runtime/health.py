"""The one judgement of what is broken. Every page, probe and alert reads it. Pure, but for `read_conditions`."""

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.events.kinds import EngineState, RunWaiting
from app.runtime.runtime import Runtime
from app.store.nodes import NodeStatus

WELL = ("ready", "loading")
"""States of an engine that need nobody."""
SERVING = ("ready", "degraded")
"""States of an engine in which it answers."""
LATE_WRITE = 1.5
"""Seconds that a write to the log may take before a page says so."""
LATE_POLL = 15.0
"""Seconds without a look at engines and GPUs: while nobody watches, one is taken every ten seconds."""
LATE_DATABASE = 1.5
LATE_ANSWER = 1.0
"""Seconds that an engine may take to answer a health check before a page stops to say LIVE."""
SILENT_NODE = 2.0
"""Seconds without a heartbeat after which a page no longer trusts a node; it is given up later."""

FaultKind = Literal["log", "database", "simulator", "engine", "sampler", "node", "wait"]
FaultPlace = Literal["guide", "engines", "run"]
_PLACES: Mapping[FaultKind, FaultPlace] = {"log": "guide", "database": "guide", "node": "run", "wait": "run"}


@dataclass(frozen=True)
class HealthFault:
    kind: FaultKind
    badge: str
    """Two words for the place where LIVE stands otherwise."""
    text: str
    """What is wrong, as a sentence."""
    remedy: str
    """What is being done about it, and what a person can do."""
    since: float | None = None
    engines: tuple[str, ...] = ()
    stops_work: bool = True
    """False if runs go on all the same."""
    title: str = ""
    """What is wrong, in a few words; empty if the sentence is as short as that."""

    @property
    def headline(self) -> str:
        return self.title or self.text.rstrip(".")

    @property
    def remedy_place(self) -> FaultPlace:
        """Where a person can act: by the guide to failures, at the engines, or at the run."""
        return _PLACES.get(self.kind, "engines")


@dataclass(frozen=True)
class Conditions:
    """The inputs of find_faults at one moment."""

    now: float
    engines: Mapping[str, tuple[float, EngineState]] = field(default_factory=dict)
    """The newest state of each engine, and since when."""
    seated: Collection[str] = ()
    """Engines that hold a role."""
    simulator: bool | None = None
    """Whether the simulator runs; None if this process has none."""
    unwritten: float = 0.0
    """Seconds for which the current write to the log has been waiting."""
    broken_log: bool = False
    unanswered: float = 0.0
    """Seconds since the database last answered this node."""
    unpolled: float = 0.0
    """Seconds since engines and GPUs were last looked at."""
    waits_for_engines: float = 0.0
    """Seconds that the look at engines and GPUs under way has taken."""
    silent_worker: NodeStatus | None = None
    """The node that works on the run, if it sends no heartbeat."""
    wait: tuple[float, RunWaiting] | None = None
    """What the run waits for, and since when."""
    left_since: float | None = None
    """Time of the run's newest event, if it is in no process's hands."""


def find_faults(at: Conditions) -> tuple[HealthFault, ...]:
    """Return everything that is broken, the deepest cause first."""
    found = (
        *_find_storage_faults(at),
        *_find_node_faults(at),
        *_find_engine_faults(at),
        *_find_late_answers(at),
        *_find_sampler_faults(at),
    )
    if at.wait is None or any(fault.stops_work for fault in found):
        return found  # the cause is named already
    since, waiting = at.wait
    badge, remedy = "RUN WAITS", "The run goes on by itself. It spends no attempt and no budget meanwhile."
    return (HealthFault("wait", badge, waiting.reason, remedy, since), *found)


def _find_storage_faults(at: Conditions) -> Iterator[HealthFault]:
    if at.broken_log:
        text = "Temper cannot write its log any more, and stops."
        yield HealthFault(
            "log", "LOG STOPPED", text, "Free space in the data folder, then start Temper again: runs resume."
        )
    elif at.unwritten > LATE_WRITE:
        text = "Temper cannot write its log: check for a full disk or an unreachable database."
        remedy = "Hosts are not changed meanwhile. Runs resume by themselves when the log can be written."
        since = at.now - at.unwritten
        yield HealthFault("log", "LOG STALLED", text, remedy, since, title="Temper cannot write its log")
    if at.unanswered > LATE_DATABASE:
        text = "The database does not answer this node."
        remedy = "Runs wait for it and resume by themselves. Check the database and the network."
        yield HealthFault("database", "NO DATABASE", text, remedy, at.now - at.unanswered)


def _find_node_faults(at: Conditions) -> Iterator[HealthFault]:
    if node := at.silent_worker:
        text = f"Node {node.name}, which works on this run, does not answer."
        yield HealthFault(
            "node",
            "NODE SILENT",
            text,
            "Another node takes the run over if it stays silent.",
            at.now - node.silent_seconds,
        )
    if at.left_since is not None:
        text = "The process that worked on this run was killed or restarted."
        remedy = "The run goes on from where it stood as soon as a process takes it up."
        yield HealthFault("node", "INTERRUPTED", text, remedy, at.left_since)


def _find_engine_faults(at: Conditions) -> Iterator[HealthFault]:
    """Yield one fault for each state that is not well, with the engines in it."""
    unwell = {name: one for name, one in at.engines.items() if one[1].state not in WELL}
    if at.simulator is False:
        since = min((since for since, _ in unwell.values()), default=None)
        text = "The simulated engines are stopped."
        yield HealthFault(
            "simulator",
            "ENGINES DOWN",
            text,
            "Start the engines: the turn is then asked again.",
            since,
            tuple(at.seated),
        )
        return
    for state in dict.fromkeys(event.state for _, event in unwell.values()):
        alike = {name: one for name, one in unwell.items() if one[1].state == state}
        yield HealthFault(
            "engine",
            "ENGINE FROZEN"
            if state == "stalled"
            else "ENGINE DOWN"
            if state in ("dead", "absent")
            else "ENGINE DEGRADED",
            _describe_engines(state, alike),
            _choose_remedy(state),
            min(since for since, _ in alike.values()),
            tuple(alike),
            stops_work=state not in SERVING and bool(set(alike) & set(at.seated)),
            title=_title_engines(state, alike),
        )


def _find_late_answers(at: Conditions) -> Iterator[HealthFault]:
    if at.waits_for_engines > LATE_ANSWER and not any(one[1].state not in WELL for one in at.engines.values()):
        text = "An engine does not answer its health check."
        remedy = "Temper is waiting for the answer; soon the engine counts as stalled."
        yield HealthFault("engine", "ENGINE SLOW", text, remedy, at.now - at.waits_for_engines, stops_work=False)


def _describe_engines(state: str, alike: Mapping[str, tuple[float, EngineState]]) -> str:
    details = {event.detail or "no detail" for _, event in alike.values()}
    if len(alike) == 1:
        return f"Engine {next(iter(alike))} is {state}: {details.pop()}"
    return f"{len(alike)} engines are {state}: {', '.join(alike)}."


def _title_engines(state: str, engines: Collection[str]) -> str:
    one = len(engines) == 1
    which = f"Engine {next(iter(engines))}" if one else f"{len(engines)} engines"
    if state == "absent":
        return f"{which} {'has' if one else 'have'} not been started"
    return f"{which} {'is' if one else 'are'} degraded" if state in SERVING else f"{which} stopped answering"


def _choose_remedy(state: str) -> str:
    if state in SERVING:
        return "Runs go on with what serves."
    waits = "The turn waits and is asked again when the engine answers."
    return f"{waits} If it stays frozen, restart it." if state == "stalled" else waits


def _find_sampler_faults(at: Conditions) -> Iterator[HealthFault]:
    if at.unpolled > LATE_POLL:
        text = "Engines and GPUs are not being read: their figures are old."
        remedy = "Look at the server's log for the reason."
        yield HealthFault("sampler", "NO READINGS", text, remedy, at.now - at.unpolled, stops_work=False)


@dataclass(frozen=True)
class StoredConditions:
    """What only the database knows of one run."""

    silent_worker: NodeStatus | None = None
    wait: tuple[float, RunWaiting] | None = None
    left_since: float | None = None


UNKNOWN = StoredConditions()


def read_conditions(runtime: Runtime, stored: StoredConditions = UNKNOWN) -> Conditions:
    """Read the conditions of this moment, without waiting for anything."""
    polling = runtime.board.polling_since
    return Conditions(
        now=runtime.clock.now(),
        engines=dict(runtime.board.states),
        seated={seat.engine for seat in runtime.lineup.seats.values()},
        simulator=None if runtime.simulator is None else runtime.simulator.is_running,
        unwritten=runtime.writer.stalled_seconds,
        broken_log=runtime.writer.broken.is_set(),
        unanswered=runtime.clock.silence,
        unpolled=time.monotonic() - runtime.board.polled_at,
        waits_for_engines=0.0 if polling is None else time.monotonic() - polling,
        silent_worker=stored.silent_worker,
        wait=stored.wait,
        left_since=stored.left_since,
    )
