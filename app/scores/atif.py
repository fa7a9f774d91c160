"""Export a run as a trajectory in ATIF, the Agent Trajectory Interchange Format, from its log.

Each turn is an agent step with its role in `extra`, its thought and answer, and the results of host, policy and scanner
as the observation. The turn's prompt is the user step before it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from app import __version__
from app.events import kinds
from app.events.kinds import Event
from app.events.record import Recorded, format_timestamp

VERSION = "ATIF-v1.6"
Json = dict[str, Any]


@dataclass
class _TrajectoryBuilder:
    steps: list[Json] = field(default_factory=list)
    request: kinds.RunQueued | None = None
    started: kinds.RunStarted | None = None
    run: str = ""
    asked: kinds.TurnStarted | None = None
    prompt_tokens: int = 0
    tokens: int = 0
    ends: Json = field(default_factory=dict)

    def add_step(self, recorded: Recorded, source: str, message: str, **more: Any) -> None:
        start = {"step_id": len(self.steps) + 1, "timestamp": format_timestamp(recorded.at), "source": source}
        self.steps.append({**start, "message": message, **more})

    def add_observation_to_newest_agent_step(self, content: str) -> None:
        """Add a result to the newest agent step."""
        last = next((step for step in reversed(self.steps) if step["source"] == "agent"), None)
        if last is None:
            return
        calls = last.get("tool_calls", [])
        result = {"source_call_id": calls[0]["tool_call_id"], "content": content} if calls else {"content": content}
        last.setdefault("observation", {"results": []})["results"].append(result)


def build_trajectory(events: Iterable[Recorded]) -> bytes:
    made = _TrajectoryBuilder()
    for one in events:
        made.run = one.run
        _add_event(made, one)
    return json.dumps(_build_document(made), indent=1, ensure_ascii=False).encode() + b"\n"


def _add_event(builder: _TrajectoryBuilder, recorded: Recorded) -> None:
    match recorded.event:
        case kinds.RunQueued() as event:
            builder.request = event
        case kinds.RunStarted() as event:
            builder.started = event
        case kinds.ItemStarted() as event:
            message = f"{event.rule}, category {event.category}: {event.title}"
            builder.add_step(recorded, "system", message, extra={"rule": event.rule})
        case kinds.TurnStarted() as event:
            builder.asked = event
            extra = {"turn": event.turn, "system": event.prompt[0], "prompts": event.prompts}
            builder.add_step(recorded, "user", event.prompt[1], extra=extra)
        case kinds.TurnFinished() as event:
            _add_turn(builder, recorded, event)
        case kinds.TurnInterrupted():
            builder.asked = None
        case kinds.ActionProposed() as event:
            _add_tool_calls(builder, recorded, event)
        case _:
            if told := _describe_observation(recorded.event):
                builder.add_observation_to_newest_agent_step(told)
            _record_run_end(builder, recorded.event)


def _add_turn(builder: _TrajectoryBuilder, recorded: Recorded, event: kinds.TurnFinished) -> None:
    builder.prompt_tokens += event.prompt_tokens
    builder.tokens += event.completion_tokens
    asked = builder.asked
    extra: Json = {"role": event.role, "purpose": event.purpose, "outcome": event.outcome, "detail": event.detail}
    if asked:
        extra |= {"rule": asked.rule, "attempt": asked.attempt, "engine": asked.engine}
    more: Json = {"reasoning_content": event.thought} if event.thought else {}
    metrics: Json = {"prompt_tokens": event.prompt_tokens, "completion_tokens": event.completion_tokens}
    metrics["extra"] = {"seconds": event.seconds, "ttft": event.ttft, "tok_s": event.decode_rate}
    model = {"model_name": asked.model} if asked else {}
    builder.add_step(recorded, "agent", event.answer, **model, **more, metrics=metrics, extra=extra)


def _add_tool_calls(builder: _TrajectoryBuilder, recorded: Recorded, event: kinds.ActionProposed) -> None:
    """Add the Worker's actions as tool calls of its step; actions edited by a person become a user step."""
    if event.by:
        builder.add_step(
            recorded, "user", json.dumps(msgspec.to_builtins(event.actions)), extra={"edited_by_a_person": True}
        )
        return
    last = builder.steps[-1] if builder.steps else {}
    if last.get("source") != "agent":
        return
    last["tool_calls"] = [
        {"tool_call_id": f"{recorded.seq}.{number}", "function_name": str(action.pop("do")), "arguments": action}
        for number, action in enumerate(msgspec.to_builtins(event.actions), 1)
    ]


def _describe_observation(event: Event) -> str:
    match event:
        case kinds.ActionRefused():
            return f"refused: {event.clause}: {event.reason}"
        case kinds.ActionApplied():
            return f"applied:\n{event.diff}"
        case kinds.ActionFailedToApply():
            return f"could not be applied: {event.reason}"
        case kinds.VerdictGiven(phase="attempt"):
            return f"scanner: {event.word}: {event.evidence}"
        case kinds.SentryProbed():
            bad = [f"{probe.name}: {probe.detail}" for probe in event.probes if not probe.ok]
            return "probes: " + ("; ".join(bad) or "all well")
        case kinds.AttemptFailed():
            return f"attempt {event.attempt} failed: {event.cause}: {event.reason}"
        case kinds.ActionRolledBack():
            return f"rolled back: {', '.join(event.paths)}"
        case kinds.ItemPassed():
            return f"{event.rule} passed"
        case kinds.ItemEscalated() | kinds.ItemDeferred() | kinds.ItemSkipped():
            return f"{event.rule} was not done: {event.reason}"
        case _:
            return ""


def _record_run_end(builder: _TrajectoryBuilder, event: Event) -> None:
    if isinstance(event, kinds.RunFinished):
        builder.ends = {"passed": event.passed, "escalated": event.escalated, "deferred": event.deferred}
    elif isinstance(event, kinds.RunFailed | kinds.RunStopped):
        builder.ends = {"ended_early": event.reason}


def _build_document(builder: _TrajectoryBuilder) -> Json:
    seats = msgspec.to_builtins(builder.started.seats) if builder.started else []
    request = builder.request
    simulated = bool(request and request.simulated)
    host = bool(builder.started and builder.started.simulated is not False)
    agent: Json = {"name": "temper", "version": builder.started.temper if builder.started else __version__}
    if seats:
        agent["model_name"] = seats[0]["model"]
    notes = "SIMULATED engines: a script answered, no model." if simulated else "Answers of the models named here."
    return {
        "schema_version": VERSION,
        "session_id": builder.run,
        "agent": {**agent, "extra": {"seats": seats, "lineup": request.lineup if request else ""}},
        "steps": builder.steps,
        "notes": notes,
        "final_metrics": {
            "total_prompt_tokens": builder.prompt_tokens,
            "total_completion_tokens": builder.tokens,
            "total_steps": len(builder.steps),
            "extra": builder.ends,
        },
        "extra": {
            "host": request.host if request else "",
            "mode": request.mode if request else "",
            "rules": list(request.rules) if request else [],
            "simulated_engines": simulated,
            "simulated_host": host,
        },
    }
