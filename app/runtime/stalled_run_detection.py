"""Judges whether a run makes progress: its log may be silent for as long as the step that it takes. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from app.loop.state import SILENT_SECONDS
from app.runs.order import BOUNDS
from app.scanners.openscap.scanner import SECONDS_RULE, SECONDS_SILENT
from app.targets.ssh.ssh_resource_changes import SECONDS as SECONDS_CHANGE

GRACE = 10.0
"""Seconds beyond a step's own limit, in which its end reaches the log."""
STARTING = 15.0
"""Seconds in which a worker takes up a run whose host is free. Between nodes it takes up to ten."""
IN_TURN = ("turn.started", "turn.delta")


class StepLimit(NamedTuple):
    seconds: float
    noun: str


HOST_STEP = StepLimit(SECONDS_RULE, "a step on a host")
"""Reading a host, trying its probes, checking one rule."""
_LIMITS = {
    "scan.started": StepLimit(SECONDS_SILENT, "a scan"),
    "scan.progress": StepLimit(SECONDS_SILENT, "a scan"),
    # The run itself gives a host up at its own limit, which is three times as long for an emulated processor.
    "reboot.announced": StepLimit(3 * BOUNDS["reboot_seconds"][1], "a reboot"),
    "action.applying": StepLimit(SECONDS_CHANGE, "a change"),
    "action.rolling_back": StepLimit(SECONDS_CHANGE, "a rollback"),
}
_QUEUE_ELSEWHERE = StepLimit(SILENT_SECONDS, "a step or a place in an engine's queue at another node")


@dataclass(frozen=True)
class RunProgress:
    """What is known of an unended run at one moment."""

    run: str
    host: str
    status: str
    at: float
    """Time since which nothing was logged: of its newest event, or when it was taken up, or its host became free."""
    is_held: bool = True
    """A process works on it."""
    step: str = ""
    """Kind of its newest event."""
    stall_seconds: float = 0.0
    """Seconds for which a turn of this run may be silent."""
    may_wait: bool = False
    """It waits for a person, for the machinery, for its turn at an engine, or behind another run of its host."""
    waiting_for: str = ""
    """The fault of the machinery that it waits out, as a sentence."""
    is_elsewhere: bool = False
    """Another node works on it, whose queues are not known here."""


@dataclass(frozen=True)
class Silence:
    """A run that does not work: longer than its step may take, because nothing takes it up, or because it waits."""

    kind: Literal["progress", "queue", "wait"]
    run: str
    host: str
    since: float
    status: str = ""
    """Of the run; what it waits for, if it waits."""
    limit: StepLimit = HOST_STEP


def get_silence_limit(run: RunProgress) -> StepLimit:
    """Return for how long the log of a run at work may be silent in its step."""
    if run.step in IN_TURN:
        return StepLimit(run.stall_seconds, "a silent turn")
    if run.step in _LIMITS:
        return _LIMITS[run.step]
    return _QUEUE_ELSEWHERE if run.is_elsewhere and run.status != "queued" else HOST_STEP


def find_silences(runs: Iterable[RunProgress], now: float) -> Iterator[Silence]:
    """Yield the runs that should work and do not, in the order given."""
    for run in runs:
        if run.may_wait or run.status == "paused":
            continue
        if not run.is_held:
            if now - run.at > STARTING:
                yield Silence("queue", run.run, run.host, run.at, run.status)
        elif now - run.at > (limit := get_silence_limit(run)).seconds + GRACE:
            yield Silence("progress", run.run, run.host, run.at, run.status, limit)
