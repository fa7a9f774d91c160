"""Every kind of event. Each is one line of the log; everything shown or judged is made from them."""

from typing import Any, get_args

from msgspec import Struct

from app.events.approvals import ApprovalPolicy, PeopleNeeded
from app.events.waiver import Waiver
from app.events.words import (
    AnyAction,
    Behind,
    Budget,
    Category,
    Channel,
    Decision,
    FileChange,
    GpuProcess,
    Lesson,
    Mode,
    ParameterUsed,
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


class Event(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What happened. When, in which run and as which seq stands in its Recorded."""


class RunQueued(Event, frozen=True, tag="run.queued"):
    host: str
    skill: str
    rules: tuple[str, ...]
    mode: Mode
    budget: Budget
    lineup: str
    simulated: bool
    pace: float | None = None
    """Of simulated engines, times the measured rate; 0 is as fast as it can, None where engines are real."""
    note: str = ""
    keep: bool = False
    """Start from the host as it stands; otherwise the fixture is laid out anew."""
    by: str = ""
    consent: str = ""
    """The words by which a person accepted that the host could not be rolled back."""
    replay_fixes: bool = False
    """What held on another host with the same files is tried first; False in logs that do not say."""
    after_reboot: bool = False
    """It looks whether what the host's last run made still holds now that the host began anew."""
    whose: str = ""
    """The person whose schedule or rollout asked for it; empty where `by` is the person."""
    token: str = ""
    """Id of the API token that it was ordered with; empty where none was."""


class RunStarted(Event, frozen=True, tag="run.started"):
    worker: str
    confinement: str
    scanner: str
    probes: tuple[Probe, ...]
    """The host's health before anything was changed: what a rollback must bring back."""
    temper: str = ""
    """Its version."""
    seats: tuple[SeatTaken, ...] = ()
    simulated: bool | None = None
    """The host is played by a tree of files; None in logs that do not say."""
    rulebook: str = ""
    """The sha256 of the skill's rules (skills/rulebook.py); empty in logs that do not say."""
    published: Published | None = None
    """What the papers name the rules by; None where no benchmark was at hand, and in logs that do not say."""
    waivers: tuple[Waiver, ...] = ()
    """Those in force on this host as it began, by the skill's own rules."""
    tailored: Tailored | None = None
    """The tailoring file whose profile the skill is; None where it is none, and in logs that do not say."""
    parameters: tuple[ParameterUsed, ...] = ()
    """The site's values that the rules of this run go by."""
    approvals: ApprovalPolicy | None = None
    """Which change takes how many people, for the whole of the run; None where no file says."""


class ForceAsked(Event, frozen=True, tag="force"):
    """What runs on the host was set beside its files: as the run began, and after each change."""

    rule: str = ""
    """Empty as the run began: then all that can be asked is."""
    attempt: int = 0
    boot: str = ""
    """The kernel's boot_id."""
    asked: tuple[str, ...] = ()
    """Programs that answered."""
    behind: tuple[Behind, ...] = ()


class RebootChecked(Event, frozen=True, tag="reboot.checked"):
    """A host after a reboot, beside what the run before it left."""

    of: str
    """That run."""
    boot_before: str
    boot_now: str
    rebooted: bool
    slipped: tuple[str, ...] = ()
    """Rules that held at its end and do not now."""
    arrived: tuple[str, ...] = ()
    """Rules that failed or were not in force at its end, and hold now."""
    waiting: tuple[str, ...] = ()
    """Rules that it set and that are not in force yet."""
    behind: tuple[Behind, ...] = ()
    worse: str = ""
    """In the probes' own words; empty where nothing is."""


class RunScoped(Event, frozen=True, tag="run.scoped"):
    """The opening scan is read: findings in the order in which they are taken."""

    order: tuple[str, ...]
    compliant: tuple[str, ...]
    undecided: tuple[str, ...]
    """Neither pass nor fail: error, unknown or not applicable."""


class DriftFound(Event, frozen=True, tag="drift"):
    """What held at the end of the host's last run and fails now, with nobody having changed it by Temper."""

    rules: tuple[str, ...]
    since: str
    """That run."""


class RunPaused(Event, frozen=True, tag="run.paused"):
    by: str


class RunResumed(Event, frozen=True, tag="run.resumed"):
    """`by` is a person, or the worker that took an interrupted run up again."""

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
    """Digest of the host's files, so that the end can be checked against the host."""
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
    """Ids of the lessons that the passing attempt was told: each is a hit."""
    replayed: str = ""
    """The fix that held here, too."""


class FixProven(Event, frozen=True, tag="fix.proven"):
    """The change that passed, kept for hosts that are equal for this rule."""

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
    """The waiver for whose sake it was left alone."""


class ItemDeferred(Event, frozen=True, tag="item.deferred"):
    rule: str
    reason: str


class AttemptStarted(Event, frozen=True, tag="attempt.started"):
    rule: str
    attempt: int
    lessons: tuple[Lesson, ...]
    """What the roles are told of earlier failures, in this run and before it."""
    seen: str = ""
    """sha256 over the files that decide the rule, as they stand; empty in logs that do not say."""
    offered: ProvenFix | None = None
    """What held on another host that is equal: tried as it is, before any role is asked for a plan."""
    vendor: bool = False
    """The last resort: the vendor's own script, of which no role has written a word."""


class AttemptFailed(Event, frozen=True, tag="attempt.failed"):
    rule: str
    attempt: int
    cause: str
    """One of: refused, disapproved, broken, change failed, scanner, vetoed, alarm, over budget, engine, interrupted."""
    reason: str
    replayed: str = ""
    """The fix that it tried: it held elsewhere, and not here."""


class AttemptReflected(Event, frozen=True, tag="attempt.reflected"):
    rule: str
    attempt: int
    decision: Decision
    reason: str
    banned: tuple[str, ...]
    """Fingerprints of approaches that are refused from here on."""


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
    """System and user message, whole."""
    prompts: str = ""
    """Their version; empty in logs that do not say."""
    waited_ms: int = 0
    """In the queue for the engine, behind other turns: no budget's time."""


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
    """It repeated itself, and was cut."""


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
    """The person who edited it; empty when it is the Worker's."""
    replayed: str = ""
    """The fix that it repeats, action by action; empty when it is a role's or a person's."""


class ActionRefused(Event, frozen=True, tag="action.refused"):
    """Nothing of the attempt ran: one refused action refuses them all."""

    rule: str
    attempt: int
    action: AnyAction | None
    clause: str
    reason: str


class ActionsAllowed(Event, frozen=True, tag="action.allowed"):
    rule: str
    attempt: int
    needs: PeopleNeeded | None = None
    """How many people have to say yes before it is made; None in logs that do not say."""


class Rehearsed(Event, frozen=True, tag="action.rehearsed"):
    """What the scanner says of a copy with the change made: a dry run's result, and what a person is shown."""

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
    """What is known of the failure, gathered before it is undone."""

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
    """The host's health afterwards."""
    seconds: float


class VerdictExplained(Event, frozen=True, tag="verdict.explained"):
    rule: str
    attempt: int
    explanation: str
    veto: bool
    reason: str


class SentryProbed(Event, frozen=True, tag="sentry.probed"):
    """The code's part of the watch: health and drift, before the Sentry has its say."""

    rule: str
    attempt: int
    probes: tuple[Probe, ...]
    drift: tuple[str, ...]
    log: tuple[str, ...]
    ailing: tuple[str, ...] = ()
    """Probes that failed before the run began: no alarm is raised over them."""


class SentryClear(Event, frozen=True, tag="sentry.clear"):
    rule: str
    attempt: int
    assessment: str


class SentryAlarm(Event, frozen=True, tag="sentry.alarm"):
    rule: str
    attempt: int
    reason: str
    by: str
    """`probe` when code saw it, `sentry` when the model read it in the logs."""


class ApprovalRequested(Event, frozen=True, tag="approval.requested"):
    approval: str
    rule: str
    attempt: int
    binds: str
    """sha256 over host, plan and diff; an approval for anything else is void."""
    expires: float
    diff: str = ""
    """What the person is shown, as the host stood when it was asked."""
    needs: PeopleNeeded | None = None


class ApprovalGiven(Event, frozen=True, tag="approval.given"):
    approval: str
    by: str
    reason: str
    via: str = ""
    """How they came: session, token, demo, terminal; empty in logs that do not say."""
    given: int = 1
    """With this yes."""
    of: int = 1


class ApprovalRefused(Event, frozen=True, tag="approval.refused"):
    approval: str
    by: str
    reason: str


class ApprovalEdited(Event, frozen=True, tag="approval.edited"):
    """The person wants other actions: they are judged, rehearsed and asked about like the Worker's."""

    approval: str
    by: str
    reason: str
    actions: tuple[AnyAction, ...]


class ApprovalExpired(Event, frozen=True, tag="approval.expired"):
    approval: str
    reason: str
    drifted: bool = False
    """The host changed under it: the Worker is asked again. Otherwise nobody answered in time."""


class EngineState(Event, frozen=True, tag="engine.state"):
    engine: str
    state: str
    detail: str = ""
    """While it loads: the phase. Otherwise what is the matter, and what helps."""
    share: float | None = None
    """Of the cold load that is over, from earlier loads on this machine."""
    eta_s: float | None = None
    replicas: tuple[str, ...] = ()
    """The state of each, in the order of its addresses."""


class EngineSampled(Event, frozen=True, tag="engine.sample"):
    engine: str
    running: int
    waiting: int
    kv_used: float | None
    tok_s: float | None
    prompt_tok_s: float | None
    simulated: bool
    foreign: int | None = None
    """Running requests that are not ours."""
    kv_tokens: int | None = None
    """What the KV cache holds in all."""
    acceptance_rate: float | None = None
    """Of drafted tokens, 0 to 1; None where nothing was drafted."""
    acceptance_length: float | None = None
    cached_share: float | None = None
    """Of prompt tokens found in the prefix cache, 0 to 1."""
    prefix_hit_rate: float | None = None
    """The same, over all prompts since the engine was started."""
    preemptions: int | None = None
    resident_gib: float | None = None
    """Main memory that its process holds, where it computes on the processor."""
    ttft_s: float | None = None
    """Mean wait for the first token, of the requests that got theirs since the look before."""
    roles: dict[str, float] = {}
    """Tokens a second by role, as our turns took them in; what is left of tok_s is other people's."""


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
    """Empty for this machine."""
    reserved_gib: float | None = None
    unified: bool = False
    """Memory shared with the host: used and total are the host's."""
    mig: bool = False
    power_limit_w: float | None = None
    energy_j: float | None = None
    """A counter, since the driver was loaded."""
    sm_mhz: float | None = None
    memory_mhz: float | None = None
    throttled: tuple[str, ...] = ()
    """Why its clocks are held down, in words."""
    ecc_uncorrected: int | None = None
    pcie_rx_mb_s: float | None = None
    pcie_tx_mb_s: float | None = None
    processes: tuple[GpuProcess, ...] = ()
    ages: dict[str, float] = {}
    """Seconds since a sensor was read, by field, where that was not just now: the costly ones are read less often."""
    parts: dict[str, float] = {}
    """Who holds its memory, in GiB: weights, kv, graphs and the waterfall's other kinds."""


class EnergySpent(Event, frozen=True, tag="energy.sample"):
    """What a run has spent on the GPUs so far. Power is kept for hours, this for good."""

    of: str
    """The run."""
    until: float
    final: bool
    simulated: bool
    spent: tuple[Spent, ...]


class PersonDid(Event, frozen=True, tag="audit.done"):
    """One request that asked for a change, or for more than its sender may have; and what came of it."""

    who: str
    right: str
    via: str
    """demo, session, token, link, terminal; empty where nobody had signed in."""
    source: str
    """The address that it came from."""
    did: str
    """Method and address, or the command."""
    status: int
    detail: str = ""
    times: int = 1
    """More than one: as many refusals of one source within a minute, of which this is the last."""


class RolloutAsked(Event, frozen=True, tag="rollout.asked"):
    """One wish for many hosts. Each becomes a run of its own, with a log of its own; this is the log over them."""

    hosts: tuple[str, ...]
    """In the order in which they are taken."""
    words: str
    """How they were named."""
    skill: str
    rules: tuple[str, ...]
    mode: str
    """Empty: each host's usual one."""
    keep: bool
    budget: Budget
    lineup: str
    simulated: bool
    pace: float | None
    at_once: int
    waves: tuple[int, ...]
    """How many hosts each has; the next begins when all of one have ended."""
    harmed: int
    """As many harmed hosts pause it; 0: no number does."""
    escalated: float
    """A greater share of findings that are left to a person, in percent, pauses it; 100: no share does."""
    note: str = ""
    by: str = ""
    whose: str = ""
    token: str = ""
    replay_fixes: bool = True
    """What held on another host with the same files is tried first on each."""


class RolloutHostBegun(Event, frozen=True, tag="rollout.host_begun"):
    """Written together with the first event of its run, so that no host is begun twice."""

    host: str
    of: str
    """The run."""
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
    """In what the run left the host worse, or why it could not go on; empty where neither is so."""


class RolloutHostLeft(Event, frozen=True, tag="rollout.host_left"):
    """It was not begun."""

    host: str
    reason: str


class RolloutWaveEnded(Event, frozen=True, tag="rollout.wave_ended"):
    """Every host of it is through; the counts are of this wave alone."""

    wave: int
    hosts: int
    left: int
    findings: int
    passed: int
    escalated: int
    harmed: int


class RolloutPaused(Event, frozen=True, tag="rollout.paused"):
    """No further host is begun, and the runs at work pause, each after the change in hand."""

    by: str
    """A person, or `rule`: then a person is asked to go on or to end it."""
    reason: str = ""


class RolloutResumed(Event, frozen=True, tag="rollout.resumed"):
    by: str
    reason: str = ""


class RolloutStopRequested(Event, frozen=True, tag="rollout.stopping"):
    by: str
    reason: str = ""


class RolloutEnded(Event, frozen=True, tag="rollout.ended"):
    state: str
    """finished or stopped."""


RunEvent = (
    RunQueued | RunStarted | ForceAsked | RunScoped | RebootChecked | DriftFound | RunPaused | RunResumed
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
"""Of the machine, not of a run: logged, but in nobody's chain."""


def kind_of(event: Event) -> str:
    tag: Any = event.__struct_config__.tag
    return str(tag)


KINDS: tuple[str, ...] = tuple(t.__struct_config__.tag for t in get_args(RunEvent | RolloutEvent | Sample))
