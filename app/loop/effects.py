"""The possible next effects. `decide_next_effect` returns one; `perform_effect` performs it and appends its events."""

from dataclasses import dataclass
from typing import Literal

from app.events.vocabulary import Phase, Purpose, Role


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
    """Remaining seconds of turn, item and run."""


@dataclass(frozen=True)
class Propose:
    """Propose a person's edit of the actions."""


@dataclass(frozen=True)
class Repeat:
    """Propose a fix proven on another host."""


@dataclass(frozen=True)
class TakeVendors:
    """Propose the vendor script that OpenSCAP generates for the rule."""


@dataclass(frozen=True)
class DoWithout:
    """Use the safe default of a role without a usable answer."""

    purpose: Purpose


@dataclass(frozen=True)
class Interrupt:
    """Close a turn that a crash interrupted."""

    turn: str


@dataclass(frozen=True)
class Judge:
    """Apply the policy to the proposed actions."""


@dataclass(frozen=True)
class Rehearse:
    pass


@dataclass(frozen=True)
class RequestApproval:
    pass


@dataclass(frozen=True)
class Wait:
    """Wait for a person, until the time `until`."""

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
