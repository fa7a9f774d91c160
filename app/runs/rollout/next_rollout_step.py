"""Decide the next step of a rollout from its state and its runs. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from app.events.kinds import RolloutEnded, RolloutEvent, RolloutHostEnded, RolloutPaused, RolloutWaveEnded
from app.runs.rollout.rollout_state import HostPart, RolloutState
from app.store.models import RunRow
from app.store.run_queries import UNENDED
from app.text.pluralized_counts import count_things


@dataclass(frozen=True)
class BeginHost:
    host: str
    wave: int


@dataclass(frozen=True)
class CommandRuns:
    verb: Literal["pause", "stop"]
    runs: tuple[str, ...]


RolloutStep = BeginHost | CommandRuns | RolloutEvent
"""What to do next; an event is only recorded."""


def decide_next_step(
    state: RolloutState, runs: Mapping[str, RunRow], busy_hosts: Collection[str], commanded_runs: Collection[str]
) -> RolloutStep | None:
    """Return the next step, or None to wait. `busy_hosts` have an unended run; `commanded_runs` are runs that have the
    rollout's pause or stop already."""
    if state.asked is None or state.status in ("finished", "stopped"):
        return None
    for part in state.parts_at_work:
        if (run := runs.get(part.run)) and run.state not in UNENDED:
            return create_host_ended(part, run)
    if ended := find_unrecorded_wave_end(state):
        return ended
    if state.status == "stopping":
        working = (part.run for part in state.parts_at_work if part.run in runs)
        if not state.parts_at_work:
            return RolloutEnded(state="stopped")
        return _build_command_step("stop", working, commanded_runs)
    if all(part.is_over for part in state.parts.values()):
        return RolloutEnded(state="finished")
    if state.status == "paused":
        working = (part.run for part in state.parts_at_work if part.run in runs and runs[part.run].state == "running")
        return _build_command_step("pause", working, commanded_runs)
    if reason := describe_exceeded_pause_limit(state):
        return RolloutPaused(by="rule", reason=reason)
    return _choose_next_host(state, busy_hosts)


def _build_command_step(
    verb: Literal["pause", "stop"], working: Iterable[str], commanded_runs: Collection[str]
) -> CommandRuns | None:
    """Command those of the working runs that have not received the rollout's command."""
    runs = tuple(run for run in working if run not in commanded_runs)
    return CommandRuns(verb, runs) if runs else None


def _choose_next_host(state: RolloutState, busy_hosts: Collection[str]) -> BeginHost | None:
    """Begin the first free host of the current wave. A wave begins when the previous one is over."""
    assert state.asked
    if len(state.parts_at_work) >= state.asked.at_once:
        return None
    wave = min(part.wave for part in state.parts.values() if not part.is_over)
    for part in state.parts.values():
        if part.wave == wave and not part.run and not part.is_over and part.host not in busy_hosts:
            return BeginHost(part.host, part.wave)
    return None


def describe_exceeded_pause_limit(state: RolloutState) -> str:
    """Return which pause limit the ended hosts exceed, or an empty string."""
    assert state.asked
    ended = list(state.iterate_ends_counted_by_pause_rule())
    harmed = [one.host for one in ended if one.harm]
    if state.asked.harmed and len(harmed) >= state.asked.harmed:
        hosts = "1 host is" if len(harmed) == 1 else f"{len(harmed)} hosts are"
        return f"{hosts} harmed or could not be finished: {', '.join(harmed[:5])}"
    findings, escalated = sum(one.findings for one in ended), sum(one.escalated for one in ended)
    if findings and 100 * escalated > state.asked.escalated * findings:
        return (
            f"{escalated} of {count_things(findings, 'finding')} were escalated, more than {state.asked.escalated:g} %"
        )
    return ""


def create_host_ended(part: HostPart, run: RunRow) -> RolloutHostEnded:
    return RolloutHostEnded(
        host=part.host,
        of=run.id,
        state=run.state,
        findings=run.findings,
        passed=run.passed,
        escalated=run.escalated,
        rolled_back=run.rolled_back,
        harm=describe_harm_or_failure(run),
    )


def find_unrecorded_wave_end(state: RolloutState) -> RolloutWaveEnded | None:
    """Return the event for the next wave if it is over, or None."""
    wave = state.waves_ended + 1
    parts = [part for part in state.parts.values() if part.wave == wave]
    if not parts or not all(part.is_over for part in parts):
        return None
    ends = [part.ended for part in parts if part.ended]
    return RolloutWaveEnded(
        wave=wave,
        hosts=len(parts),
        left=len(parts) - len(ends),
        findings=sum(one.findings for one in ends),
        passed=sum(one.passed for one in ends),
        escalated=sum(one.escalated for one in ends),
        harmed=sum(bool(one.harm) for one in ends),
    )


def describe_harm_or_failure(run: RunRow) -> str:
    if run.state == "failed":
        return run.reason or "the run failed"
    if not run.regressed:
        return ""
    return "1 rule that held no longer does" if run.regressed == 1 else f"{run.regressed} rules that held no longer do"
