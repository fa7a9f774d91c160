"""One item of a run in full: every attempt, every turn's thought and answer."""

from starlette.responses import Response

from app.events.kinds import TurnFinished, TurnStarted
from app.pages.mission.tries import Try, tried
from app.pages.security import new_nonce, page
from app.pages.templating import rendered
from app.skills.catalog import skill
from app.store.models import RunRow
from app.worker import Worker


def item_page(worker: Worker, row: RunRow, rule: str) -> Response:
    tries: list[Try] = []
    turns: list[tuple[TurnStarted, TurnFinished | None]] = []
    began = 0
    for recorded in worker.store.steady(row.id):
        event = recorded.event
        of = getattr(event, "rule", None)
        kind = event.__struct_config__.tag
        if of == rule and kind == "attempt.started":
            tries.append(Try(event.attempt, event.lessons))  # type: ignore[attr-defined]
        elif isinstance(event, TurnStarted) and of == rule:
            turns.append((event, None))
        elif isinstance(event, TurnFinished) and turns and turns[-1][0].turn == event.turn:
            turns[-1] = (turns[-1][0], event)
        elif of == rule and tries:
            tries[-1] = tried(tries[-1], event)
        if of == rule and kind == "item.started":
            began = recorded.seq
    nonce = new_nonce()
    known = skill(row.skill).rules.get(rule)
    context = {"run": row, "rule": known, "wanted": rule, "tries": tries, "turns": turns, "began": began}
    html = rendered("item.html", nonce=nonce, here="/runs", **context)
    return page(html, nonce, 200 if known else 404)
