"""What a fault of the machinery means for one run: is its host safe, what Temper does, and what a person can press."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from app.events.event_field_types import Probe
from app.loop.attempt_state import Attempt
from app.loop.decide import is_host_proven_unharmed_after_change
from app.loop.perform import LONGEST_PAUSE
from app.loop.state import RunState
from app.runtime.health_faults import HealthFault
from app.text.pluralized_counts import count_things
from app.web.pages.ops.needs import NeedButton, list_engine_buttons


@dataclass(frozen=True)
class SafetyLine:
    is_well: bool
    text: str


@dataclass(frozen=True)
class FaultedRun:
    state: RunState
    launched: Collection[str] = ()
    """Engines that this process started."""
    simulated: bool = False
    """True if this process runs the simulator of all engines."""

    @property
    def safety_lines(self) -> tuple[SafetyLine, ...]:
        """What is known of the host; empty before the run has looked at it."""
        return tuple(_iterate_host_safety_lines(self.state)) if self.state.request and self.state.started else ()

    @property
    def can_pause(self) -> bool:
        return self.state.status == "running"

    def describe_what_temper_does(self, fault: HealthFault) -> str:
        """Return what Temper does about the fault, and when it tries again."""
        if fault.kind not in ("engine", "simulator"):
            return fault.remedy
        if self.state.waiting:
            seldom = f"and at most every {LONGEST_PAUSE:g} s if it fails again"
            asks = f"Temper asks the engine again every half second, {seldom}."
            return f"{asks} Then the turn starts again. No attempt is lost."
        if self.state.turn:
            turn = f"the {self.state.turn.role.capitalize()}'s turn"
            patience = f"{self.state.budget.stall_seconds:g} s without a token"
            return f"Temper ends {turn} after {patience}, and asks again as soon as the engine answers."
        return "The run continues until it needs the engine, and then waits for it."

    def list_buttons_for_engines(self, fault: HealthFault) -> tuple[NeedButton, ...]:
        return tuple(list_engine_buttons(fault, self.launched, simulated=self.simulated))


def _iterate_host_safety_lines(state: RunState) -> Iterator[SafetyLine]:
    assert state.request
    attempt, host = state.attempt, state.request.host
    if attempt is None or attempt.journal is None:
        yield SafetyLine(is_well=True, text=f"No change is in progress on {host}.")
    else:
        yield _describe_open_change(state, attempt, f"The change for {state.working}", host)
    if probes := _get_newest_probes(state):
        answered = sum(probe.ok for probe in probes)
        asked = f"{answered} of {count_things(len(probes), 'probe')} answered when they were last asked"
        yield SafetyLine(answered == len(probes), f"{asked}; they need no engine.")


def _describe_open_change(state: RunState, attempt: Attempt, change_phrase: str, host: str) -> SafetyLine:
    if attempt.rolling_back:
        return SafetyLine(is_well=False, text=f"{change_phrase} is being rolled back on {host}.")
    if is_host_proven_unharmed_after_change(state, attempt):
        return SafetyLine(is_well=True, text=f"{change_phrase} is on {host}, and the probes found no harm.")
    rolls = "Temper rolls it back now" if state.waiting else "Temper rolls it back if the turn breaks off"
    return SafetyLine(is_well=False, text=f"{change_phrase} is on {host}, and the probes have not cleared it. {rolls}.")


def _get_newest_probes(state: RunState) -> tuple[Probe, ...]:
    attempt = state.attempt
    if attempt and attempt.rolled_back:
        return attempt.rolled_back.probes
    if attempt and attempt.probed:
        return attempt.probed.probes
    return state.started.probes if state.started else ()
