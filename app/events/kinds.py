"""Every kind of event. Each is one line of the log, from which everything shown is derived."""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

from msgspec import Struct

from app.events.approval_policy import (
    ApprovalPolicy,
    Approver,
    PeopleNeeded,
    describe_missing_approvals,
    format_token_and_makers_suffix,
)
from app.events.architect_questions_about_host import AnsweredQuestion
from app.events.event_field_types import (
    NO_FINDING,
    AnyAction,
    Budget,
    Candidate,
    Category,
    Channel,
    Decision,
    EngineChoice,
    FileChange,
    GpuProcess,
    Lesson,
    Mode,
    ParameterUsed,
    PendingSetting,
    Phase,
    Probe,
    ProvenFix,
    Published,
    Purpose,
    Role,
    SeatTaken,
    Spent,
    Tailored,
    TurnOutcome,
    WaitCause,
    Word,
    describe_fix_source,
    describe_pending_settings,
)
from app.events.waiver_in_force import Waiver
from app.text.pluralized_counts import count_things

ItemOutcome = Literal["passed", "escalated", "skipped", "deferred"]
RunOutcome = Literal["finished", "failed", "stopped"]
ApprovalSubject = Literal["change", "reboot"]


class Sentence(Struct, frozen=True):
    """What the feed, the terminal, the papers and the messages say about an event."""

    text: str
    glyph: str = "·"
    kind: str = "plain"
    """The style: passed, undone, escalated, skipped, waived, deferred, alarm, refused or plain."""


