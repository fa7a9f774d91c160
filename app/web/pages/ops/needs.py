"""What needs a person now, with what to press. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.events.kinds import EngineState
from app.loop.state import RunState
from app.store.models import RunRow, ScheduleRow
from app.store.rollouts import RolloutRow
from app.store.webhooks import WebhookRow

QUIET_SECONDS = 60.0
WELL = ("ready", "loading")


@dataclass(frozen=True)
class Press:
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
    """Of the link."""
    press: Press | None = None


@dataclass(frozen=True)
class OpsState:
    """All that is looked at, at one moment."""

    now: float
    states: Sequence[RunState] = ()
    engines: Mapping[str, tuple[float, EngineState]] | None = None
    launched: Sequence[str] = ()
    simulator: bool | None = None
    """Whether it runs; None where none is ours."""
    hosts: Sequence[RunRow] = ()
    """The newest run of each."""
    schedules: Sequence[ScheduleRow] = ()
    webhooks: Sequence[WebhookRow] = ()
    rollouts: Sequence[RolloutRow] = ()
    """That have not ended."""
    unwritten: float = 0.0
    """Seconds for which the log could not be written."""


def needs(situation: OpsState) -> list[Need]:
    """Who waits for an answer goes first."""
    return [*_asks(situation), *_engines(situation), *_runs(situation), *_rest(situation)]


def waits(state: RunState) -> bool:
    return bool(state.item and state.item.attempt and state.item.attempt.awaits_person)


def _asks(at: OpsState) -> Iterator[Need]:
    for rollout in at.rollouts:
        if rollout.state == "paused":
            text = f"Rollout {rollout.id} is paused{f': {rollout.reason}' if rollout.reason else '.'}"
            yield Need("asks", text, link=f"/fleet/{rollout.id}", words="Go on, or end it")
    for state in filter(waits, at.states):
        text = f"Run {state.run} waits for you at {state.working}."
        yield Need("asks", text, state.idle_since, f"/runs/{state.run}", "Read the change and answer")


def _engines(at: OpsState) -> Iterator[Need]:
    unwell = {name: one for name, one in (at.engines or {}).items() if one[1].state not in WELL}
    if at.simulator is False:
        since = min((since for since, _ in unwell.values()), default=None)
        yield Need(
            "alarm",
            "The engines are stopped: nothing plays them.",
            since,
            press=Press("/ops/engines", "start", "Start engines"),
        )
        return
    for name, (since, event) in unwell.items():
        text = f"Engine {name} is {event.state}: {event.detail or 'no detail'}"
        down = name in at.launched and event.state in ("dead", "absent")
        yield Need(
            "alarm", text, since, press=Press(f"/ops/engines/{name}", "start", f"Start {name}") if down else None
        )


def _runs(at: OpsState) -> Iterator[Need]:
    for state in at.states:
        if state.status == "running" and not waits(state) and at.now - state.at > QUIET_SECONDS:
            text = f"Run {state.run} is at work and says nothing."
            yield Need("alarm", text, state.at, f"/runs/{state.run}", "Look at it")


def _rest(at: OpsState) -> Iterator[Need]:
    if at.unwritten > 2:
        yield Need("alarm", "The log cannot be written: look for a full disk, or a database that is away.")
    for run in at.hosts:
        if run.drifted:
            text = f"{run.host}: {run.drifted} rules that held have slipped."
            yield Need("alarm", text, run.started_at, f"/runs/{run.id}", f"See run {run.id}")
    for schedule in at.schedules:
        if schedule.enabled and schedule.unkept:
            text = f"Schedule {schedule.id} on {schedule.host}: {schedule.outcome}"
            yield Need("alarm", text, link="/hosts", words="See the schedules")
    for webhook in at.webhooks:
        if webhook.problem:
            text = f"Webhook {webhook.id} is not taken: {webhook.problem}"
            yield Need("alarm", text, link="/ops#webhooks", words="See the webhooks")
