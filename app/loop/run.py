"""A running run: its state, its log and the services that it uses."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.engines.client import EngineClient
from app.engines.queue import EngineQueue
from app.events.approvals import ApprovalPolicy
from app.events.kinds import Event, PlanMade
from app.events.log import RunLog
from app.events.vocabulary import Lesson, ProvenFix, Role, Sampling, SeatTaken
from app.events.waiver import Waiver
from app.loop.attempt import Attempt
from app.loop.state import RunState, apply_event
from app.scanners.scanner import Scanner
from app.skills.skill import Rule, Skill
from app.store.run_history import PreviousState
from app.targets.assessment import Assessment
from app.targets.change_plan import Actions, ProposedChange
from app.targets.target_thread import TargetThread


@dataclass(frozen=True)
class RoleSeat:
    """A role's seat: its engine and settings."""

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
        """Return the seat as it is recorded in the log."""
        return SeatTaken(
            role=self.role,
            engine=self.engine,
            model=self.model,
            precision=self.precision,
            vllm=self.vllm,
            replicas=len(self.replicas),
            temperature=self.temperature,
            sampling=self.sampling,
            max_tokens=self.max_tokens,
            max_model_len=self.max_model_len,
        )


class LessonSource(Protocol):
    """Lessons of earlier runs."""

    def list_known_lessons(self, rule: str) -> Sequence[Lesson]: ...


class RunHistory(Protocol):
    def read_passed_rules(self) -> tuple[str, frozenset[str]]:
        """Return id and passed rules of the host's last finished run with this skill; empty if there is none."""

    def read_previous_state(self) -> PreviousState:
        """Return the state in which the last such run that could change the host left it."""


class WaiverSource(Protocol):
    def list_active_waivers(self, host: str, now: float) -> tuple[Waiver, ...]:
        """Return the waivers active on the host."""


class FixSource(Protocol):
    """Fixes proven on other hosts."""

    def list_known_fixes(self, rule: str, seen: str, *, played: bool) -> Sequence[ProvenFix]:
        """Return the fixes for a host with these files; `played`: whether the host is simulated."""


class NoFixes:
    """Offers no fixes."""

    def list_known_fixes(self, rule: str, seen: str, *, played: bool) -> Sequence[ProvenFix]:  # noqa: ARG002
        return ()


class NoHistory:
    """No earlier run and no waivers."""

    def read_passed_rules(self) -> tuple[str, frozenset[str]]:
        return "", frozenset()

    def read_previous_state(self) -> PreviousState:
        return PreviousState()

    def list_active_waivers(self, _host: str, _now: float) -> tuple[Waiver, ...]:
        return ()


@dataclass(frozen=True)
class RunServices:
    skill: Skill
    target: TargetThread
    scanner: Scanner
    seats: dict[Role, RoleSeat]
    lessons: LessonSource
    worker: str
    history: RunHistory = field(default_factory=NoHistory)
    waivers: WaiverSource = field(default_factory=NoHistory)
    fixes: FixSource = field(default_factory=NoFixes)
    approvals: ApprovalPolicy | None = None
    clock: Callable[[], float] = time.time


@dataclass
class Run:
    state: RunState
    log: RunLog
    services: RunServices
    nudged: asyncio.Event = field(default_factory=asyncio.Event)
    """Set after a command, to end a wait."""
    cancellable: asyncio.Task[None] | None = None
    """The turn or wait that a stop may cancel."""
    assessed: Assessment | None = None
    """The assessment of the newest proposal; None after a crash."""

    def append(self, *events: Event) -> None:
        for recorded in self.log.append(*events):
            self.state = apply_event(self.state, recorded)

    def build_change(self, actions: Actions, plan: PlanMade | None) -> ProposedChange:
        return ProposedChange(tuple(actions), frozenset(plan.paths if plan else ()), self.rule.asks)

    async def assess_change(self, change: ProposedChange) -> Assessment:
        """Assess a change on the host, and keep the assessment for policy, approval and transaction."""
        asked = change.actions, change.allowed_paths, change.asks
        self.assessed = await self.services.target.run_blocking(lambda target: target.assess_actions(*asked))
        return self.assessed

    @property
    def rule(self) -> Rule:
        assert self.state.item
        return self.services.skill.rules[self.state.item.rule]

    @property
    def position(self) -> tuple[str, int]:
        """The current rule and attempt, which most events name."""
        assert self.state.item
        return self.state.item.rule, self.attempt.number

    @property
    def attempt(self) -> Attempt:
        assert self.state.item
        assert self.state.item.attempt
        return self.state.item.attempt
