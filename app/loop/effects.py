"""The possible next effects. `decide_next_effect` returns one; `perform_effect` performs it and appends its events."""

from typing import Literal

from msgspec import Struct

from app.events.event_field_types import Phase, Purpose, Role


class Effect(Struct, frozen=True):
    """What the loop performs next."""


class Start(Effect, frozen=True):
    """Prepare the host, and record its health before any change."""


class Scan(Effect, frozen=True):
    phase: Phase


class Scope(Effect, frozen=True):
    """Decide from the opening scan which rules are handled, and in which order."""


class StartItem(Effect, frozen=True):
    rule: str


class Recheck(Effect, frozen=True):
    """Scan the item's rule again, as changes for other rules may have fixed it."""


class StartAttempt(Effect, frozen=True):
    rule: str
    number: int
    vendor: bool = False
    why_roles_stopped: str = ""


class Ask(Effect, frozen=True):
    role: Role
    purpose: Purpose
    seconds: float
    """Remaining seconds of turn, item and run."""


class Propose(Effect, frozen=True):
    """Propose a person's edit of the actions."""


class Repeat(Effect, frozen=True):
    """Propose a fix proven on another host."""


class TakeVendors(Effect, frozen=True):
    """Propose the vendor script that OpenSCAP generates for the rule."""


class TakeCandidate(Effect, frozen=True):
    """Propose what the content proposes."""

    number: int


class UseSafeDefault(Effect, frozen=True):
    """Use the safe default of a role without a usable answer."""

    purpose: Purpose


class CloseCrashedTurn(Effect, frozen=True):
    """Close a turn that a crash interrupted."""

    turn: str


class Judge(Effect, frozen=True):
    """Apply the policy to the proposed actions."""


class Rehearse(Effect, frozen=True):
    """Scan a copy of the host's files with the change applied."""


class RequestApproval(Effect, frozen=True):
    """Ask people to approve the change."""


class Wait(Effect, frozen=True):
    """Wait for a person, until the time `until`."""

    until: float | None


class WaitOut(Effect, frozen=True):
    """Wait until a fault of the machinery is over."""


class ExpireApproval(Effect, frozen=True):
    """Record that an approval was not given in time."""


class Apply(Effect, frozen=True):
    """Apply the change to the host."""


class Verify(Effect, frozen=True):
    """Scan the rule of the change."""


class Watch(Effect, frozen=True):
    """Probe the host's health after the change."""


class FailAttempt(Effect, frozen=True):
    cause: str
    reason: str


class GatherFacts(Effect, frozen=True):
    """Gather facts about the failure, before the rollback."""


class RollBack(Effect, frozen=True):
    journal: str
    cause: str


class CloseItem(Effect, frozen=True):
    rule: str
    outcome: Literal["passed", "escalated", "skipped", "deferred"]
    reason: str = ""
    waiver: str = ""


class AskForReboot(Effect, frozen=True):
    """Ask a person before the host is rebooted."""


class SkipReboot(Effect, frozen=True):
    reason: str


class Reboot(Effect, frozen=True):
    """Announce the reboot. From then on the host may go down at any moment."""


class AwaitReboot(Effect, frozen=True):
    """Reboot the host unless that has happened, and wait until it is back. Repeatable after a crash."""


class UndoRun(Effect, frozen=True):
    """Take this run's changes back, because the host is not well after its reboot."""


class CompareReboot(Effect, frozen=True):
    """Compare the closing scan with the verdicts at the time of the fixes."""


class ReopenItem(Effect, frozen=True):
    """Escalate an item that had passed."""

    rule: str
    reason: str


class Finish(Effect, frozen=True):
    """End the run with its counts."""


class Stop(Effect, frozen=True):
    """End the run because a person stopped it."""


class Halt(Effect, frozen=True):
    reason: str


class Done(Effect, frozen=True):
    """Do nothing: the run has ended."""
