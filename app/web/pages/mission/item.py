"""The page of one item: its outcome, its attempts, and the thought and answer of every turn."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from app.events import kinds
from app.events.architect_questions_about_host import AnsweredQuestion
from app.events.event_field_types import Candidate, Purpose
from app.events.prompts_hidden_from_viewers import summarize_prompt
from app.events.record import Recorded
from app.lineups.model import Lineup
from app.people.rights import can_read_prompts
from app.runtime.runtime import Runtime
from app.skills.catalog import load_skill
from app.skills.skill import Rule, apply_parameters
from app.store.models import RunRow
from app.web.pages.mission.attempts import AttemptView, advance_attempt_view
from app.web.pages.mission.candidate_rows import list_candidate_rows
from app.web.pages.templating import render_page

FOR: dict[Purpose, str] = {
    "plan": "planned",
    "act": "wrote the change",
    "review": "read the verdict",
    "triage": "looked for damage",
    "reflect": "learned from the failure",
}


@dataclass
class ItemPage:
    run: RunRow
    wanted: str
    rule: Rule | None
    engines: dict[str, str]
    """Titles by engine name; empty for engines of another line-up."""
    tries: list[AttemptView]
    turns: list[tuple[kinds.TurnStarted, kinds.TurnFinished | None, kinds.QuestionsAnswered | None]]
    gathered: tuple[Candidate, ...] = ()
    tried: tuple[str, ...] = ()
    """Fingerprints of what failed."""
    began: int = 0
    end: kinds.Sentence | None = None
    force: kinds.Sentence | None = None

    def apply_event(self, recorded: Recorded) -> None:
        event = recorded.event
        if isinstance(event, kinds.RunStarted) and event.parameters and self.rule:
            self.rule = apply_parameters(load_skill(self.run.skill), event.parameters).rules[self.wanted]
        elif isinstance(event, kinds.TurnFinished):
            if self.turns and self.turns[-1][0].turn == event.turn:
                self.turns[-1] = (self.turns[-1][0], event, None)
        elif getattr(event, "rule", None) != self.wanted:
            return
        elif isinstance(event, kinds.TurnStarted):
            self.turns.append((event, None, None))
        elif isinstance(event, kinds.CandidatesGathered):
            self.gathered = event.candidates
        elif isinstance(event, kinds.AttemptStarted):
            self.tries.append(AttemptView(event.attempt, event.lessons, event.offered))
        elif isinstance(event, kinds.InForceChecked):
            self.force = event.describe()
        elif self.tries:
            self.tries[-1] = advance_attempt_view(self.tries[-1], event)
        if isinstance(event, kinds.QuestionsAnswered) and self.turns:
            self.turns[-1] = (*self.turns[-1][:2], event)
        if isinstance(event, kinds.AttemptReflected):
            self.tried += event.banned
        if isinstance(event, kinds.ItemStarted):
            self.began = recorded.seq
        if isinstance(event, kinds.ItemEnd):
            self.end = event.describe()


def render_item_page(runtime: Runtime, row: RunRow, rule: str) -> Response:
    context = build_item_context(runtime.lineup, row, rule, runtime.store.read_events_without_deltas(row.id))
    return render_page("item.html", here="runs", status=200 if context["rule"] else 404, **context)


def build_item_context(lineup: Lineup, row: RunRow, rule: str, events: Iterable[Recorded]) -> dict[str, Any]:
    """Return what item.html shows. `events` may lack turn deltas."""
    engines = {engine.name: engine.title for engine in lineup.engines.values()}
    view = ItemPage(row, rule, load_skill(row.skill).rules.get(rule), engines, [], [])
    for recorded in events:
        view.apply_event(recorded)
    plan = view.tries[-1].plan if view.tries else None
    candidates = list_candidate_rows(view.gathered, view.tried, plan.candidate if plan else 0)
    return {
        "FOR": FOR,
        "told": _redact_prompt_unless_allowed,
        "read": _redact_answer_unless_allowed,
        "candidates": candidates,
        **vars(view),
    }


def _redact_answer_unless_allowed(question: AnsweredQuestion) -> str:
    return question.answer if can_read_prompts() else summarize_prompt(question.answer)


def _redact_prompt_unless_allowed(turn: kinds.TurnStarted) -> tuple[str, ...]:
    return turn.prompt if can_read_prompts() else tuple(map(summarize_prompt, turn.prompt))
