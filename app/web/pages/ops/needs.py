"""Lists what needs a person now: the decisions of the inbox, and what is broken, with links and buttons. Pure."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.loop.state import RunState
from app.runs.open_decisions import DecisionKind, OpenDecision
from app.runtime.health import HealthFault
from app.store.models import RunRow, ScheduleRow
from app.store.nodes import NodeStatus
from app.store.webhooks import WebhookRow
from app.targets.held_hosts import HeldHost
from app.web.addresses import path_to
from app.web.pages.inbox import to_inbox_address

DAY = 86400.0
QUIET_SECONDS = QUEUED_SECONDS = 60.0
_OPEN_WORDS: dict[DecisionKind, str] = {
    "approval": "Review the change",
    "escalated": "Open findings",
    "deferred": "Open findings",
    "rollout": "Resume or end rollout",
    "waiver": "Open waiver",
    "host": "Run again",
    "run": "Resume or stop run",
}


@dataclass(frozen=True)
class NeedButton:
    action: str
    verb: str
    words: str
    confirms: bool = False
    """True if the page asks again before it is sent."""


@dataclass(frozen=True)
class Need:
    level: Literal["asks", "alarm"]
    text: str
    since: float | None = None
    link: str = ""
    words: str = ""
    presses: tuple[NeedButton, ...] = ()
    about: str = ""
    """Identifies the need while its text changes; empty if the text identifies it."""


@dataclass(frozen=True)
class OpsState:
    now: float
    states: Sequence[RunState] = ()
    faults: Sequence[HealthFault] = ()
    launched: Sequence[str] = ()
    simulated: bool = False
    """True if this process runs the simulator of all engines."""
    hosts: Sequence[RunRow] = ()
    """The newest run of each host."""
    schedules: Sequence[ScheduleRow] = ()
    webhooks: Sequence[WebhookRow] = ()
    decisions: Sequence[OpenDecision] = ()
    """What the inbox lists."""
    nodes: Sequence[NodeStatus] = ()
    lost_nodes: Sequence[NodeStatus] = ()
    held_hosts: Sequence[HeldHost] = ()
    backed_up_at: float | None = None
    backup_days: float = 7.0
    first_run_at: float | None = None


def list_needs(situation: OpsState) -> list[Need]:
    """Return all needs, those that wait for an answer first."""
    return [
        *map(_to_need, situation.decisions),
        *_list_fault_alarms(situation),
        *_list_silent_runs(situation),
        *_list_stuck_queue(situation),
        *_list_other_alarms(situation),
        *_list_old_backup(situation),
    ]


def list_notes(at: OpsState) -> list[str]:
    """Return information that asks for nothing now: a server without any backup may be an evaluation."""
    used = (at.now - at.first_run_at) / DAY if at.first_run_at else 0.0
    if at.backed_up_at or used < at.backup_days:
        return []
    return [f"No backup was made in {used:.0f} days. Make one with: temper backup FILE"]


def _list_old_backup(at: OpsState) -> Iterator[Need]:
    if at.backed_up_at and (days := (at.now - at.backed_up_at) / DAY) >= at.backup_days:
        text = f"The newest backup is {days:.0f} day{'s' if round(days) != 1 else ''} old. Make one: temper backup FILE"
        yield Need("alarm", text, at.backed_up_at, about="backup")


def awaits_answer(state: RunState) -> bool:
    return bool(state.item and state.item.attempt and state.item.attempt.awaits_person)


def _to_need(decision: OpenDecision) -> Need:
    words = _OPEN_WORDS[decision.kind]
    return Need("asks", decision.why, decision.since, to_inbox_address(decision), words, about=decision.id)


def _list_fault_alarms(at: OpsState) -> Iterator[Need]:
    for fault in at.faults:
        guide = f"{path_to('help_page', document='operations')}#failures" if fault.remedy_place == "guide" else ""
        yield Need(
            "alarm",
            fault.text,
            fault.since,
            guide,
            "Read about failures" if guide else "",
            tuple(list_engine_buttons(fault, at.launched, simulated=at.simulated)),
            _name_fault(fault),
        )


def _name_fault(fault: HealthFault) -> str:
    return f"{fault.kind} {fault.badge}"


def list_engine_buttons(fault: HealthFault, launched: Collection[str], *, simulated: bool) -> Iterator[NeedButton]:
    """Yield a button for each engine that this process can start, or restart if it is frozen."""
    verb = {"ENGINES DOWN": "start", "ENGINE DOWN": "start", "ENGINE FROZEN": "restart"}.get(fault.badge)
    if verb is None:
        return
    if fault.kind == "simulator" or (simulated and verb == "restart"):
        yield NeedButton(path_to("ops_engines"), verb, f"{verb.capitalize()} engines")
        return
    for name in fault.engines:
        if name in launched:
            yield NeedButton(path_to("ops_engine", engine=name), verb, f"{verb.capitalize()} {name}")


def _list_silent_runs(at: OpsState) -> Iterator[Need]:
    for state in at.states:
        if state.status == "running" and not awaits_answer(state) and at.now - state.at > QUIET_SECONDS:
            text = f"Run {state.run} is running but logs no events."
            presses = (
                NeedButton(path_to("run_ask", run=state.run), "pause", "Pause run"),
                _build_stop_button(state.run),
            )
            yield Need("alarm", text, state.at, path_to("run", run=state.run), "Open run", presses)


def _build_stop_button(run: str) -> NeedButton:
    return NeedButton(path_to("run_ask", run=run), "stop", f"Stop run {run}", confirms=True)


def _list_stuck_queue(at: OpsState) -> Iterator[Need]:
    """Yield a need for each host whose oldest run is queued for long, although no run works on the host."""
    busy = {state.request.host for state in at.states if state.request and state.status in ("running", "paused")}
    for state in at.states:
        if state.status != "queued" or not state.request or state.request.host in busy:
            continue
        busy.add(state.request.host)
        if at.now - state.at > QUEUED_SECONDS:
            text = f"Run {state.run} on {state.request.host} is queued, and nothing works on it."
            yield Need(
                "alarm",
                text,
                state.at,
                path_to("run", run=state.run),
                "Open run",
                (_build_stop_button(state.run),),
                f"queue of {state.run}",
            )


def _list_other_alarms(at: OpsState) -> Iterator[Need]:
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
    for webhook in at.webhooks:
        if webhook.problem:
            text = f"Webhook {webhook.id} was not accepted: {webhook.problem}"
            yield Need("alarm", text, link=f"{path_to('ops')}#webhooks", words="Open webhooks")
