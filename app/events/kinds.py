"""Every kind of event. Each is one line of the log, from which everything shown is derived."""

from typing import Any, get_args

from msgspec import Struct

from app.events.approvals import ApprovalPolicy, PeopleNeeded
from app.events.vocabulary import (
    AnyAction,
    Budget,
    Category,
    Channel,
    Decision,
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
    Word,
)
from app.events.waiver import Waiver


class Event(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What happened. Time, run and seq are in its Recorded."""


class RunQueued(Event, frozen=True, tag="run.queued"):
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


class RunStarted(Event, frozen=True, tag="run.started"):
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


class InForceChecked(Event, frozen=True, tag="force"):
    """Running settings compared to the files, at the start of the run and after each change."""

    rule: str = ""
    """Empty at the start of the run, when everything is checked."""
    attempt: int = 0
    boot: str = ""
    asked: tuple[str, ...] = ()
    """Programs that reported their settings."""
    behind: tuple[PendingSetting, ...] = ()


class RebootChecked(Event, frozen=True, tag="reboot.checked"):
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


class RunScoped(Event, frozen=True, tag="run.scoped"):
    """Result of the opening scan: findings in the order in which they are handled."""

    order: tuple[str, ...]
    compliant: tuple[str, ...]
    undecided: tuple[str, ...]
    """Verdicts other than pass or fail: error, unknown or not applicable."""


class DriftFound(Event, frozen=True, tag="drift"):
    """Rules that passed at the end of the host's last run and fail now, without a change by Temper."""

    rules: tuple[str, ...]
    since: str
    """The last run."""


class RunPaused(Event, frozen=True, tag="run.paused"):
    by: str


class RunResumed(Event, frozen=True, tag="run.resumed"):
    """`by` is a person, or the worker that resumed the run after a crash."""

    by: str
    after_crash: bool = False


class RunStopRequested(Event, frozen=True, tag="run.stopping"):
    by: str
    reason: str


class RunStopped(Event, frozen=True, tag="run.stopped"):
    by: str
    reason: str
    tree: str


class RunFinished(Event, frozen=True, tag="run.finished"):
    passed: int
    escalated: int
    skipped: int
    deferred: int
    regressions: tuple[str, ...]
    tree: str
    """Digest of the host's files, to compare the host with later."""
    waived: int = 0


class RunFailed(Event, frozen=True, tag="run.failed"):
    reason: str


class ScanStarted(Event, frozen=True, tag="scan.started"):
    phase: Phase
    rules: int


class VerdictGiven(Event, frozen=True, tag="verdict"):
    rule: str
    phase: Phase
    word: Word
    evidence: str
    scanner: str
    attempt: int = 0
    path: str | None = None
    line: int | None = None


class ScanFinished(Event, frozen=True, tag="scan.finished"):
    phase: Phase
    seconds: float


class ItemStarted(Event, frozen=True, tag="item.started"):
    rule: str
    title: str
    category: Category


class ItemPassed(Event, frozen=True, tag="item.passed"):
    rule: str
    attempts: int
    lessons: tuple[str, ...] = ()
    """Ids of the lessons given to the attempt that passed; each counts as a hit."""
    replayed: str = ""
    """Id of the proven fix that passed here, too."""


class FixProven(Event, frozen=True, tag="fix.proven"):
    """The change that passed, stored for hosts that are equal for this rule."""

    rule: str
    attempt: int
    fix: ProvenFix


class ItemEscalated(Event, frozen=True, tag="item.escalated"):
    rule: str
    reason: str


class ItemSkipped(Event, frozen=True, tag="item.skipped"):
    rule: str
    reason: str
    waiver: str = ""
    """Id of the waiver because of which it was skipped."""


class ItemDeferred(Event, frozen=True, tag="item.deferred"):
    rule: str
    reason: str


class AttemptStarted(Event, frozen=True, tag="attempt.started"):
    rule: str
    attempt: int
    lessons: tuple[Lesson, ...]
    """Lessons from earlier failures, of this run and before."""
    seen: str = ""
    """SHA-256 over the files that decide the rule; empty in old logs."""
    offered: ProvenFix | None = None
    """A fix proven on an equal host, tried unchanged before any role plans."""
    vendor: bool = False
    """The last resort: the vendor's own script instead of a role's actions."""


class AttemptFailed(Event, frozen=True, tag="attempt.failed"):
    rule: str
    attempt: int
    cause: str
    """One of: refused, disapproved, broken, change failed, scanner, vetoed, alarm, over budget, engine, interrupted."""
    reason: str
    replayed: str = ""
    """Id of the proven fix that failed here."""


class AttemptReflected(Event, frozen=True, tag="attempt.reflected"):
    rule: str
    attempt: int
    decision: Decision
    reason: str
    banned: tuple[str, ...]
    """Fingerprints of approaches that are refused from now on."""


class LessonLearnt(Event, frozen=True, tag="lesson"):
    rule: str
    attempt: int
    lesson: Lesson


class TurnStarted(Event, frozen=True, tag="turn.started"):
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


class TurnDelta(Event, frozen=True, tag="turn.delta"):
    turn: str
    role: Role
    channel: Channel
    text: str
    tokens: int


class TurnFinished(Event, frozen=True, tag="turn.finished"):
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


class TurnInterrupted(Event, frozen=True, tag="turn.interrupted"):
    turn: str
    reason: str


class PlanMade(Event, frozen=True, tag="plan"):
    rule: str
    attempt: int
    approach: str
    paths: tuple[str, ...]
    steps: tuple[str, ...]
    risk: str
    rollback: str
    validation: str


class ActionProposed(Event, frozen=True, tag="action.proposed"):
    rule: str
    attempt: int
    actions: tuple[AnyAction, ...]
    note: str
    fingerprint: str
    diff: str
    by: str = ""
    """The person who edited it; empty for the Worker's."""
    replayed: str = ""
    """Id of the proven fix that it repeats; empty for actions of a role or person."""


class ActionRefused(Event, frozen=True, tag="action.refused"):
    """The policy refused an action; then none of the attempt's actions run."""

    rule: str
    attempt: int
    action: AnyAction | None
    clause: str
    reason: str


class ActionsAllowed(Event, frozen=True, tag="action.allowed"):
    rule: str
    attempt: int
    needs: PeopleNeeded | None = None
    """How many people must approve it; None in old logs."""


class Rehearsed(Event, frozen=True, tag="action.rehearsed"):
    """The verdict on a copy with the change applied, for dry runs and approvals."""

    rule: str
    attempt: int
    word: Word
    evidence: str
    scanner: str = ""


class ActionApplying(Event, frozen=True, tag="action.applying"):
    rule: str
    attempt: int
    journal: str


class ActionApplied(Event, frozen=True, tag="action.applied"):
    rule: str
    attempt: int
    journal: str
    diff: str
    changes: tuple[FileChange, ...]
    seconds: float


class ActionFailedToApply(Event, frozen=True, tag="action.failed"):
    rule: str
    attempt: int
    journal: str
    reason: str


class FactsGathered(Event, frozen=True, tag="facts"):
    """Facts about the failure, gathered before the rollback."""

    rule: str
    attempt: int
    facts: tuple[str, ...]


class ActionRollingBack(Event, frozen=True, tag="action.rolling_back"):
    rule: str
    attempt: int
    journal: str
    cause: str


class ActionRolledBack(Event, frozen=True, tag="action.rolled_back"):
    rule: str
    attempt: int
    journal: str
    paths: tuple[str, ...]
    differences: tuple[str, ...]
    probes: tuple[Probe, ...]
    """The host's health after the rollback."""
    seconds: float


class VerdictExplained(Event, frozen=True, tag="verdict.explained"):
    rule: str
    attempt: int
    explanation: str
    veto: bool
    reason: str


class SentryProbed(Event, frozen=True, tag="sentry.probed"):
    """Health and drift as probed by code, before the Sentry judges."""

    rule: str
    attempt: int
    probes: tuple[Probe, ...]
    drift: tuple[str, ...]
    log: tuple[str, ...]
    ailing: tuple[str, ...] = ()
    """Probes that failed before the run; they raise no alarm."""


class SentryClear(Event, frozen=True, tag="sentry.clear"):
    rule: str
    attempt: int
    assessment: str


class SentryAlarm(Event, frozen=True, tag="sentry.alarm"):
    rule: str
    attempt: int
    reason: str
    by: str
    """`probe` if a probe found it, `sentry` if the model did."""


class ApprovalRequested(Event, frozen=True, tag="approval.requested"):
    approval: str
    rule: str
    attempt: int
    binds: str
    """SHA-256 over host, plan and diff; the approval is void for anything else."""
    expires: float
    diff: str = ""
    """The diff that the person is shown."""
    needs: PeopleNeeded | None = None


class ApprovalGiven(Event, frozen=True, tag="approval.given"):
    approval: str
    by: str
    reason: str
    via: str = ""
    """How the person signed in: session, token, demo, terminal; empty in old logs."""
    given: int = 1
    """Approvals so far, with this one."""
    of: int = 1


class ApprovalRefused(Event, frozen=True, tag="approval.refused"):
    approval: str
    by: str
    reason: str


class ApprovalEdited(Event, frozen=True, tag="approval.edited"):
    """A person replaced the actions; they are judged, rehearsed and approved like the Worker's."""

    approval: str
    by: str
    reason: str
    actions: tuple[AnyAction, ...]


class ApprovalExpired(Event, frozen=True, tag="approval.expired"):
    approval: str
    reason: str
    drifted: bool = False
    """The host changed, so the Worker is asked again. Otherwise nobody answered in time."""


class EngineState(Event, frozen=True, tag="engine.state"):
    engine: str
    state: str
    detail: str = ""
    """The loading phase, or the problem and its remedy."""
    share: float | None = None
    """Share of the cold start that is done, estimated from earlier ones on this machine."""
    eta_s: float | None = None
    replicas: tuple[str, ...] = ()
    """State of each replica, in the order of the addresses."""


class EngineSampled(Event, frozen=True, tag="engine.sample"):
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


class GpuSampled(Event, frozen=True, tag="gpu.sample"):
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


class EnergySpent(Event, frozen=True, tag="energy.sample"):
    """GPU energy of a run so far. Power samples are kept for hours, this for good."""

    of: str
    """The run's id."""
    until: float
    final: bool
    simulated: bool
    spent: tuple[Spent, ...]


class PersonDid(Event, frozen=True, tag="audit.done"):
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


class RolloutAsked(Event, frozen=True, tag="rollout.asked"):
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


class RolloutHostBegun(Event, frozen=True, tag="rollout.host_begun"):
    """Written in one transaction with the first event of its run, so that no host starts twice."""

    host: str
    of: str
    """The run's id."""
    wave: int


class RolloutHostEnded(Event, frozen=True, tag="rollout.host_ended"):
    host: str
    of: str
    state: str
    findings: int
    passed: int
    escalated: int
    rolled_back: int
    harm: str = ""
    """How the run left the host worse, or why it failed; empty if neither."""


class RolloutHostLeft(Event, frozen=True, tag="rollout.host_left"):
    """The host was left out."""

    host: str
    reason: str


class RolloutWaveEnded(Event, frozen=True, tag="rollout.wave_ended"):
    """Every host of the wave has ended; the counts are of this wave."""

    wave: int
    hosts: int
    left: int
    findings: int
    passed: int
    escalated: int
    harmed: int


class RolloutPaused(Event, frozen=True, tag="rollout.paused"):
    """No further host starts, and active runs pause after their current change."""

    by: str
    """A person, or `rule`, after which a person resumes or stops it."""
    reason: str = ""


class RolloutResumed(Event, frozen=True, tag="rollout.resumed"):
    by: str
    reason: str = ""


class RolloutStopRequested(Event, frozen=True, tag="rollout.stopping"):
    by: str
    reason: str = ""


class RolloutEnded(Event, frozen=True, tag="rollout.ended"):
    state: str
    """`finished` or `stopped`."""


RunEvent = (
    RunQueued | RunStarted | InForceChecked | RunScoped | RebootChecked | DriftFound | RunPaused | RunResumed
    | RunStopRequested | RunStopped | RunFinished | RunFailed
    | ScanStarted | VerdictGiven | ScanFinished
    | ItemStarted | ItemPassed | FixProven | ItemEscalated | ItemSkipped | ItemDeferred
    | AttemptStarted | AttemptFailed | AttemptReflected | LessonLearnt
    | TurnStarted | TurnDelta | TurnFinished | TurnInterrupted
    | PlanMade | ActionProposed | ActionRefused | ActionsAllowed | Rehearsed | ActionApplying | ActionApplied
    | ActionFailedToApply | FactsGathered | ActionRollingBack | ActionRolledBack
    | VerdictExplained | SentryProbed | SentryClear | SentryAlarm
    | ApprovalRequested | ApprovalGiven | ApprovalRefused | ApprovalEdited | ApprovalExpired
    | PersonDid
)  # fmt: skip
RolloutEvent = (
    RolloutAsked | RolloutHostBegun | RolloutHostEnded | RolloutHostLeft | RolloutWaveEnded
    | RolloutPaused | RolloutResumed | RolloutStopRequested | RolloutEnded
)  # fmt: skip
Sample = EngineState | EngineSampled | GpuSampled | EnergySpent
"""Events of the machine, stored outside the runs' chains."""


def get_event_kind(event: Event) -> str:
    tag: Any = event.__struct_config__.tag
    return str(tag)


KINDS: tuple[str, ...] = tuple(t.__struct_config__.tag for t in get_args(RunEvent | RolloutEvent | Sample))
