"""The one judgement of what is broken. Every page, probe and alert reads it. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.events.kinds import EngineState, RunWaiting
from app.runtime.free_disk_space_meter import DiskSpace
from app.runtime.stalled_run_detection import RunProgress, Silence, find_silences
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

NAMED = 3
"""Runs that are named singly; more are one fault that counts them."""
_HUNG = "Pause or stop it. If it does not react, restart Temper: the run resumes."
_LEFT = "The server's log says why. Restart Temper, or stop the run and start it again."
_GOES_ON = "It resumes by itself, and uses no attempt and no budget meanwhile."

FaultKind = Literal["log", "database", "simulator", "engine", "sampler", "node", "wait", "progress", "queue", "disk"]
FaultPlace = Literal["guide", "engines", "run"]
_ENGINE_BADGES = {"stalled": "ENGINE FROZEN", "dead": "ENGINE DOWN", "absent": "ENGINE DOWN"}
_RUN_FAULTS: Mapping[FaultKind, tuple[str, str, str]] = {
    "progress": ("NO PROGRESS", "log nothing for longer than their steps may take", _HUNG),
    "queue": ("NOT TAKEN UP", "wait, and nothing works on them", _LEFT),
    "wait": ("RUN WAITS", "wait for what is broken", _GOES_ON),
}
"""Badge, what several runs do, and remedy."""
_UNREADY: Collection[FaultKind] = ("log", "database", "simulator", "engine")
"""Kinds that keep a whole node from its work, unless they do not stop work."""


@dataclass(frozen=True)
class HealthFault:
    kind: FaultKind
    badge: str
    """Two words, shown in place of LIVE."""
    text: str
    """What is wrong, as a sentence."""
    remedy: str
    """What is being done about it, and what a person can do."""
    since: float | None = None
    engines: tuple[str, ...] = ()
    stops_work: bool = True
    """False if runs go on all the same."""
    runs: tuple[str, ...] = ()
    """The runs that make no progress, or that nothing works on."""
    state: str = ""
    """Of the engines."""
    title: str = ""
    """What is wrong, in a few words; empty if the sentence is as short as that."""

    @property
    def headline(self) -> str:
        return self.title or self.text.rstrip(".")

    @property
    def remedy_place(self) -> FaultPlace:
        """Where a person can act: by the guide to failures, at the engines, or at the run."""
        if self.kind in ("log", "database", "disk"):
            return "guide"
        return "run" if self.kind in ("node", "wait", "progress", "queue") else "engines"


@dataclass(frozen=True, kw_only=True)
class StoredConditions:
    """What only database and disk know, of one run or of all."""

    silent_worker: NodeStatus | None = None
    """The node that works on the run, if it sends no heartbeat."""
    wait: tuple[float, RunWaiting] | None = None
    """What the run waits for, and since when."""
    left_since: float | None = None
    """Time of the run's newest event, if it is in no process's hands."""
    runs: Sequence[RunProgress] = ()
    """The unended runs, or the one that a page shows."""
    disk: DiskSpace | None = None


@dataclass(frozen=True)
class Conditions(StoredConditions):
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


def find_faults(conditions: Conditions) -> tuple[HealthFault, ...]:
    """Return everything that is broken, the deepest cause first."""
    found = (
        *_find_silent_database_and_unwritable_log_faults(conditions),
        *_find_silent_or_lost_worker_faults(conditions),
        *_find_engine_faults(conditions),
        *_find_faults_that_stop_no_work(conditions),
    )
    if not any(fault.kind in ("log", "database") for fault in found):  # without these, nothing can be logged
        found = (*found, *_find_run_faults(conditions))
    if conditions.wait is None or any(fault.stops_work for fault in found):
        return found  # the cause is named already
    since, waiting = conditions.wait
    badge, remedy = "RUN WAITS", "The run resumes by itself. It uses no attempt and no budget meanwhile."
    return (HealthFault("wait", badge, waiting.reason, remedy, since), *found)


def _find_silent_database_and_unwritable_log_faults(conditions: Conditions) -> Iterator[HealthFault]:
    if conditions.unanswered > LATE_DATABASE:
        text = "The database does not answer this node."
        remedy = "Runs wait for it and resume by themselves. Check the database and the network."
        yield HealthFault("database", "NO DATABASE", text, remedy, conditions.now - conditions.unanswered)
    if conditions.broken_log:
        text = "Temper can no longer write its log, and stops."
        remedy = "Free space in the data folder, then start Temper again: runs resume."
        yield HealthFault("log", "LOG STOPPED", text, remedy)
    elif conditions.unwritten > LATE_WRITE:
        text = "Temper cannot write its log: check for a full disk or an unreachable database."
        remedy = "Hosts are not changed meanwhile. Runs resume by themselves when the log can be written."
        since = conditions.now - conditions.unwritten
        yield HealthFault("log", "LOG STALLED", text, remedy, since, title="Temper cannot write its log")


def _find_silent_or_lost_worker_faults(conditions: Conditions) -> Iterator[HealthFault]:
    if node := conditions.silent_worker:
        text = f"Node {node.name}, which works on this run, does not answer."
        remedy = "Another node takes the run over if it stays silent."
        yield HealthFault("node", "NODE SILENT", text, remedy, conditions.now - node.silent_seconds)
    if conditions.left_since is not None:
        text = "The process that worked on this run was killed or restarted."
        remedy = "The run resumes as soon as a process works on it again."
        yield HealthFault("node", "INTERRUPTED", text, remedy, conditions.left_since)


def _find_engine_faults(conditions: Conditions) -> Iterator[HealthFault]:
    """Yield one fault for each state that is not well, with the engines in it."""
    unwell = {name: one for name, one in conditions.engines.items() if one[1].state not in WELL}
    if conditions.simulator is False:
        since = min((since for since, _ in unwell.values()), default=None)
        text, remedy = "The simulated engines are stopped.", "Start the engines: the turn is then asked again."
        yield HealthFault("simulator", "ENGINES DOWN", text, remedy, since, tuple(conditions.seated), state="absent")
        return
    for state in dict.fromkeys(event.state for _, event in unwell.values()):
        alike = {name: one for name, one in unwell.items() if one[1].state == state}
        yield HealthFault(
            "engine",
            _ENGINE_BADGES.get(state, "ENGINE DEGRADED"),
            _name_engines_with_detail_if_only_one(state, alike),
            _choose_remedy(state),
            min(since for since, _ in alike.values()),
            tuple(alike),
            stops_work=state not in SERVING and bool(set(alike) & set(conditions.seated)),
            state=state,
            title=_title_engines_by_name_or_count(state, alike),
        )


def _find_faults_that_stop_no_work(conditions: Conditions) -> Iterator[HealthFault]:
    all_well = all(event.state in WELL for _, event in conditions.engines.values())
    if conditions.waits_for_engines > LATE_ANSWER and all_well:
        text = "An engine does not answer its health check."
        remedy = "Temper is waiting for the answer; soon the engine counts as stalled."
        since = conditions.now - conditions.waits_for_engines
        yield HealthFault("engine", "ENGINE SLOW", text, remedy, since, stops_work=False)
    if conditions.unpolled > LATE_POLL:
        text = "Engines and GPUs are not being read: their figures are old."
        remedy = "Look at the server's log for the reason."
        since = conditions.now - conditions.unpolled
        yield HealthFault("sampler", "NO READINGS", text, remedy, since, stops_work=False)
    if conditions.disk and conditions.disk.low_since is not None:
        text = f"Only {conditions.disk.free / 1024**3:.1f} GiB of the data folder's disk is free."
        remedy = "Free space now, or shrink old runs with temper tidy: on a full disk runs wait, and nothing is logged."
        yield HealthFault("disk", "DISK LOW", text, remedy, conditions.disk.low_since, stops_work=False)


def _name_engines_with_detail_if_only_one(
    state: str, engines_in_this_state: Mapping[str, tuple[float, EngineState]]
) -> str:
    details = {event.detail or "no detail" for _, event in engines_in_this_state.values()}
    if len(engines_in_this_state) == 1:
        return f"Engine {next(iter(engines_in_this_state))} is {state}: {details.pop()}"
    return f"{len(engines_in_this_state)} engines are {state}: {', '.join(engines_in_this_state)}."


def _title_engines_by_name_or_count(state: str, engines: Collection[str]) -> str:
    one = len(engines) == 1
    which = f"Engine {next(iter(engines))}" if one else f"{len(engines)} engines"
    if state == "absent":
        return f"{which} {'has' if one else 'have'} not been started"
    return f"{which} {'is' if one else 'are'} degraded" if state in SERVING else f"{which} stopped answering"


def _choose_remedy(state: str) -> str:
    if state in SERVING:
        return "Runs go on with what serves."
    waits = "The turn waits and is asked again when the engine answers."
    if state == "stalled":
        return f"{waits} If it stays frozen, restart it."
    return f"{waits} If it does not come back, start it again." if state in ("dead", "absent") else waits


def _find_run_faults(conditions: Conditions) -> Iterator[HealthFault]:
    """Yield what is wrong with runs, without the wait and the loss that a run's own page names already."""
    silent = list(find_silences(conditions.runs, conditions.now))
    yield from _list_or_count_run_faults(conditions, "progress", silent)
    if conditions.left_since is None:
        yield from _list_or_count_run_faults(conditions, "queue", silent)
    if conditions.wait is None:
        waiting = [one for one in conditions.runs if one.waiting_for]
        waits = [Silence("wait", one.run, one.host, one.at, one.waiting_for) for one in waiting]
        yield from _list_or_count_run_faults(conditions, "wait", waits)


