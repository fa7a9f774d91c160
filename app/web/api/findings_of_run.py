"""The items of a run: each finding, its attempts, and how it ended."""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from pydantic import Field

from app.events.event_field_types import Category, PendingSetting, Word
from app.events.prompts_hidden_from_viewers import redact_prompt_and_answers
from app.loop.run_skill_loader import load_skill_with_run_parameters
from app.loop.state import Item, RunState
from app.people.rights import can_read_prompts, guests
from app.skills.skill import Rule
from app.store.events import STEADY
from app.web.api.api_model import ApiModel, Raw, Time
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import Problem, build_problem_responses
from app.web.api.runs import read_required_run_row
from app.web.deps import TheFolds, TheRuntime

router = api_router("runs")

ItemStatus = Literal["waiting", "working", "passed", "escalated", "skipped", "deferred", "waived"]


class Failure(ApiModel):
    attempt: int
    cause: str
    reason: str


class SetNotInForce(ApiModel):
    program: str
    setting: str
    wanted: str = Field(description="Verdict on the files.")
    running: str
    by: str = Field(description="What would bring the setting into force.")


class ItemView(ApiModel):
    rule: str
    title: str
    category: Category
    status: ItemStatus
    reason: str
    attempts: int
    tokens: int
    started_at: Time | None
    ended_at: Time | None
    opening: Word | None = Field(description="The scanner's verdict before the run.")
    closing: Word | None = Field(description="The scanner's verdict after the run.")
    failures: list[Failure]
    lessons: list[str] = Field(description="Lessons from its failed attempts.")
    not_in_force: list[SetNotInForce] = Field(
        description="Settings that the files contain but the running programs do not use yet; empty on the "
        "built-in host."
    )


class ItemList(ApiModel):
    run: str
    seq: int = Field(description="Seq of the event after which the items were read.")
    simulated: bool
    items: list[ItemView]


class CandidateView(ApiModel):
    number: int = Field(description="From 1; a plan names it as `candidate`.")
    source: str = Field(description="A person's recipe, the content's Ansible tasks or its fix text.")
    also: list[str] = Field(description="Other sources that propose the same.")
    accepted: bool = Field(description="The policy accepts it.")
    refusal: str = Field(description="Why the policy refuses it.")
    gap: str = Field(description="Why the source proposes nothing here.")
    diff: str
    actions: list[Raw]
    taken: bool = Field(description="The newest plan takes it.")
    failed: bool = Field(description="It failed on this host, or a person refused it, and is not tried again.")


class ItemStory(ApiModel):
    run: str
    seq: int
    simulated: bool
    item: ItemView
    candidates: list[CandidateView] = Field(
        description="What recipes and the content propose, each judged by the policy, before the first attempt."
    )
    events: list[Raw] = Field(
        description="All events of the item in order, without single tokens. Prompts and the host's answers to "
        "questions are for operators."
    )


@router.get("/runs/{run}/items", responses=build_problem_responses("not-found"))
@guests
def list_items(run: str, runtime: TheRuntime, folds: TheFolds) -> ItemList:
    """List the findings of the opening scan, in the order in which they are worked on."""
    simulated, state = read_required_run_row(runtime, run).simulated, folds.read_current(run)
    rules = _read_rules_or_empty_before_request(state)
    items = [_to_item_view(state, item, rules[item.rule]) for item in state.items.values()]
    return ItemList(run=run, seq=state.seq, simulated=simulated, items=items)


@router.get("/runs/{run}/items/{rule}", responses=build_problem_responses("not-found"))
@guests
def show_item(run: str, rule: str, runtime: TheRuntime, folds: TheFolds) -> ItemStory:
    """Show every attempt at one rule of a run."""
    simulated, state = read_required_run_row(runtime, run).simulated, folds.read_current(run)
    item = state.items.get(rule)
    if item is None:
        said = f"Run {run} has no item for rule {rule[:40]!a}. GET /api/v1/runs/{run}/items lists its items."
        raise Problem("not-found", said, field="rule")
    whole = can_read_prompts()
    lines = runtime.store.read_lines(run, upto=state.seq, kinds=STEADY)
    story = _select_item_events([line if whole else redact_prompt_and_answers(line) for _, line, _ in lines], rule)
    view = _to_item_view(state, item, _read_rules_or_empty_before_request(state)[rule])
    candidates = list(_iterate_candidate_views(item))
    return ItemStory(run=run, seq=state.seq, simulated=simulated, item=view, candidates=candidates, events=story)


def _iterate_candidate_views(item: Item) -> Iterator[CandidateView]:
    plan = item.attempt.plan if item.attempt else None
    for number, one in enumerate(item.candidates, 1):
        yield CandidateView.from_source(
            one,
            number=number,
            accepted=one.is_usable,
            actions=msgspec.to_builtins(one.actions),
            taken=plan is not None and plan.candidate == number,
            failed=bool(one.actions) and item.has_candidate_failed(one),
        )


def _read_rules_or_empty_before_request(state: RunState) -> dict[str, Rule]:
    return dict(load_skill_with_run_parameters(state).rules) if state.request else {}


class _LineSubject(msgspec.Struct):
    """The fields of a log line that say what it is about."""

    kind: str
    rule: Any = None
    turn: Any = None


_subject_decoder = msgspec.json.Decoder(_LineSubject)


def _select_item_events(lines: list[bytes], rule: str) -> list[Raw]:
    """Return the events of one rule, with its turns: the end of a turn names the turn and not the rule."""
    told = [(line, _subject_decoder.decode(line)) for line in lines]
    turns = {of.turn for _, of in told if of.kind == "turn.started" and of.rule == rule}
    return [msgspec.json.decode(line) for line, of in told if of.rule == rule or of.turn in turns]


def _to_item_view(state: RunState, item: Item, rule: Rule) -> ItemView:
    opening, closing = state.opening.get(item.rule), state.closing.get(item.rule)
    return ItemView.from_source(
        item,
        title=rule.title,
        category=rule.category,
        attempts=item.attempt.number if item.attempt else 0,
        started_at=item.started or None,
        ended_at=item.ended or None,
        opening=opening.word if opening else None,
        closing=closing.word if closing else None,
        lessons=[lesson.advice for lesson in item.lessons],
        not_in_force=_list_settings_not_in_force(item),
    )


def _list_settings_not_in_force(item: Item) -> tuple[PendingSetting, ...]:
    force = item.attempt.force if item.attempt and item.status == "passed" else None
    return force.behind if force else ()
