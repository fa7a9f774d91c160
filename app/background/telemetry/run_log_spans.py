"""Fold a run's log into spans and measures, with OpenTelemetry's names for generative AI. Pure.

    harden HOST > item RULE > invoke_agent ROLE > chat MODEL
                            > execute_tool apply, execute_tool undo

Spans contain sizes, times and outcomes, never prompts or answers."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.events import kinds
from app.events.record import Recorded
from app.events.trace_ids import derive_span_id, derive_trace_id

Value = str | int | float | bool | list[str]
Attributes = dict[str, Value]
PROVIDER = "vllm"
_TOOL: Attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}


@dataclass(frozen=True)
class Span:
    trace: str
    id: str
    parent: str
    name: str
    began: float
    ended: float
    attributes: Attributes
    outward: bool = False
    """Whether this is a client span, which waits for another program."""
    error: str = ""


@dataclass(frozen=True)
class Measure:
    """One value of a histogram."""

    name: str
    at: float
    value: float
    attributes: Attributes


@dataclass(frozen=True)
class _OpenSpan:
    name: str
    began: float
    attributes: Attributes


@dataclass
class RunTrace:
    run: str
    ended: bool = False
    _simulated: bool = False
    _open: dict[tuple[object, ...], _OpenSpan] = field(default_factory=dict)
    _turns: dict[str, tuple[kinds.TurnStarted, float]] = field(default_factory=dict)

    def fold_event_and_iterate_finished(self, recorded: Recorded) -> Iterator[Span | Measure]:
        event, at = recorded.event, recorded.at
        match event:
            case kinds.RunQueued():
                self._simulated = event.simulated
                about: Attributes = {"temper.host": event.host, "temper.mode": event.mode, "temper.skill": event.skill}
                self._open_span(("run",), f"harden {event.host}", at, about)
            case kinds.RunFinished() | kinds.RunStopped() | kinds.RunFailed():
                self.ended = True
                failed = event.reason if isinstance(event, kinds.RunFailed) else ""
                yield from self._close_and_iterate_span(
                    ("run",), (), at, {"temper.outcome": kinds.get_event_kind(event)}, failed
                )
            case kinds.ItemStarted():
                about = {"temper.rule": event.rule, "temper.category": event.category}
                self._open_span(("item", event.rule), f"item {event.rule}", at, about)
            case kinds.ItemPassed() | kinds.ItemEscalated() | kinds.ItemSkipped() | kinds.ItemDeferred():
                outcome: Attributes = {"temper.outcome": event.outcome}
                yield from self._close_and_iterate_span(("item", event.rule), ("run",), at, outcome)
            case kinds.TurnStarted():
                self._turns[event.turn] = event, at
            case kinds.TurnFinished():
                yield from self._close_turn_and_iterate_telemetry(event, at)
            case kinds.TurnInterrupted():
                if found := self._turns.pop(event.turn, None):
                    yield from self._create_turn_spans(*found, at, {}, event.reason)
            case kinds.ActionApplying() | kinds.ActionRollingBack():
                tool = "apply" if isinstance(event, kinds.ActionApplying) else "undo"
                about = {"gen_ai.tool.name": tool, "temper.rule": event.rule, "temper.attempt": event.attempt}
                self._open_span((tool, event.journal), f"execute_tool {tool}", at, _TOOL | about)
            case kinds.ActionApplied():
                yield from self._close_and_iterate_span(("apply", event.journal), ("item", event.rule), at, {})
            case kinds.ActionFailedToApply():
                yield from self._close_and_iterate_span(
                    ("apply", event.journal), ("item", event.rule), at, {}, event.reason
                )
            case kinds.ActionRolledBack():
                left = f"{len(event.differences)} differences stayed" if event.differences else ""
                yield from self._close_and_iterate_span(("undo", event.journal), ("item", event.rule), at, {}, left)

    def _open_span(self, span_key: tuple[object, ...], name: str, began_at: float, attributes: Attributes) -> None:
        marked = attributes | {"temper.run": self.run, "temper.simulated": self._simulated}
        self._open[span_key] = _OpenSpan(name, began_at, marked)

    def _close_and_iterate_span(
        self,
        span_key: tuple[object, ...],
        parent_key: tuple[object, ...],
        ended_at: float,
        extra_attributes: Attributes,
        error: str = "",
    ) -> Iterator[Span]:
        if begun := self._open.pop(span_key, None):
            above = derive_span_id(self.run, *parent_key) if parent_key else ""
            own, attributes = derive_span_id(self.run, *span_key), begun.attributes | extra_attributes
            yield self._create_span(own, above, begun.name, begun.began, ended_at, attributes, error)

    def _close_turn_and_iterate_telemetry(self, event: kinds.TurnFinished, at: float) -> Iterator[Span | Measure]:
        found = self._turns.pop(event.turn, None)
        if found is None:
            return
        begun, since = found
        more: Attributes = {
            "gen_ai.usage.input_tokens": event.prompt_tokens,
            "gen_ai.usage.output_tokens": event.completion_tokens,
        }
        if event.finish_reason:
            more["gen_ai.response.finish_reasons"] = [event.finish_reason]
        error = "" if event.outcome == "answered" else event.outcome
        yield from self._create_turn_spans(begun, since, at, more, error)
        about = _build_gen_ai_attributes("chat", begun) | ({"error.type": error} if error else {})
        yield Measure("gen_ai.client.operation.duration", at, event.seconds, about)
        for kind, tokens in (("input", event.prompt_tokens), ("output", event.completion_tokens)):
            yield Measure("gen_ai.client.token.usage", at, tokens, about | {"gen_ai.token.type": kind})
        if event.ttft is not None:
            yield Measure("gen_ai.server.time_to_first_token", at, event.ttft, about)

    def _create_turn_spans(
        self,
        turn_started: kinds.TurnStarted,
        began_at: float,
        ended_at: float,
        extra_attributes: Attributes,
        error: str,
    ) -> Iterator[Span]:
        """Yield the spans of a role's turn and of its request, which is the parent of the engine's own spans."""
        shared: Attributes = {
            "temper.rule": turn_started.rule,
            "temper.attempt": turn_started.attempt,
            "temper.purpose": turn_started.purpose,
            "temper.engine": turn_started.engine,
            "temper.replica": turn_started.replica,
            "temper.run": self.run,
            "temper.simulated": self._simulated,
        }
        agent, chat = (derive_span_id(self.run, name, turn_started.turn) for name in ("agent", "chat"))
        above = derive_span_id(self.run, "item", turn_started.rule)
        about = _build_gen_ai_attributes("invoke_agent", turn_started) | shared
        yield self._create_span(agent, above, f"invoke_agent {turn_started.role}", began_at, ended_at, about, error)
        about = _build_gen_ai_attributes("chat", turn_started) | shared
        about |= {"gen_ai.request.max_tokens": turn_started.max_tokens} | extra_attributes
        name = f"chat {turn_started.model}"
        yield self._create_span(chat, agent, name, began_at, ended_at, about, error, outward=True)

    def _create_span(
        self, span_id: str, parent_id: str, name: str, began: float, ended: float, attributes: Attributes, error: str,
        *, outward: bool = False,
    ) -> Span:  # fmt: skip
        if error:
            attributes = attributes | {"error.type": error[:100]}
        return Span(derive_trace_id(self.run), span_id, parent_id, name, began, ended, attributes, outward, error)


def _build_gen_ai_attributes(operation: str, begun: kinds.TurnStarted) -> Attributes:
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.name": begun.role,
        "gen_ai.request.model": begun.model,
    }