def _list_or_count_run_faults(
    conditions: Conditions, kind: FaultKind, found: Sequence[Silence]
) -> Iterator[HealthFault]:
    """Yield a fault for each of a few runs, or one that counts them. Work stops if they are all that there is."""
    silences = [one for one in found if one.kind == kind]
    badge, counted_text, remedy = _RUN_FAULTS[kind]
    stops_work = len(silences) == len(conditions.runs)
    if len(silences) <= NAMED:
        for one in silences:
            text = _describe_stalled_run(one)
            yield HealthFault(kind, badge, text, remedy, one.since, stops_work=stops_work, runs=(one.run,))
        return
    names, since = tuple(one.run for one in silences), min(one.since for one in silences)
    text = f"{len(names)} runs {counted_text}: {', '.join(names[:NAMED])} and {len(names) - NAMED} more."
    yield HealthFault(kind, badge, text, remedy, since, stops_work=stops_work, runs=names)


def _describe_stalled_run(silence: Silence) -> str:
    if silence.kind == "wait":
        return f"Run {silence.run} on {silence.host} waits: {silence.status}"
    if silence.kind == "queue":
        state = "queued" if silence.status == "queued" else "interrupted"
        return f"Run {silence.run} on {silence.host} is {state}, and nothing works on it."
    limit = f"{silence.limit.seconds:.0f} s, the limit of {silence.limit.noun}"
    return f"Run {silence.run} on {silence.host} has logged nothing for more than {limit}."


def list_unreadiness_reasons(conditions: Conditions) -> list[str]:
    """Return why this node cannot do its work: faults that stop it, and engines that do not serve yet."""
    faults = [fault for fault in find_faults(conditions) if fault.stops_work and fault.kind in _UNREADY]
    named = {engine for fault in faults for engine in fault.engines}
    states = {name: event.state for name, (_, event) in conditions.engines.items()}
    starting = [
        f"Engine {name} is {states.get(name, 'not looked at yet')}."
        for name in sorted(conditions.seated)
        if name not in named and states.get(name) not in SERVING
    ]
    return [*(f"{fault.text.rstrip('.')}. {fault.remedy}".rstrip() for fault in faults), *starting]
