"""Show a run in the terminal: stream each thought, then print one line for each result."""

from typing import Self

from rich.console import Console
from rich.text import Text

from app.events import kinds
from app.events.event_field_types import Role
from app.events.record import Recorded
from app.loop.state import RunState
from app.resources.vendor_script import LABEL
from app.text.clean import clean_line, clean_text
from app.text.diff_file_header_detection import mark_file_headers

_WHOLE = 60_000
"""Maximum characters of a change that a person must read before approving it."""
COLOURS: dict[Role, str] = {"architect": "blue", "worker": "yellow", "auditor": "magenta", "sentry": "cyan"}


class ProgressPrinter:
    def __init__(self, run: str) -> None:
        self._console = Console(highlight=False)
        self._run = run
        self._thinking = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_thought()

    def show(self, recorded: Recorded, state: RunState) -> None:
        match recorded.event:
            case kinds.TurnStarted() as event:
                self._print_turn_label(event.role, event.purpose, event.engine)
            case kinds.TurnDelta(channel="thought") as event:
                self._print_thought(event.role, event.text)
            case kinds.TurnDelta():
                return
            case kinds.TurnFinished() as event:
                self._end_thought()
                self._print_turn_figures(event)
            case event:
                self._end_thought()
                if text := render_event(event, state):
                    self._console.print(text)

    def _print_turn_label(self, role: Role, purpose: str, engine: str) -> None:
        on = f" {purpose} on {clean_line(engine, 100)}"
        self._console.print(Text.assemble(("  ", ""), (role.upper(), f"bold {COLOURS[role]}"), on))

    def _print_thought(self, role: Role, text: str) -> None:
        if not self._thinking:
            self._console.print("    ", end="")
            self._thinking = True
        shown = clean_text(text, 4000).replace("\n", "\n    ")
        self._console.print(Text(shown, style=f"dim {COLOURS[role]}"), end="", soft_wrap=True)

    def _end_thought(self) -> None:
        if self._thinking:
            self._console.print()
            self._thinking = False

    def _print_turn_figures(self, turn: kinds.TurnFinished) -> None:
        rate = f"{turn.decode_rate:.1f} tok/s" if turn.decode_rate else "— tok/s"
        ttft = f"{turn.ttft:.2f} s to the first" if turn.ttft is not None else "no first token"
        words = f"    {turn.completion_tokens} tokens, {rate}, {ttft}"
        if turn.outcome != "answered":
            words += f"; {turn.outcome}: {clean_line(turn.detail, 200)}"
        self._console.print(Text(words, style="dim"))


def render_event(event: kinds.Event, state: RunState) -> Text | None:
    """Return the event's shared sentence, or more detail where a terminal shows it; None if it shows nothing."""
    text = _render_detail_instead_of_sentence(event, state) or _render_sentence(event)
    whole = isinstance(event, kinds.ApprovalRequested)
    return Text(clean_text(text, _WHOLE if whole else 4000)) if text else None


def _render_detail_instead_of_sentence(event: kinds.Event, state: RunState) -> str | None:
    match event:
        case kinds.ItemStarted():
            done = sum(item.status not in ("waiting", "working") for item in state.items.values())
            head = clean_line(f"● {event.rule} CAT {event.category}  {event.title}", 300)
            return f"\n{head}  ({done + 1} of {len(state.items)})"
        case kinds.AttemptStarted(attempt=number, lessons=lessons) if (number > 1 or lessons) and not event.describe():
            return f"  attempt {number}, lessons: {len(lessons)}"
        case kinds.PlanMade():
            return f"    plan: {clean_line(event.approach, 600)}"
        case kinds.ActionApplied():
            rows = mark_file_headers(event.diff.splitlines())
            return "\n".join(f"    {row}" for row, is_header in rows if not is_header)
        case kinds.ApprovalRequested():
            return _render_approval(event)
        case _:
            return None


def _render_approval(event: kinds.ApprovalRequested) -> str:
    """Return the request, with the whole of a vendor's script and what a person has to know."""
    needs, answer = event.needs, f"temper approve {event.approval.split('.')[0]}"
    if event.about == "reboot":
        return f"  ? {clean_line(event.diff, 4000)}\n  ? It waits for approval: {answer}"
    rows = event.diff.splitlines() if event.diff.startswith(LABEL) else []
    rows += [f"warning: {one}" for one in (needs.risk.warnings if needs and needs.risk else ())]
    why = f"; it {needs.summary}" if needs and needs.sha256 else " for approval"
    if event.diff.startswith(LABEL):
        why = " for approval. Read the change first"
    return "\n".join([*(f"    {row}" for row in rows), f"  ? {event.rule} waits{why}: {answer}"])


def _render_sentence(event: kinds.Event) -> str | None:
    described = event.describe()
    if described is None or isinstance(event, kinds.TurnFinished):  # ProgressPrinter prints its figures
        return None
    head = "\n" if isinstance(event, kinds.RunEnd) else "  "
    return f"{head}{described.glyph} {clean_line(described.text, 4000)}"
