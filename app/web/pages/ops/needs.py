"""Lists what needs a person now, with links and buttons. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.events.kinds import EngineState
from app.loop.state import RunState
from app.store.models import RunRow, ScheduleRow
from app.store.nodes import NodeStatus
from app.store.rollouts import RolloutRow
from app.store.waivers import WaiverRow, list_due_waivers
from app.store.webhooks import WebhookRow
from app.targets.held_hosts import HeldHost
from app.web.addresses import path_to

QUIET_SECONDS = 60.0


@dataclass(frozen=True)
class NeedButton:
    """A form with one button."""

    action: str
    verb: str
    words: str


@dataclass(frozen=True)
class Need:
    level: Literal["asks", "alarm"]
    text: str
    since: float | None = None
    link: str = ""
    words: str = ""
    """The text of the link."""
    presses: tuple[NeedButton, ...] = ()
    about: str = ""
    """Identifies the need while its text changes; empty if the text identifies it."""


@dataclass(frozen=True)
class OpsState:
    """The inputs of list_needs at one moment."""

    now: float
    states: Sequence[RunState] = ()
    engines: Mapping[str, tuple[float, EngineState]] | None = None
    launched: Sequence[str] = ()
    simulator: bool | None = None
    """Whether the simulator runs; None if this process has none."""
    hosts: Sequence[RunRow] = ()
    """The newest run of each host."""
    schedules: Sequence[ScheduleRow] = ()
    webhooks: Sequence[WebhookRow] = ()
    waivers: Sequence[WaiverRow] = ()
    rollouts: Sequence[RolloutRow] = ()
    """Rollouts that have not ended."""
    nodes: Sequence[NodeStatus] = ()
    lost_nodes: Sequence[NodeStatus] = ()
    held_hosts: Sequence[HeldHost] = ()
    unwritten: float = 0.0
    """Seconds for which the current write to the log has been waiting."""


def list_needs(situation: OpsState) -> list[Need]:
    """Return all needs, those that wait for an answer first."""
    return [
        *_list_questions(situation),
        *_list_engine_alarms(situation),
        *_list_silent_runs(situation),
        *_list_other_alarms(situation),
    ]


def awaits_answer(state: RunState) -> bool:
    return bool(state.item and state.item.attempt and state.item.attempt.awaits_person)


def _list_questions(at: OpsState) -> Iterator[Need]:
    for rollout in at.rollouts:
        if rollout.state == "paused":
            text = f"Rollout {rollout.id} is paused{f': {rollout.reason}' if rollout.reason else '.'}"
            yield Need("asks", text, link=path_to("rollout", rollout=rollout.id), words="Resume or end rollout")
    for state in filter(awaits_answer, at.states):
        text = f"Run {state.run} waits for your approval of {state.working}.{_describe_first_approval(state)}"
        yield Need("asks", text, state.idle_since, path_to("run", run=state.run), "Review the change")


def _describe_first_approval(state: RunState) -> str:
    attempt = state.item.attempt if state.item else None
    if not (attempt and attempt.given):
        return ""
    return f" {attempt.given[0].by} approved it; a second person must approve it, too."


def _list_engine_alarms(at: OpsState) -> Iterator[Need]:
    """Yield one alarm for each engine state that is not well, counting the engines in it."""
    unwell = {name: one for name, one in (at.engines or {}).items() if not one[1].is_healthy}
    if at.simulator is False:
        since = min((since for since, _ in unwell.values()), default=None)
        start = NeedButton(path_to("ops_engines"), "start", "Start engines")
        yield Need("alarm", "The simulated engines are stopped.", since, presses=(start,))
        return
    for state in dict.fromkeys(event.state for _, event in unwell.values()):
        alike = {name: one for name, one in unwell.items() if one[1].state == state}
        down = [name for name in alike if name in at.launched and state in ("dead", "absent")]
        presses = tuple(NeedButton(path_to("ops_engine", engine=name), "start", f"Start {name}") for name in down)
        since = min(since for since, _ in alike.values())
        yield Need("alarm", _describe_engines(state, alike), since, presses=presses, about=f"engines {state}")


def _describe_engines(state: str, alike: Mapping[str, tuple[float, EngineState]]) -> str:
    details = {event.detail or "no detail" for _, event in alike.values()}
    if len(alike) == 1:
        return f"Engine {next(iter(alike))} is {state}: {details.pop()}"
    why = f": {details.pop()}" if len(details) == 1 else ""
    return f"{len(alike)} engines are {state}, {', '.join(alike)}{why}"


def _list_silent_runs(at: OpsState) -> Iterator[Need]:
    for state in at.states:
        if state.status == "running" and not awaits_answer(state) and at.now - state.at > QUIET_SECONDS:
            text = f"Run {state.run} is running but logs no events."
            yield Need("alarm", text, state.at, path_to("run", run=state.run), "Open run")


def _list_other_alarms(at: OpsState) -> Iterator[Need]:
    if at.unwritten > 2:
        yield Need("alarm", "Temper cannot write its log: check for a full disk or an unreachable database.")
    for node in at.nodes:
        if node.needs_its_clock_set:
            way = "ahead of" if node.clock_off > 0 else "behind"
            text = f"The clock of node {node.name} is {abs(node.clock_off):.0f} s {way} the database's."
            yield Need("alarm", f"{text} Synchronise it, for example with chrony.", about=f"clock of {node.name}")
    for node in at.lost_nodes:
        text = f"Node {node.name} has been silent for {node.silent_seconds:.0f} s, and its runs went to other nodes."
        why = "It is stopped, cut off from the database, or gone: look at it, and start it again."
        yield Need("alarm", f"{text} {why}", about=f"node {node.name}")
    for held in at.held_hosts:
        yield Need(
            "alarm", f"{held.sentence[0].upper()}{held.sentence[1:]}.", held.since, about=f"host {held.host} is held"
        )
    for run in at.hosts:
        if run.drifted:
            text = f"{run.host}: {run.drifted} rule{'s' if run.drifted != 1 else ''} drifted."
            yield Need("alarm", text, run.started_at, path_to("run", run=run.id), f"Open run {run.id}")
    for schedule in at.schedules:
        if schedule.enabled and schedule.unkept:
            text = f"Schedule {schedule.id} on {schedule.host}: {schedule.outcome}"
            yield Need("alarm", text, link=path_to("hosts"), words="Open schedules")
    for one in list_due_waivers(at.waivers, at.now):
        yield Need("alarm", one.summary, one.since, f"{path_to('waivers')}#waiver-{one.row.id}", "Open waivers")
    for webhook in at.webhooks:
        if webhook.problem:
            text = f"Webhook {webhook.id} was not accepted: {webhook.problem}"
            yield Need("alarm", text, link=f"{path_to('ops')}#webhooks", words="Open webhooks")
