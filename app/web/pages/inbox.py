"""The inbox: everything that waits for a person, with the chosen decision and its answers beside the list."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query
from starlette.responses import HTMLResponse, Response

from app.people.rights import WHO, Person, viewers
from app.runs.open_decisions import GROUPS, OpenDecision, PossibleAnswer, explain_denial
from app.web.deps import TheDecisions, TheRuntime, TheSession, TheStreams, create_state_dependency
from app.web.pages.header_badges import InboxWatch
from app.web.pages.live_parts import LiveParts
from app.web.pages.templating import render_page, render_template_to_text
from app.web.url_paths import path_to

router = APIRouter(include_in_schema=False)

SHOWN = 200
"""Decisions in the list; the others are counted."""
TheInboxWatch = Annotated[InboxWatch, Depends(create_state_dependency("inbox_watch"))]
ItemName = Annotated[str, Query(max_length=400)]


@dataclass(frozen=True)
class AnswerForm:
    """The form of one decision, for one person."""

    action: str
    hidden: Mapping[str, str]
    answers: Sequence[PossibleAnswer]
    """Those that the person may give."""
    denials: Sequence[str]
    """Why the person may not give the others."""

    @property
    def asks_reason(self) -> bool:
        return any(one.reason != "no" for one in self.answers)


@router.get("/inbox", name="inbox")
@viewers
def show_inbox(decisions: TheDecisions, runtime: TheRuntime, _: TheSession, item: ItemName = "") -> Response:
    found, now = decisions.list_decisions(), runtime.clock.now()
    chosen = next((one for one in found if one.id == item), None if item else next(iter(found), None))
    return render_page(
        "inbox.html",
        here="inbox",
        queue=render_queue(found, now, chosen),
        detail=render_decision_or_nothing_selected_notice(chosen, WHO.get()),
        chosen=chosen,
        simulated=any(one.simulated for one in found),
    )


@router.get("/inbox/item", name="inbox_item")
@viewers
def show_decision(decisions: TheDecisions, _: TheSession, item: ItemName = "") -> Response:
    """Render one decision for the pane beside the list. The page's script requests this."""
    headers = {"cache-control": "no-store"}
    return HTMLResponse(
        render_decision_or_nothing_selected_notice(decisions.find_decision(item), WHO.get()), headers=headers
    )


@router.get("/inbox/stream", name="inbox_stream")
@viewers
async def stream_inbox(
    streams: TheStreams,
    watch: TheInboxWatch,
    live: Annotated[LiveParts, Depends(create_state_dependency("inbox_live"))],
) -> Response:
    """Stream the list when it changes. It is the same for everybody; only answers depend on the person."""
    return streams.create_live_response(live, [watch])


def render_queue(decisions: Sequence[OpenDecision], now: float, chosen_decision: OpenDecision | None = None) -> str:
    grouped = [(name, [one for one in decisions[:SHOWN] if one.get_group(now) == name]) for name in GROUPS]
    return render_template_to_text(
        "partials/_inbox_queue.html",
        grouped=[(name, some) for name, some in grouped if some],
        total=len(decisions),
        more=max(0, len(decisions) - SHOWN),
        chosen=chosen_decision,
    )


def render_decision_or_nothing_selected_notice(decision: OpenDecision | None, person: Person | None) -> str:
    form = create_answer_form(decision, person) if decision else None
    return render_template_to_text("partials/_decision.html", decision=decision, form=form)


def create_answer_form(decision: OpenDecision, person: Person | None) -> AnswerForm:
    denials = {one.verb: explain_denial(decision, one.verb, person) for one in decision.answers}
    return AnswerForm(
        action=_build_action_address(decision),
        hidden=dict(_list_hidden_fields(decision)),
        answers=[one for one in decision.answers if not denials[one.verb]],
        denials=list(dict.fromkeys(filter(None, denials.values()))),
    )


def to_inbox_address(decision: OpenDecision) -> str:
    return f"{path_to('inbox')}?{urlencode({'item': decision.id})}"


def _build_action_address(decision: OpenDecision) -> str:
    match decision.kind:
        case "approval" | "run":
            return path_to("run_ask", run=decision.run)
        case "rollout":
            return path_to("rollout", rollout=decision.rollout)
        case "waiver":
            return path_to("waiver", waiver=decision.waiver)
        case _:
            return path_to("runs")


def _list_hidden_fields(decision: OpenDecision) -> Iterator[tuple[str, str]]:
    """Yield the fields that the address needs beside verb and reason."""
    if decision.kind == "approval":
        yield "approval", decision.id.partition(":")[2]
    if decision.kind in ("escalated", "deferred", "host"):
        yield from (("host", decision.host), ("skill", decision.skill), ("mode", decision.mode))
    if decision.findings:
        yield "rules", ",".join(one.rule for one in decision.findings)
