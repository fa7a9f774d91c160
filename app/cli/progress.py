"""Show a run in the terminal: stream each thought, then print one line for each result."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.text import Text

from app.cli.event_rendering import render_event
from app.events.kinds import TurnDelta, TurnFinished, TurnStarted
from app.events.record import Recorded
from app.events.vocabulary import Role
from app.loop.state import RunState
from app.text.clean import clean_line, clean_text

COLOURS: dict[Role, str] = {"architect": "blue", "worker": "yellow", "auditor": "magenta", "sentry": "cyan"}


class ProgressPrinter:
    def __init__(self, run: str) -> None:
        self._console = Console(highlight=False)
        self._run = run
        self._thinking = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_thought()

    def show(self, recorded: Recorded, state: RunState) -> None:
        match recorded.event:
            case TurnStarted() as event:
                self._print_turn_label(event.role, event.purpose, event.engine)
            case TurnDelta(channel="thought") as event:
                self._print_thought(event.role, event.text)
            case TurnDelta():
                return
            case TurnFinished() as event:
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

    def _print_turn_figures(self, turn: TurnFinished) -> None:
        rate = f"{turn.decode_rate:.1f} tok/s" if turn.decode_rate else "— tok/s"
        ttft = f"{turn.ttft:.2f} s to the first" if turn.ttft is not None else "no first token"
        words = f"    {turn.completion_tokens} tokens, {rate}, {ttft}"
        if turn.outcome != "answered":
            words += f"; {turn.outcome}: {clean_line(turn.detail, 200)}"
        self._console.print(Text(words, style="dim"))
