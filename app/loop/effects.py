"""What can be next. `decide` names one of these; `perform` does it and says in events what came of it."""

from dataclasses import dataclass
from typing import Literal

from app.events.words import Phase, Purpose, Role


@dataclass(frozen=True)
class Start:
    pass


@dataclass(frozen=True)
class Scan:
    phase: Phase


@dataclass(frozen=True)
class Scope:
    pass


@dataclass(frozen=True)
class StartItem:
    rule: str


@dataclass(frozen=True)
class StartAttempt:
    rule: str
    number: int
    vendor: bool = False


@dataclass(frozen=True)
class Ask:
    role: Role
    purpose: Purpose
    seconds: float
    """What is left of the budgets of turn, item and run."""


@dataclass(frozen=True)
class Propose:
    """What a person made of the Worker's actions."""


@dataclass(frozen=True)
class Repeat:
    """What held on another host."""


@dataclass(frozen=True)
class TakeVendors:
    """The script that the content has for the rule, as OpenSCAP makes it."""


@dataclass(frozen=True)
class DoWithout:
    """The role gave no usable answer and its part has a safe default."""

    purpose: Purpose


@dataclass(frozen=True)
class Interrupt:
    """A turn that a crash left open."""

    turn: str


@dataclass(frozen=True)
class Judge:
    """Policy over the proposed actions."""


@dataclass(frozen=True)
class Rehearse:
    pass


@dataclass(frozen=True)
class RequestApproval:
    pass


@dataclass(frozen=True)
class Wait:
    """For a person; `until` is when waiting ends by itself."""

    until: float | None


@dataclass(frozen=True)
class ExpireApproval:
    pass


@dataclass(frozen=True)
class Apply:
    pass


@dataclass(frozen=True)
class Verify:
    pass


@dataclass(frozen=True)
class Watch:
    pass


@dataclass(frozen=True)
class FailAttempt:
    cause: str
    reason: str


@dataclass(frozen=True)
class GatherFacts:
    pass


@dataclass(frozen=True)
class RollBack:
    journal: str
    cause: str


@dataclass(frozen=True)
class CloseItem:
    rule: str
    outcome: Literal["passed", "escalated", "skipped", "deferred"]
    reason: str = ""
    waiver: str = ""


@dataclass(frozen=True)
class Finish:
    pass


@dataclass(frozen=True)
class Stop:
    pass


@dataclass(frozen=True)
class Halt:
    reason: str


@dataclass(frozen=True)
class Done:
    pass


Effect = (
    Start
    | Scan
    | Scope
    | StartItem
    | StartAttempt
    | Ask
    | Propose
    | Repeat
    | TakeVendors
    | DoWithout
    | Interrupt
    | Judge
    | Rehearse
    | RequestApproval
    | Wait
    | ExpireApproval
    | Apply
    | Verify
    | Watch
    | FailAttempt
    | GatherFacts
    | RollBack
    | CloseItem
    | Finish
    | Stop
    | Halt
    | Done
)
