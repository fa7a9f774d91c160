"""Lists what needs a person now: the decisions of the inbox, and what is broken, with links and buttons. Pure."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.runs.open_decisions import DecisionKind, OpenDecision
from app.runtime.health_faults import HealthFault
from app.store.models import RunRow, ScheduleRow
from app.store.nodes import NodeStatus
from app.store.webhooks import WebhookRow
from app.targets.host_locks_held_too_long import StuckHost
from app.text.pluralized_counts import count_things
from app.web.pages.inbox import to_inbox_address
from app.web.url_paths import path_to

DAY = 86400.0
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
    stuck_hosts: Sequence[StuckHost] = ()
    backed_up_at: float | None = None
    backup_age: float | None = None
    """Seconds since the newest backup, or since the first start if none was made."""
    backup_days: float = 7.0


def list_needs(situation: OpsState) -> list[Need]:
    """Return all needs, those that wait for an answer first."""
    return [
        *map(_to_need, situation.decisions),
        *_list_fault_alarms(situation),
        *_list_node_host_schedule_and_webhook_alarms(situation),
        *_list_backup_alarm(situation),
    ]


def _list_backup_alarm(situation: OpsState) -> Iterator[Need]:
    if situation.backup_age is None or (days := situation.backup_age / DAY) < situation.backup_days:
        return
    old = count_things(round(days), "day")
    never = f"No backup was made in the {old} since the start."
    what = f"The newest backup is {old} old." if situation.backed_up_at else never
    yield Need("alarm", f"{what} Make one: temper backup FILE", situation.now - situation.backup_age, about="backup")


def _to_need(decision: OpenDecision) -> Need:
    words = _OPEN_WORDS[decision.kind]
    return Need("asks", decision.why, decision.since, to_inbox_address(decision), words, about=decision.id)


def _list_fault_alarms(situation: OpsState) -> Iterator[Need]:
    for fault in situation.faults:
        link, words = _find_fault_link(fault)
        buttons = list_engine_buttons(fault, situation.launched, simulated=situation.simulated)
        presses = (*buttons, *_iterate_pause_and_stop_buttons(fault))
        yield Need("alarm", fault.text, fault.since, link, words, presses, _build_fault_key(fault))


def _find_fault_link(fault: HealthFault) -> tuple[str, str]:
    if fault.remedy_place == "guide":
        return f"{path_to('help_page', document='operations')}#failures", "Read about failures"
    if not fault.runs:
        return "", ""
    return (path_to("run", run=fault.runs[0]), "Open run") if len(fault.runs) == 1 else (path_to("runs"), "Open runs")


def _build_fault_key(fault: HealthFault) -> str:
    return " ".join((fault.kind, fault.badge, *(fault.runs if len(fault.runs) == 1 else ())))


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


def _iterate_pause_and_stop_buttons(fault: HealthFault) -> Iterator[NeedButton]:
    if len(fault.runs) != 1:
        return
    [run] = fault.runs
    if fault.kind == "progress":
        yield NeedButton(path_to("run_ask", run=run), "pause", "Pause run")
    if fault.kind in ("progress", "queue"):
        yield NeedButton(path_to("run_ask", run=run), "stop", f"Stop run {run}", confirms=True)


def _list_node_host_schedule_and_webhook_alarms(situation: OpsState) -> Iterator[Need]:
    for node in situation.nodes:
        if node.needs_its_clock_set:
            way = "ahead of" if node.clock_off > 0 else "behind"
            text = f"The clock of node {node.name} is {abs(node.clock_off):.0f} s {way} the database's."
            yield Need("alarm", f"{text} Synchronise it, for example with chrony.", about=f"clock of {node.name}")
    for node in situation.lost_nodes:
        text = f"Node {node.name} has been silent for {node.silent_seconds:.0f} s, and its runs went to other nodes."
        why = "It is stopped, cut off from the database, or gone: look at it, and start it again."
        yield Need("alarm", f"{text} {why}", about=f"node {node.name}")
    for held in situation.stuck_hosts:
        text = f"{held.sentence[0].upper()}{held.sentence[1:]}."
        yield Need("alarm", text, held.since, about=f"host {held.host} is held")
    for run in situation.hosts:
        if run.drifted:
            text = f"{run.host}: {run.drifted} rule{'s' if run.drifted != 1 else ''} drifted."
            yield Need("alarm", text, run.started_at, path_to("run", run=run.id), f"Open run {run.id}")
    for schedule in situation.schedules:
        if schedule.enabled and schedule.unkept:
            text = f"Schedule {schedule.id} on {schedule.host}: {schedule.outcome}"
            yield Need("alarm", text, link=path_to("hosts"), words="Open schedules")
    for webhook in situation.webhooks:
        if webhook.problem:
            text = f"Webhook {webhook.id} was not accepted: {webhook.problem}"
            yield Need("alarm", text, link=f"{path_to('ops')}#webhooks", words="Open webhooks")
