"""The page of one item: its outcome, its attempts, and the thought and answer of every turn."""

from dataclasses import dataclass

from starlette.responses import Response

from app.events import kinds
from app.events.record import Recorded
from app.events.sealed import outline
from app.events.words import Purpose
from app.loop.telling import Telling, telling
from app.people.rights import reads_prompts
from app.runtime.runtime import Runtime
from app.skills.catalog import skill
from app.skills.skill import Rule, tuned
from app.store.models import RunRow
from app.web.pages.mission.attempts import AttemptView, tried
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

ENDS = (kinds.ItemPassed, kinds.ItemEscalated, kinds.ItemSkipped, kinds.ItemDeferred)
FOR: dict[Purpose, str] = {
    "plan": "planned",
    "act": "wrote the change",
    "review": "read the verdict",
    "triage": "looked for damage",
    "reflect": "learnt from the failure",
}


@dataclass
class ItemPage:
    """The page's data, folded from the run's events."""

    run: RunRow
    wanted: str
    rule: Rule | None
    engines: dict[str, str]
    """Titles by engine name; empty for engines of another line-up."""
    tries: list[AttemptView]
    turns: list[tuple[kinds.TurnStarted, kinds.TurnFinished | None]]
    began: int = 0
    end: Telling | None = None
    force: Telling | None = None

    def take(self, recorded: Recorded) -> None:
        event = recorded.event
        if isinstance(event, kinds.RunStarted) and event.parameters and self.rule:
            self.rule = tuned(skill(self.run.skill), event.parameters).rules[self.wanted]
        elif isinstance(event, kinds.TurnFinished):
            if self.turns and self.turns[-1][0].turn == event.turn:
                self.turns[-1] = (self.turns[-1][0], event)
        elif getattr(event, "rule", None) != self.wanted:
            return
        elif isinstance(event, kinds.TurnStarted):
            self.turns.append((event, None))
        elif isinstance(event, kinds.AttemptStarted):
            self.tries.append(AttemptView(event.attempt, event.lessons))
        elif isinstance(event, kinds.ForceAsked):
            self.force = telling(event)
        elif self.tries:
            self.tries[-1] = tried(self.tries[-1], event)
        if isinstance(event, kinds.ItemStarted):
            self.began = recorded.seq
        if isinstance(event, ENDS):
            self.end = telling(event)


def item_page(runtime: Runtime, row: RunRow, rule: str) -> Response:
    engines = {engine.name: engine.title for engine in runtime.lineup.engines.values()}
    view = ItemPage(row, rule, skill(row.skill).rules.get(rule), engines, [], [])
    for recorded in runtime.store.steady(row.id):
        view.take(recorded)
    nonce = new_nonce()
    html = rendered("item.html", nonce=nonce, here="runs", FOR=FOR, told=_told, **vars(view))
    return page(html, nonce, 200 if view.rule else 404)


def _told(begun: kinds.TurnStarted) -> tuple[str, ...]:
    return begun.prompt if reads_prompts() else tuple(map(outline, begun.prompt))
