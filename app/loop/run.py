"""A run in work: its state, its log, and the means that it is performed with."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.engines.client import EngineClient
from app.engines.queue import EngineQueue
from app.events.approvals import ApprovalPolicy
from app.events.kinds import Event
from app.events.log import RunLog
from app.events.waiver import Waiver
from app.events.words import Lesson, ProvenFix, Role, Sampling, SeatTaken
from app.loop.state import RunState, step
from app.scanners.scanner import Scanner
from app.skills.skill import Rule, Skill
from app.store.before import Left
from app.targets.thread import TargetThread


@dataclass(frozen=True)
class RoleSeat:
    """A role's place: which engine it asks, and how."""

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
    """Somebody collects traces."""
    precision: str = ""
    vllm: str = ""

    def taken(self) -> SeatTaken:
        """As the log has it."""
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


class Lessons(Protocol):
    """What earlier runs taught."""

    def known(self, rule: str) -> Sequence[Lesson]: ...


class Before(Protocol):
    def passed(self) -> tuple[str, frozenset[str]]:
        """The host's last run with this skill that came to its end, and what held then; empty where there is none."""

    def left(self) -> Left:
        """As the last such run that was to change something left it."""


class Waived(Protocol):
    def on(self, host: str, now: float) -> tuple[Waiver, ...]:
        """Those in force there."""


class Fixes(Protocol):
    """What held on other hosts."""

    def known(self, rule: str, seen: str, *, played: bool) -> Sequence[ProvenFix]:
        """For a host whose files that decide the rule are these; `played`: it is played itself."""


class NoFixes:
    """None is offered."""

    def known(self, rule: str, seen: str, *, played: bool) -> Sequence[ProvenFix]:  # noqa: ARG002
        return ()


class Nothing:
    """No run before this one, and no waiver."""

    def passed(self) -> tuple[str, frozenset[str]]:
        return "", frozenset()

    def left(self) -> Left:
        return Left()

    def on(self, _host: str, _now: float) -> tuple[Waiver, ...]:
        return ()


@dataclass(frozen=True)
class Means:
    skill: Skill
    target: TargetThread
    scanner: Scanner
    seats: dict[Role, RoleSeat]
    lessons: Lessons
    worker: str
    before: Before = field(default_factory=Nothing)
    waivers: Waived = field(default_factory=Nothing)
    fixes: Fixes = field(default_factory=NoFixes)
    approvals: ApprovalPolicy | None = None
    clock: Callable[[], float] = time.time


@dataclass
class Run:
    state: RunState
    log: RunLog
    means: Means
    nudged: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a person said something: whoever waits looks again."""
    cancellable: asyncio.Task[None] | None = None
    """The turn or wait that a stop may cut short."""

    def append(self, *events: Event) -> None:
        for recorded in self.log.append(*events):
            self.state = step(self.state, recorded)

    @property
    def rule(self) -> Rule:
        assert self.state.item
        return self.means.skill.rules[self.state.item.rule]

    @property
    def place(self) -> tuple[str, int]:
        """Rule and attempt in work, as most events name them."""
        assert self.state.item
        assert self.state.item.attempt
        return self.state.item.rule, self.state.item.attempt.number