class Event(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What happened. Time, run and seq are in its Recorded.

    A kind is declared once, as a class below RunEvent, RolloutEvent or Sample; lists of kinds follow from the classes.
    """

    @abstractmethod
    def describe(self) -> Sentence | None:
        """Return the event as one sentence, or None if nobody wants to read about it."""


def stay_silent(_: Event) -> None:
    """The `describe` of a kind without a sentence."""


class RunEvent(Event, frozen=True):
    """An event in the log of a run."""


class RolloutEvent(Event, frozen=True):
    """An event in the log of a rollout."""


class Sample(Event, frozen=True):
    """An event of the machine, stored outside the runs' chains."""


class RunQueued(RunEvent, frozen=True, tag="run.queued"):
    host: str
    skill: str
    rules: tuple[str, ...]
    mode: Mode
    budget: Budget
    lineup: str
    simulated: bool
    pace: float | None = None
    """Pace of simulated engines relative to the measured rate; 0 is unlimited, None means real engines."""
    note: str = ""
    keep: bool = False
    """Keep the host as it is; otherwise the simulated host is reset."""
    by: str = ""
    consent: str = ""
    """The person's consent to a run whose changes cannot be rolled back."""
    replay_fixes: bool = False
    """Try fixes proven on hosts with the same files first; False in old logs."""
    after_reboot: bool = False
    """A check whether the last run's changes survived a reboot."""
    whose: str = ""
    """The person whose schedule or rollout ordered it; empty if `by` is the person."""
    token: str = ""
    """Id of the API token that ordered it; empty if none."""
    engine: EngineChoice = "lineup"
    """`none`: no model is asked; what the content proposes is tried in order, and scanner and probes judge it."""
    reboot: bool = False
    """Reboot the host after the last item, and see what still holds."""

    def describe(self) -> Sentence:
        asked = f"Run asked for on {self.host}: {count_things(len(self.rules), 'rule')}, {self.mode}"
        asked += ", a reboot at the end" if self.reboot else ""
        if self.engine == "none":
            return Sentence(f"{asked}, no model")
        asked = f"{asked}, line-up {self.lineup}"
        if not self.simulated:
            return Sentence(f"{asked}, real engines")
        pace = f"at {self.pace:g} times the measured pace" if self.pace else "as fast as they can"
        return Sentence(f"{asked}, SIMULATED engines, {pace}")


class RunPreparing(RunEvent, frozen=True, tag="run.preparing"):
    """The state of the host before any change is being read, and that takes longer than a second."""

    worker: str

    def describe(self) -> Sentence:
        return Sentence(
            "Reading how the host is before any change: logins, password changes, services and kernel settings"
        )


class RunStarted(RunEvent, frozen=True, tag="run.started"):
    worker: str
    confinement: str
    scanner: str
    probes: tuple[Probe, ...]
    """The host's health before any change, to which a rollback must return."""
    temper: str = ""
    """Temper's version."""
    seats: tuple[SeatTaken, ...] = ()
    simulated: bool | None = None
    """The host is simulated; None in old logs."""
    rulebook: str = ""
    """SHA-256 of the skill's rules (skills/skill.py); empty in old logs."""
    published: Published | None = None
    """The benchmark by which evidence names the rules; None without one and in old logs."""
    waivers: tuple[Waiver, ...] = ()
    """Waivers active on this host at the start, by the skill's rule ids."""
    tailored: Tailored | None = None
    """The tailoring file of the skill's profile; None without one and in old logs."""
    parameters: tuple[ParameterUsed, ...] = ()
    """The site values of this run."""
    approvals: ApprovalPolicy | None = None
    """The approval policy of this run; None without a file."""
    key: str = ""
    """Public key that signs the evidence, so that the chain vouches for the signature; empty in old logs."""
    disposable: bool = False
    """The host is a disposable machine, which is rebooted at the end without asking anybody."""

    def describe(self) -> Sentence:
        return Sentence(f"Run started. Verdicts: {self.scanner}. Commands: {self.confinement}")


class InForceChecked(RunEvent, frozen=True, tag="force"):
    """Running settings compared to the files, at the start of the run and after each change."""

    rule: str = ""
    """Empty at the start of the run, when everything is checked."""
    attempt: int = 0
    boot: str = ""
    asked: tuple[str, ...] = ()
    """Programs that reported their settings."""
    behind: tuple[PendingSetting, ...] = ()

    def describe(self) -> Sentence | None:
        return Sentence(f"Set, not in force: {describe_pending_settings(self.behind)}", "!") if self.behind else None


class RunScoped(RunEvent, frozen=True, tag="run.scoped"):
    """Result of the opening scan: findings in the order in which they are handled."""

    order: tuple[str, ...]
    compliant: tuple[str, ...]
    undecided: tuple[str, ...]
    """Verdicts other than pass or fail: error, unknown or not applicable."""

    def describe(self) -> Sentence:
        findings = count_things(len(self.order), "finding")
        return Sentence(f"Opening scan: {findings}, {len(self.compliant)} compliant, {len(self.undecided)} undecided")


class RebootChecked(RunEvent, frozen=True, tag="reboot.checked"):
    """A host after a reboot, compared to the end of its last run."""

    of: str
    """The last run."""
    boot_before: str
    boot_now: str
    rebooted: bool
    slipped: tuple[str, ...] = ()
    """Rules that passed at its end and fail now."""
    arrived: tuple[str, ...] = ()
    """Rules that failed or were pending at its end, and pass now."""
    waiting: tuple[str, ...] = ()
    """Rules that it fixed and that are still pending."""
    behind: tuple[PendingSetting, ...] = ()
    worse: str = ""
    """The probes' description; empty if nothing is worse."""

    def describe(self) -> Sentence:
        glyph, kind = "!" if self.slipped or self.worse else "·", "alarm" if self.worse else "plain"
        if not self.of:
            return Sentence("Check after a reboot: no earlier run changed this host", glyph, kind)
        if not self.boot_before or not self.boot_now:
            begun = f"Temper cannot tell whether the host rebooted since run {self.of}"
        else:
            begun = f"the host {'rebooted' if self.rebooted else 'has not rebooted'} since run {self.of}"
        said = {
            "hold now that did not before": ", ".join(self.arrived),
            "no longer hold": ", ".join(self.slipped),
            "set, not in force": ", ".join(self.waiting),
            "not in force": describe_pending_settings(self.behind),
            "worse": self.worse,
        }
        found = [f"{what}: {which}" for what, which in said.items() if which]
        return Sentence(". ".join([f"Check after a reboot: {begun}", *found]), glyph, kind)


class RebootSkipped(RunEvent, frozen=True, tag="reboot.skipped"):
    """The reboot that was asked for at the end is not made."""

    host: str
    reason: str

    def describe(self) -> Sentence:
        return Sentence(f"{self.host} is not rebooted: {self.reason}", "–", "skipped")


class RebootAnnounced(RunEvent, frozen=True, tag="reboot.announced"):
    """Written before the host is rebooted. The reboot has taken place once the host has another boot id."""

    host: str
    boot: str
    until: float
    """Time until which the host must be back."""
    rules: tuple[str, ...]
    """The fixes of this run."""
    journals: tuple[str, ...] = ()
    """Their journals, the newest first."""
    emulated: bool = False
    snapshot: str = ""
    """The snapshot taken just before; empty on a machine that is not ours."""
    undo_seconds: int = 0
    """Seconds after the start from which the host takes the fixes back unless a login confirms them; 0 means never."""

    def describe(self) -> Sentence:
        fixes = count_things(len(self.rules), "fix", "fixes")
        return Sentence(f"Rebooting {self.host}, to check {fixes} afterwards", "↻")


class RebootReturned(RunEvent, frozen=True, tag="reboot.returned"):
    host: str
    boot: str
    seconds: float
    probes: tuple[Probe, ...]
    """The host's health after the reboot, compared with that before the run."""
    undone: bool = False
    """The host took the fixes back by itself, because no login confirmed them in time."""

    @property
    def logins(self) -> tuple[Probe, ...]:
        """The probes that logged in: as ourselves, and by each watched way."""
        named = (one for one in self.probes if one.name == "agent-login" or one.name.startswith("login-"))
        return tuple(one for one in named if one.name != "login-shells")

    def describe(self) -> Sentence:
        works, tried = sum(one.ok for one in self.logins), len(self.logins)
        verb = "works" if works == tried == 1 else "work"
        count = count_things(tried, "login") if works == tried else f"{works} of {count_things(tried, 'login')}"
        told = f"{self.host} rebooted in {self.seconds:.0f} s; {count} {verb}"
        if self.undone:
            told += "; no login confirmed this run's changes in time, so the host took them back"
        return Sentence(told, "!" if self.undone or works < tried else "↻", "alarm" if self.undone else "plain")


class RebootLost(RunEvent, frozen=True, tag="reboot.lost"):
    """The host did not come back in time."""

    host: str
    seconds: float
    reason: str
    console: tuple[str, ...] = ()
    """The last lines of its console; empty on a machine that is not ours."""

    def describe(self) -> Sentence:
        console = f". Its console ends with: {self.console[-1]}" if self.console else ""
        return Sentence(
            f"{self.host} did not come back within {self.seconds:.0f} s: {self.reason}{console}", "!", "alarm"
        )


class RebootUndone(RunEvent, frozen=True, tag="reboot.undone"):
    """The host is as before the run's changes again, since it was not well after the reboot."""

    host: str
    snapshot: str
    """The snapshot that it was put back to first; empty if it came back by itself."""
    rules: tuple[str, ...]
    paths: tuple[str, ...]
    differences: tuple[str, ...]
    probes: tuple[Probe, ...]
    seconds: float

    def describe(self) -> Sentence:
        back = f"{self.host} is put back to the moment before its reboot, and" if self.snapshot else f"{self.host}:"
        how = f"NOT restored: {self.differences[0]}" if self.differences else "verified"
        fixes = count_things(len(self.rules), "fix", "fixes")
        return Sentence(f"{back} this run's {fixes} rolled back in {self.seconds:.0f} s, {how}", "↺", "undone")


class RebootCompared(RunEvent, frozen=True, tag="reboot.compared"):
    """The closing scan, made after the reboot, compared with the verdicts at the time of the fixes."""

    host: str
    held: tuple[str, ...]
    """Fixes that still hold."""
    lost: tuple[str, ...] = ()
    """Fixes that do not hold any more."""
    slipped: tuple[str, ...] = ()
    """Rules that passed before the run and do not now."""

    def describe(self) -> Sentence:
        total = len(self.held) + len(self.lost)
        some = f"{len(self.held)} of {total} fixes still hold"
        told = f"After the reboot {'the fix still holds' if len(self.held) == total == 1 else some}"
        told += f"; {', '.join(self.lost)} came back" if self.lost else ""
        told += f"; {', '.join(self.slipped)} passed before the run and do not now" if self.slipped else ""
        return Sentence(told, "!" if self.lost or self.slipped else "✓", "alarm" if self.lost else "passed")


class DriftFound(RunEvent, frozen=True, tag="drift"):
    """Rules that passed at the end of the host's last run and fail now, without a change by Temper."""

    rules: tuple[str, ...]
    since: str
    """The last run."""

    def describe(self) -> Sentence:
        return Sentence(f"Drift: {', '.join(self.rules)} passed in run {self.since} and fail now", "!", "alarm")


class RunPaused(RunEvent, frozen=True, tag="run.paused"):
    by: str

    def describe(self) -> Sentence:
        return Sentence(f"Paused by {self.by}", "‖")


class RunResumed(RunEvent, frozen=True, tag="run.resumed"):
    """`by` is a person, or the worker that resumed the run after a crash."""

    by: str
    after_crash: bool = False
    reason: str = ""
    """Why it was interrupted, if its process did not end."""

    def describe(self) -> Sentence:
        if not self.after_crash:
            return Sentence(f"Resumed by {self.by}", "▸")
        why = self.reason or "The server was killed or restarted"
        return Sentence(f"{why}; {self.by} resumed the run", "▸")


class RunWaiting(RunEvent, frozen=True, tag="run.waiting"):
    """The run waits until a fault of the machinery is over. It spends no attempt, time or tokens meanwhile."""

    cause: WaitCause
    reason: str
    """What failed and what to do, as a sentence."""
    engine: str = ""
    """The engine that does not serve."""

    def describe(self) -> Sentence:
        return Sentence(f"Run waits. {self.reason}", "◷", "deferred")


class RunWaitEnded(RunEvent, frozen=True, tag="run.wait_ended"):
    """What the run waited for works again."""

    seconds: float

    def describe(self) -> Sentence:
        return Sentence(f"Run resumed by itself after {self.seconds:.0f} s of waiting", "▸")


class RunStopRequested(RunEvent, frozen=True, tag="run.stopping"):
    by: str
    reason: str
    describe = stay_silent


class RunStopped(RunEvent, frozen=True, tag="run.stopped"):
    status: ClassVar[RunOutcome] = "stopped"
    by: str
    reason: str
    tree: str

    def describe(self) -> Sentence:
        return Sentence(f"Run stopped by {self.by}. {self.reason}", "■")


class RunFinished(RunEvent, frozen=True, tag="run.finished"):
    status: ClassVar[RunOutcome] = "finished"
    passed: int
    escalated: int
    skipped: int
    deferred: int
    regressions: tuple[str, ...]
    tree: str
    """Digest of the host's files, to compare the host with later."""
    waived: int = 0

    def describe(self) -> Sentence:
        waived = f"{self.waived} waived, " if self.waived else ""
        counts = f"{self.passed} passed, {self.escalated} escalated, {self.skipped} skipped, {self.deferred} deferred"
        return Sentence(f"Run finished: {counts}, {waived}{count_things(len(self.regressions), 'regression')}", "■")


class RunFailed(RunEvent, frozen=True, tag="run.failed"):
    status: ClassVar[RunOutcome] = "failed"
    reason: str

    def describe(self) -> Sentence:
        return Sentence(f"Run failed: {self.reason}", "■", "alarm")


class ScanStarted(RunEvent, frozen=True, tag="scan.started"):
    phase: Phase
    rules: int
    describe = stay_silent


class ScanProgressed(RunEvent, frozen=True, tag="scan.progress"):
    """A scan that takes longer. At most one a second."""

    phase: Phase
    judged: int
    rules: int
    describe = stay_silent


class VerdictGiven(RunEvent, frozen=True, tag="verdict"):
    rule: str
    phase: Phase
    word: Word
    evidence: str
    scanner: str
    attempt: int = 0
    path: str | None = None
    line: int | None = None

    def describe(self) -> Sentence | None:
        shown = self.phase == "attempt" or (self.phase == "recheck" and self.word in NO_FINDING)
        return Sentence(f"Scanner ({self.scanner}): {self.word}. {self.evidence}") if shown else None


class ScanFinished(RunEvent, frozen=True, tag="scan.finished"):
    phase: Phase
    seconds: float
    describe = stay_silent


class ItemStarted(RunEvent, frozen=True, tag="item.started"):
    rule: str
    title: str
    category: Category

    def describe(self) -> Sentence:
        return Sentence(f"{self.rule} taken up: {self.title}", "●")


class ItemPassed(RunEvent, frozen=True, tag="item.passed"):
    outcome: ClassVar[ItemOutcome] = "passed"
    rule: str
    attempts: int
    """0 if a change for another rule of the run fixed it, too."""
    lessons: tuple[str, ...] = ()
    """Ids of the lessons given to the attempt that passed; each counts as a hit."""
    replayed: str = ""
    """Id of the proven fix that passed here, too."""

    def describe(self) -> Sentence:
        if self.attempts:
            return Sentence(f"{self.rule} passed at attempt {self.attempts}", "✓", "passed")
        return Sentence(f"{self.rule} already passes because of a change for another rule", "✓", "passed")


class AttemptEvent(RunEvent, frozen=True):
    """An event of an attempt at a rule."""

    rule: str
    attempt: int


class FixProven(AttemptEvent, frozen=True, tag="fix.proven"):
    """The change that passed, stored for hosts that are equal for this rule."""

    fix: ProvenFix

    def describe(self) -> Sentence:
        return Sentence("The change is kept for hosts with the same files")


class ItemEscalated(RunEvent, frozen=True, tag="item.escalated"):
    outcome: ClassVar[ItemOutcome] = "escalated"
    rule: str
    reason: str
    reopened: bool = False
    """It had passed, and did not survive the reboot."""
    replayed: str = ""
    """For a reopened item, the id of the proven fix that it repeated."""
    question: str = ""
    """What a person has to decide, in a few words by which such items are grouped; empty if nothing is known of it."""

    def describe(self) -> Sentence:
        how = "reopened and escalated" if self.reopened else "escalated"
        return Sentence(f"{self.rule} {how}: {self.reason}", "▲", "escalated")


class ItemSkipped(RunEvent, frozen=True, tag="item.skipped"):
    outcome: ClassVar[ItemOutcome] = "skipped"
    rule: str
    reason: str
    waiver: str = ""
    """Id of the waiver because of which it was skipped."""

    def describe(self) -> Sentence:
        if self.waiver:
            return Sentence(f"{self.rule} left alone: {self.reason}", "○", "waived")
        return Sentence(f"{self.rule} skipped: {self.reason}", "–", "skipped")


class ItemDeferred(RunEvent, frozen=True, tag="item.deferred"):
    outcome: ClassVar[ItemOutcome] = "deferred"
    rule: str
    reason: str

    def describe(self) -> Sentence:
        return Sentence(f"{self.rule} deferred: {self.reason}", "◷", "deferred")


class CandidatesGathered(RunEvent, frozen=True, tag="candidates"):
    """What the content and recipes propose for the rule on this host, each judged by the policy."""

    rule: str
    candidates: tuple[Candidate, ...]

    def describe(self) -> Sentence | None:
        usable = [one.sources for one in self.candidates if one.is_usable]
        refused = [one.sources for one in self.candidates if one.refusal]
        said = [f"Proposed for {self.rule}: {one}" for one in usable]
        said += [f"Proposed for {self.rule} and refused by the policy: {one}" for one in refused]
        return Sentence("; ".join(said)) if said else None


class AttemptStarted(AttemptEvent, frozen=True, tag="attempt.started"):
    lessons: tuple[Lesson, ...]
    """Lessons from earlier failures, of this run and before."""
    seen: str = ""
    """SHA-256 over the files that decide the rule; empty in old logs."""
    offered: ProvenFix | None = None
    """A fix proven on an equal host, tried unchanged before any role plans."""
    vendor: bool = False
    """The last resort: the vendor's own script instead of a role's actions."""
    why_roles_stopped: str = ""
    """Why no role plans this attempt: then the next proposal that none of them tried is taken in the stated order."""

    def describe(self) -> Sentence | None:
        if self.offered:
            fix = self.offered.provenance
            return Sentence(f"Attempt {self.attempt} is {fix}: the same files, the same rule, no plan asked")
        if self.vendor:
            last = f"Attempt {self.attempt} is the last resort"
            return Sentence(f"{last}: the vendor's script, if a person approves it", "!")
        if self.why_roles_stopped:
            return Sentence(f"Attempt {self.attempt} takes what is proposed and no role has tried")
        return None


class AttemptFailed(AttemptEvent, frozen=True, tag="attempt.failed"):
    cause: str
    """One of: refused, disapproved, broken, change failed, scanner, vetoed, alarm, over budget, engine, interrupted."""
    reason: str
    replayed: str = ""
    """Id of the proven fix that failed here."""
    describe = stay_silent


class AttemptReflected(AttemptEvent, frozen=True, tag="attempt.reflected"):
    decision: Decision
    reason: str
    banned: tuple[str, ...]
    """Fingerprints of approaches that are refused from now on."""

    def describe(self) -> Sentence | None:
        if self.decision == "CONTINUE":
            return None
        return Sentence(f"Architect decides to {self.decision}: {self.reason}")


class LessonLearnt(AttemptEvent, frozen=True, tag="lesson"):
    lesson: Lesson

    def describe(self) -> Sentence:
        return Sentence(f"Lesson: {self.lesson.advice}")


class TurnStarted(RunEvent, frozen=True, tag="turn.started"):
    turn: str
    rule: str
    attempt: int
    role: Role
    purpose: Purpose
    engine: str
    model: str
    replica: int
    max_tokens: int
    prompt: tuple[str, str]
    """The whole system and user messages."""
    prompts: str = ""
    """Version of the prompts; empty in old logs."""
    waited_ms: int = 0
    """Time in the engine's queue; it counts against no budget."""
    describe = stay_silent


class TurnDelta(RunEvent, frozen=True, tag="turn.delta"):
    turn: str
    role: Role
    channel: Channel
    text: str
    tokens: int
    describe = stay_silent


class TurnFinished(RunEvent, frozen=True, tag="turn.finished"):
    turn: str
    role: Role
    purpose: Purpose
    outcome: TurnOutcome
    detail: str
    thought: str
    answer: str
    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ttft: float | None = None
    decode_rate: float | None = None
    seconds: float = 0.0
    leaked: bool = False
    looped: bool = False
    """The model repeated itself and the turn was cut."""
    lost: bool = False
    """The engine was out of order: the turn counts against no budget and no attempt."""

    def describe(self) -> Sentence | None:
        if self.outcome == "answered":
            return None
        turn = f"{self.role.capitalize()}'s turn came to nothing ({self.outcome}): {self.detail}"
        return Sentence(turn, "✗", "refused")


class TurnInterrupted(RunEvent, frozen=True, tag="turn.interrupted"):
    turn: str
    reason: str

    def describe(self) -> Sentence:
        return Sentence(f"Turn interrupted: {self.reason}")


class PlanMade(AttemptEvent, frozen=True, tag="plan"):
    approach: str
    paths: tuple[str, ...]
    steps: tuple[str, ...]
    risk: str
    rollback: str
    validation: str
    candidate: int = 0
    """Number of the proposal in `candidates` that the plan takes, from 1; 0 if it takes none."""
    without_role: bool = False
    """No role planned it: it takes the next proposal in the stated order, or the vendor's script."""
    describe = stay_silent


class QuestionsAnswered(AttemptEvent, frozen=True, tag="questions"):
    """What the Architect asked about the host before it planned, and what was read there."""

    answers: tuple[AnsweredQuestion, ...]
    why: str = ""

    def describe(self) -> Sentence:
        return Sentence(
            f"The Architect asks about {', '.join(one.question.describe_what_is_asked() for one in self.answers)}"
        )


class ActionProposed(AttemptEvent, frozen=True, tag="action.proposed"):
    actions: tuple[AnyAction, ...]
    note: str
    fingerprint: str
    diff: str
    by: str = ""
    """The person who edited it; empty for the Worker's."""
    replayed: str = ""
    """Id of the proven fix that it repeats; empty for actions of a role or person."""
    source: str = ""
    """Where the actions come from if no role wrote them: a part of the content, or a person's recipe."""
    around: str = ""
    """The diff with more lines of the files around the change, for large pages; empty in old logs."""

    def describe(self) -> Sentence | None:
        return Sentence(f"{describe_fix_source(self.source)}, {self.note}") if self.source else None


class ActionRefused(AttemptEvent, frozen=True, tag="action.refused"):
    """The policy refused an action; then none of the attempt's actions run."""

    action: AnyAction | None
    clause: str
    reason: str

    def describe(self) -> Sentence:
        return Sentence(f"Policy refused the change ({self.clause}): {self.reason}", "✗", "refused")


class ActionsAllowed(AttemptEvent, frozen=True, tag="action.allowed"):
    needs: PeopleNeeded | None = None
    """How many people must approve it; None in old logs."""
    describe = stay_silent


class Rehearsed(AttemptEvent, frozen=True, tag="action.rehearsed"):
    """The verdict on a copy with the change applied, for dry runs and approvals."""

    word: Word
    evidence: str
    scanner: str = ""
    describe = stay_silent


class ActionApplying(AttemptEvent, frozen=True, tag="action.applying"):
    journal: str
    describe = stay_silent


class ActionApplied(AttemptEvent, frozen=True, tag="action.applied"):
    journal: str
    diff: str
    changes: tuple[FileChange, ...]
    seconds: float

    def describe(self) -> Sentence:
        paths = [change.path for change in self.changes if not change.is_run_of_vendor_script]
        who = "The vendor's script" if len(paths) < len(self.changes) else "Worker"
        return Sentence(f"{who} changed {', '.join(paths) or 'no file'}")


class ActionFailedToApply(AttemptEvent, frozen=True, tag="action.failed"):
    journal: str
    reason: str

    def describe(self) -> Sentence:
        return Sentence(f"Nothing was changed: {self.reason}", "✗", "refused")


class FactsGathered(AttemptEvent, frozen=True, tag="facts"):
    """Facts about the failure, gathered before the rollback."""

    facts: tuple[str, ...]
    describe = stay_silent


class ActionRollingBack(AttemptEvent, frozen=True, tag="action.rolling_back"):
    journal: str
    cause: str
    describe = stay_silent


class ActionRolledBack(AttemptEvent, frozen=True, tag="action.rolled_back"):
    journal: str
    paths: tuple[str, ...]
    differences: tuple[str, ...]
    probes: tuple[Probe, ...]
    """The host's health after the rollback."""
    seconds: float

    def describe(self) -> Sentence:
        how = f"NOT restored: {self.differences[0]}" if self.differences else "verified"
        return Sentence(f"Rolled back in {self.seconds * 1000:.0f} ms, {how}", "↺", "undone")


class VerdictExplained(AttemptEvent, frozen=True, tag="verdict.explained"):
    explanation: str
    veto: bool
    reason: str

    def describe(self) -> Sentence | None:
        return Sentence(f"Auditor vetoed the pass: {self.reason}", "✗", "refused") if self.veto else None


class SentryProbed(AttemptEvent, frozen=True, tag="sentry.probed"):
    """Health and drift as probed by code, before the Sentry judges."""

    probes: tuple[Probe, ...]
    drift: tuple[str, ...]
    log: tuple[str, ...]
    ailing: tuple[str, ...] = ()
    """Probes that failed before the run; they raise no alarm."""
    describe = stay_silent


class SentryClear(AttemptEvent, frozen=True, tag="sentry.clear"):
    assessment: str
    describe = stay_silent


class SentryAlarm(AttemptEvent, frozen=True, tag="sentry.alarm"):
    reason: str
    by: str
    """`probe` if a probe found it, `sentry` if the model did."""

    def describe(self) -> Sentence:
        return Sentence(f"Sentry alarm: {self.reason}", "!", "alarm")


class ApprovalRequested(RunEvent, frozen=True, tag="approval.requested"):
    approval: str
    rule: str
    attempt: int
    binds: str
    """SHA-256 over host, plan and diff; the approval is void for anything else."""
    expires: float
    diff: str = ""
    """The diff that the person is shown; of a reboot, what is rebooted and why."""
    needs: PeopleNeeded | None = None
    about: ApprovalSubject = "change"

    def describe(self) -> Sentence:
        needs = self.needs
        people = "two people" if needs and needs.people != 1 else "a person"
        waits = f"{self.rule} waits for {people} to approve its change"
        if self.about == "reboot":
            waits = f"The reboot waits for {people} to approve it"
        if needs and needs.people != 1:
            return Sentence(f"{waits}: {needs.why}, by {needs.by}", "?")
        by = f" ({needs.why}, by {needs.by})" if needs and needs.sha256 else ""
        return Sentence(f"{waits}{by}", "?")


class ApprovalGiven(RunEvent, frozen=True, tag="approval.given"):
    approval: str
    by: str
    reason: str
    via: str = ""
    """How the person signed in: session, token, demo, terminal; empty in old logs."""
    given: int = 1
    """Approvals so far, with this one."""
    of: int = 1
    token: str = ""
    """Id of the API token; empty if none was used, and in old logs."""
    made_by: tuple[str, ...] = ()
    """The people who made the token for somebody else, the first one first; empty if nobody did."""
    about: ApprovalSubject = "change"

    @property
    def approver(self) -> Approver:
        return Approver(name=self.by, via=self.via, made_by=self.made_by)

    @property
    def approver_text(self) -> str:
        """The approver, and which token made by whom was used."""
        return f"{self.by}{format_token_and_makers_suffix(self.token, self.made_by)}"

    def describe(self) -> Sentence:
        waits = describe_missing_approvals(self.of, self.given)
        how_far = f", {waits or f'{self.given} of {self.of}'}" if self.of > 1 else ""
        what, who = self.about.capitalize(), self.approver_text
        return Sentence(f"{what} approved by {who}{how_far}. {self.reason}", "?" if how_far and waits else "·")


class ApprovalRefused(RunEvent, frozen=True, tag="approval.refused"):
    approval: str
    by: str
    reason: str
    about: ApprovalSubject = "change"

    def describe(self) -> Sentence:
        return Sentence(f"{self.about.capitalize()} refused by {self.by}. {self.reason}")


class ApprovalEdited(RunEvent, frozen=True, tag="approval.edited"):
    """A person replaced the actions; they are judged, rehearsed and approved like the Worker's."""

    approval: str
    by: str
    reason: str
    actions: tuple[AnyAction, ...]

    def describe(self) -> Sentence:
        return Sentence(
            f"Change edited by {self.by}: the policy judges it again, and it needs a new approval. {self.reason}"
        )


class ApprovalExpired(RunEvent, frozen=True, tag="approval.expired"):
    approval: str
    reason: str
    drifted: bool = False
    """The host changed, so the Worker is asked again. Otherwise nobody answered in time."""

    def describe(self) -> Sentence:
        return Sentence(f"Approval void: {self.reason}")


class EngineState(Sample, frozen=True, tag="engine.state"):
    engine: str
    state: str
    detail: str = ""
    """The loading phase, or the problem and its remedy."""
    share: float | None = None
    """Share of the cold start that is done, estimated from earlier ones on this machine."""
    eta_s: float | None = None
    replicas: tuple[str, ...] = ()
    """State of each replica, in the order of the addresses."""

    @property
    def is_ready_or_loading(self) -> bool:
        return self.state in ("ready", "loading")

    def describe(self) -> Sentence:
        said = f"Engine {self.engine} is {self.state}" + (f": {self.detail}" if self.detail else "")
        return Sentence(said) if self.is_ready_or_loading else Sentence(said, "✗", "alarm")


class EngineSampled(Sample, frozen=True, tag="engine.sample"):
    engine: str
    running: int
    waiting: int
    kv_used: float | None
    tok_s: float | None
    prompt_tok_s: float | None
    simulated: bool
    foreign: int | None = None
    """Running requests of other clients."""
    kv_tokens: int | None = None
    """Total tokens that the KV cache holds."""
    acceptance_rate: float | None = None
    """Accepted share of drafted tokens, 0 to 1; None if none were drafted."""
    acceptance_length: float | None = None
    cached_share: float | None = None
    """Share of prompt tokens from the prefix cache, 0 to 1."""
    prefix_hit_rate: float | None = None
    """The same over all prompts since the engine started."""
    preemptions: int | None = None
    resident_gib: float | None = None
    """Main memory of its process, if it computes on the CPU."""
    ttft_s: float | None = None
    """Mean time to first token of requests since the last sample."""
    roles: dict[str, float] = {}
    """Tokens per second by role; the rest of tok_s is other clients'."""
    describe = stay_silent


class GpuSampled(Sample, frozen=True, tag="gpu.sample"):
    gpu: int
    name: str
    used_gib: float | None
    total_gib: float | None
    utilization: float | None
    power_w: float | None
    temperature_c: float | None
    simulated: bool
    host: str = ""
    """Empty means this machine."""
    reserved_gib: float | None = None
    unified: bool = False
    """Memory shared with the host; used and total are the host's."""
    mig: bool = False
    power_limit_w: float | None = None
    energy_j: float | None = None
    """Counter since the driver was loaded."""
    sm_mhz: float | None = None
    memory_mhz: float | None = None
    throttled: tuple[str, ...] = ()
    """Reasons why its clocks are throttled."""
    ecc_uncorrected: int | None = None
    pcie_rx_mb_s: float | None = None
    pcie_tx_mb_s: float | None = None
    processes: tuple[GpuProcess, ...] = ()
    ages: dict[str, float] = {}
    """Age in seconds of sensors not read just now; costly ones are read less often."""
    parts: dict[str, float] = {}
    """Memory by kind in GiB: weights, kv, graphs and so on."""
    describe = stay_silent


class EnergySpent(Sample, frozen=True, tag="energy.sample"):
    """GPU energy of a run so far. Power samples are kept for hours, this for good."""

    of: str
    """The run's id."""
    until: float
    final: bool
    simulated: bool
    spent: tuple[Spent, ...]
    describe = stay_silent


class AuditedRequest(Event, frozen=True, tag="audit.done"):
    """A request that changes something or was refused, and its outcome."""

    who: str
    right: str
    via: str
    """demo, session, token, link, terminal; empty without sign-in."""
    source: str
    """Source address."""
    did: str
    """Method and path, or the command."""
    status: int
    detail: str = ""
    times: int = 1
    """Number of refusals of one source within a minute, of which this is the last."""
    token: str = ""
    """Id of the API token or link that was used; empty if none was, and in old lines."""
    made_by: tuple[str, ...] = ()
    """The people who made it for somebody else, the first one first."""
    describe = stay_silent


class RolloutOrdered(RolloutEvent, frozen=True, tag="rollout.asked"):
    """A rollout was ordered: one run per host, each with its own log. This is the rollout's log."""

    hosts: tuple[str, ...]
    """In the order in which they run."""
    words: str
    """The selection as it was written."""
    skill: str
    rules: tuple[str, ...]
    mode: str
    """Empty means each host's default."""
    keep: bool
    budget: Budget
    lineup: str
    simulated: bool
    pace: float | None
    at_once: int
    waves: tuple[int, ...]
    """Number of hosts per wave; a wave starts after the one before has ended."""
    harmed: int
    """Number of harmed hosts that pauses it; 0 disables this."""
    escalated: float
    """Percentage of escalated findings above which it pauses; 100 disables this."""
    note: str = ""
    by: str = ""
    whose: str = ""
    token: str = ""
    replay_fixes: bool = True
    """Try fixes proven on hosts with the same files first."""
    engine: EngineChoice = "lineup"
    reboot: bool = False
    """Reboot each host at the end of its run."""
    after_reboot: bool = False
    """Check after a reboot which results of each host's last run still hold."""

    def describe(self) -> Sentence:
        waves = " then ".join(map(str, self.waves))
        asked = f"Rollout over {count_things(len(self.hosts), 'host')} ordered by {self.by}: {waves}"
        played = ", engines simulated" if self.simulated else ""
        return Sentence(f"{asked}, at most {self.at_once} at once, {self.mode or 'each in its default mode'}{played}")


class RolloutHostBegun(RolloutEvent, frozen=True, tag="rollout.host_begun"):
    """Written in one transaction with the first event of its run, so that no host starts twice."""

    host: str
    of: str
    """The run's id."""
    wave: int

    def describe(self) -> Sentence:
        return Sentence(f"{self.host}: run {self.of} begins, wave {self.wave}", "▸")


class RolloutHostEnded(RolloutEvent, frozen=True, tag="rollout.host_ended"):
    host: str
    of: str
    state: str
    findings: int
    passed: int
    escalated: int
    rolled_back: int
    harm: str = ""
    """How the run left the host worse, or why it failed; empty if neither."""

    def describe(self) -> Sentence:
        counts = f"{self.passed} of {count_things(self.findings, 'finding')} passed"
        counts += f", {self.escalated} escalated" if self.escalated else ""
        counts += f", {count_things(self.rolled_back, 'change')} rolled back" if self.rolled_back else ""
        ended = f"{self.host} ({self.of}) {self.state}"
        if self.harm:
            return Sentence(f"{ended}: {self.harm}; {counts}", "!", "alarm")
        glyph = {"finished": "✓", "stopped": "■", "failed": "✗"}.get(self.state, "·")
        return Sentence(f"{ended}: {counts}", glyph, "passed" if self.state == "finished" else "plain")


class RolloutHostLeft(RolloutEvent, frozen=True, tag="rollout.host_left"):
    """The host was left out."""

    host: str
    reason: str

    def describe(self) -> Sentence:
        return Sentence(f"{self.host} is left out: {self.reason}", "–", "skipped")


class RolloutWaveEnded(RolloutEvent, frozen=True, tag="rollout.wave_ended"):
    """Every host of the wave has ended; the counts are of this wave."""

    wave: int
    hosts: int
    left: int
    findings: int
    passed: int
    escalated: int
    harmed: int

    def describe(self) -> Sentence:
        hosts = count_things(self.hosts, "host")
        passed = f"{self.passed} of {count_things(self.findings, 'finding')} passed"
        counts = {"escalated": self.escalated, "harmed": self.harmed, "not begun": self.left}
        rest = [f"{count} {what}" for what, count in counts.items() if count]
        return Sentence(", ".join([f"Wave {self.wave} has ended: {hosts}", passed, *rest]), "▪")


class RolloutPaused(RolloutEvent, frozen=True, tag="rollout.paused"):
    """No further host starts, and active runs pause after their current change."""

    by: str
    """A person, or `rule`, after which a person resumes or stops it."""
    reason: str = ""

    def describe(self) -> Sentence:
        if self.by == "rule":
            limits = f"Paused by its limits: {self.reason}. A person decides whether to resume it"
            return Sentence(limits, "!", "alarm")
        return Sentence(f"Paused by {self.by}{format_reason(self.reason)}", "‖")


class RolloutResumed(RolloutEvent, frozen=True, tag="rollout.resumed"):
    by: str
    reason: str = ""

    def describe(self) -> Sentence:
        return Sentence(f"Resumed by {self.by}{format_reason(self.reason)}", "▸")


class RolloutStopRequested(RolloutEvent, frozen=True, tag="rollout.stopping"):
    by: str
    reason: str = ""

    def describe(self) -> Sentence:
        return Sentence(f"Stopped by {self.by}{format_reason(self.reason)}", "■")


class RolloutEnded(RolloutEvent, frozen=True, tag="rollout.ended"):
    state: str
    """`finished` or `stopped`."""

    def describe(self) -> Sentence:
        return Sentence(f"Rollout {self.state}", "■")


ItemEnd = ItemPassed | ItemEscalated | ItemSkipped | ItemDeferred
RunEnd = RunFinished | RunFailed | RunStopped


def format_reason(reason: str) -> str:
    return f": {reason}" if reason else ""


def get_event_kind(event: Event | type[Event]) -> str:
    tag: Any = event.__struct_config__.tag
    return str(tag)


def list_leaf_event_types(base: type[Any]) -> tuple[type[Event], ...]:
    """Return the kinds below a class, in the order of their declaration."""
    return tuple(kind for one in base.__subclasses__() for kind in list_leaf_event_types(one) or (one,))


RUN_KINDS, ROLLOUT_KINDS, SAMPLE_KINDS, KINDS = (
    tuple(map(get_event_kind, list_leaf_event_types(base))) for base in (RunEvent, RolloutEvent, Sample, Event)
)
TOLD_KINDS = tuple(get_event_kind(one) for one in list_leaf_event_types(RunEvent) if one.describe is not stay_silent)
"""Kinds in the log of a run that can have a sentence."""
