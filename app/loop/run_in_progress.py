"""A running run: its state, its log and the services that it uses."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypedDict

from app.candidates.recipe_file_reader import Recipe
from app.candidates.settings_that_proposals_ask_for import list_settings_of_candidates_except_recipes
from app.engines.client import EngineClient
from app.engines.queue import EngineQueue
from app.events.approval_policy import ApprovalPolicy
from app.events.event_field_types import Role, Sampling, SeatTaken
from app.events.kinds import Event, PlanMade, RunQueued
from app.events.log_writer import RunLog
from app.loop.attempt_state import Attempt
from app.loop.effects import Effect
from app.loop.state import Item, RunState, apply_event
from app.loop.turn_context import build_rule_scope
from app.scanners.scanner import Scanner
from app.skills.skill import Rule, Skill
from app.store.prior_knowledge import RunHistory
from app.targets.change_assessment import Assessment
from app.targets.planned_effects_of_actions import Actions, ProposedChange
from app.targets.rule_scope import RuleScope
from app.targets.target_thread import TargetThread


@dataclass(frozen=True)
class RoleSeat:
    role: Role
    engine: str
    model: str
    replicas: tuple[EngineClient, ...]
    max_tokens: int
    max_model_len: int
    temperature: float
    sampling: Sampling = field(default_factory=Sampling)
    queue: EngineQueue = field(default_factory=EngineQueue)
    traced: bool = False
    """Traces are exported."""
    precision: str = ""
    vllm: str = ""

    def to_seat_taken(self) -> SeatTaken:
        same = {name: getattr(self, name) for name in SeatTaken.__struct_fields__}
        return SeatTaken(**same | {"replicas": len(self.replicas)})


@dataclass(frozen=True)
class RunServices:
    skill: Skill
    target: TargetThread
    scanner: Scanner
    seats: dict[Role, RoleSeat]
    worker: str
    history: RunHistory = field(default_factory=RunHistory)
    approvals: ApprovalPolicy | None = None
    recipes: tuple[Recipe, ...] = ()
    """What people propose for rules, tried before what the content proposes."""
    key: str = ""
    """Public key with which evidence of the run is signed; empty if nothing is signed."""
    clock: Callable[[], float] = time.time


class EventFields(TypedDict):
    rule: str
    attempt: int


@dataclass
class Run:
    state: RunState
    log: RunLog
    services: RunServices
    nudged: asyncio.Event = field(default_factory=asyncio.Event)
    """Set after a command, to end a wait."""
    cancellable: asyncio.Task[None] | None = None
    """The turn or wait that a stop may cancel."""
    waits: Counter[type[Effect]] = field(default_factory=Counter)
    """How often in a row an effect met a fault of the machinery, although it seemed over."""
    boot_seen_at: float = 0.0
    """When this process first saw the host after its reboot."""
    assessed: Assessment | None = None
    """The assessment of the newest proposal; None after a crash."""

    def append(self, *events: Event) -> None:
        for recorded in self.log.append(*events):
            self.state = apply_event(self.state, recorded)

    def build_change(self, actions: Actions, plan: PlanMade | None, *, by_person: bool = False) -> ProposedChange:
        """Return the change within the plan and what the rule names. A person may name more."""
        scope = None if by_person else self.rule_scope
        asks = self.rule.permitted_weakenings | list_settings_of_candidates_except_recipes(self.item.candidates)
        return ProposedChange(tuple(actions), frozenset(plan.paths if plan else ()), asks, scope)

    @property
    def rule_scope(self) -> RuleScope:
        """What the current rule names."""
        return build_rule_scope(self.rule, self.state.opening.get(self.rule.id), self.item)

    async def assess_change(self, change: ProposedChange) -> Assessment:
        """Assess a change on the host, and keep the assessment for policy, approval and transaction."""
        asked = change.actions, change.allowed_paths, change.asks, change.scope
        self.assessed = await self.services.target.run_blocking(lambda target: target.assess_actions(*asked))
        return self.assessed

    def update_consecutive_fault_count(self, effect: Effect, *, has_fault: bool) -> None:
        """Note whether the effect met a fault of the machinery, so that one which keeps failing is tried seldom."""
        if has_fault:
            self.waits[type(effect)] += 1
        else:
            del self.waits[type(effect)]

    @property
    def item(self) -> Item:
        assert self.state.item
        return self.state.item

    @property
    def rule(self) -> Rule:
        return self.services.skill.rules[self.item.rule]

    @property
    def attempt(self) -> Attempt:
        assert self.state.attempt
        return self.state.attempt

    @property
    def request(self) -> RunQueued:
        assert self.state.request
        return self.state.request

    @property
    def current_attempt_event_fields(self) -> EventFields:
        """The fields by which most events name the current attempt."""
        rule, attempt = self.rule_and_attempt_number
        return {"rule": rule, "attempt": attempt}

    @property
    def rule_and_attempt_number(self) -> tuple[str, int]:
        """The current rule and the number of its attempt."""
        return self.item.rule, self.attempt.number
