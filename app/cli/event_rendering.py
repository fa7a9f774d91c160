"""Render events as text for a terminal: the shared sentence, or more detail where a terminal shows it."""

from rich.text import Text

from app.events.kinds import (
    ActionApplied,
    ApprovalRequested,
    AttemptStarted,
    Event,
    ItemStarted,
    PlanMade,
    RunFailed,
    RunFinished,
    RunStopped,
    TurnFinished,
)
from app.loop.descriptions import describe_event
from app.loop.state import RunState
from app.resources.vendor import LABEL
from app.text.clean import clean_line, clean_text

_WHOLE = 60_000
"""Maximum characters of a change that a person must read before approving it."""


def render_event(event: Event, state: RunState) -> Text | None:
    text = _render_detail(event, state) or _render_sentence(event)
    whole = isinstance(event, ApprovalRequested)
    return Text(clean_text(text, _WHOLE if whole else 4000)) if text else None


def _render_detail(event: Event, state: RunState) -> str | None:
    match event:
        case ItemStarted():
            done = sum(item.status not in ("waiting", "working") for item in state.items.values())
            head = clean_line(f"● {event.rule} CAT {event.category}  {event.title}", 300)
            return f"\n{head}  ({done + 1} of {len(state.items)})"
        case AttemptStarted(attempt=number, lessons=lessons, offered=None) if number > 1 or lessons:
            return f"  attempt {number}, lessons: {len(lessons)}"
        case PlanMade():
            return f"    plan: {clean_line(event.approach, 600)}"
        case ActionApplied():
            return "\n".join("    " + row for row in event.diff.splitlines() if row[:3] not in ("---", "+++"))
        case ApprovalRequested(diff=diff) if diff.startswith(LABEL):
            rows = "\n".join(f"    {row}" for row in diff.splitlines())
            run = event.approval.split(".")[0]
            return f"{rows}\n  ? {event.rule} waits for approval. Read the change first: temper approve {run}"
        case ApprovalRequested():
            run = event.approval.split(".")[0]
            if event.needs and event.needs.sha256:
                return f"  ? {event.rule} waits; it {event.needs.summary}: temper approve {run}"
            return f"  ? {event.rule} waits for approval: temper approve {run}"
        case _:
            return None


def _render_sentence(event: Event) -> str | None:
    told = describe_event(event)
    if told is None or isinstance(event, TurnFinished):  # ProgressPrinter prints its figures
        return None
    head = "\n" if isinstance(event, RunFinished | RunFailed | RunStopped) else "  "
    return f"{head}{told.glyph} {clean_line(told.text, 4000)}"
