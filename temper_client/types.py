"""JSON bodies of requests and answers.

Written by .ci/client from the OpenAPI description; do not edit.
"""

from typing import Any, Literal, NotRequired, TypedDict


class Accepted(TypedDict):
    id: str
    links: "RunLinks"


class AcceptedRollout(TypedDict):
    id: str
    hosts: int
    links: "RolloutLinks"


class ActionApplied(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["action.applied"]
    rule: str
    attempt: int
    journal: str
    diff: str
    changes: list["FileChange"]
    seconds: float


class ActionApplying(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["action.applying"]
    rule: str
    attempt: int
    journal: str


class ActionFailedToApply(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["action.failed"]
    rule: str
    attempt: int
    journal: str
    reason: str


class ActionProposed(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["action.proposed"]
    rule: str
    attempt: int
    actions: list[
        "SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript"
    ]
    note: str
    fingerprint: str
    diff: str
    by: NotRequired[str]
    replayed: NotRequired[str]
    source: NotRequired[str]
    around: NotRequired[str]


class ActionRefused(TypedDict):
    """The policy refused an action; then none of the attempt's actions run."""

    seq: int
    at: str
    run: str
    kind: Literal["action.refused"]
    rule: str
    attempt: int
    action: "SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript | None"
    clause: str
    reason: str


class ActionRolledBack(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["action.rolled_back"]
    rule: str
    attempt: int
    journal: str
    paths: list[str]
    differences: list[str]
    probes: list["Probe"]
    seconds: float


class ActionRollingBack(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["action.rolling_back"]
    rule: str
    attempt: int
    journal: str
    cause: str


class ActionsAllowed(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["action.allowed"]
    rule: str
    attempt: int
    needs: NotRequired["PeopleNeeded | None"]


class AddMountOptions(TypedDict):
    """Add options in /etc/fstab and to the mounted file system."""

    do: Literal["add_mount_options"]
    mount: str
    options: list[Literal["nodev", "noexec", "nosuid"]]


class Alive(TypedDict):
    status: Literal["ok"]


class Answer(TypedDict):
    decision: Literal["approve", "refuse", "edit"]
    reason: NotRequired[str]
    actions: NotRequired[list["Action"]]
    by: NotRequired[str]


class AnswerView(TypedDict):
    verb: str
    words: str
    address: str
    body: dict[str, Any]
    reason: Literal["no", "optional", "required"]
    denied: str


class Answered(TypedDict):
    id: str
    run: str
    decision: Literal["approve", "refuse", "edit"]
    people: NotRequired[int]
    given: NotRequired[int]
    waits: NotRequired[str]


class AnsweredQuestion(TypedDict):
    question: "AskFile | AskDaemon | AskUnit | AskPackage | AskKernel | AskVerdict | AskUse | AskManual"
    answer: str


class AppendLine(TypedDict):
    do: Literal["append_line"]
    path: str
    line: str


class ApprovalEdited(TypedDict):
    """A person replaced the actions; they are judged, rehearsed and approved like the Worker's."""

    seq: int
    at: str
    run: str
    kind: Literal["approval.edited"]
    approval: str
    by: str
    reason: str
    actions: list[
        "SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript"
    ]


class ApprovalExpired(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["approval.expired"]
    approval: str
    reason: str
    drifted: NotRequired[bool]


class ApprovalGiven(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["approval.given"]
    approval: str
    by: str
    reason: str
    via: NotRequired[str]
    given: NotRequired[int]
    of: NotRequired[int]
    token: NotRequired[str]
    made_by: NotRequired[list[str]]
    about: NotRequired[Literal["change", "reboot"]]


class ApprovalList(TypedDict):
    approvals: list["ApprovalView"]


class ApprovalPolicy(TypedDict):
    """A policy file. The first matching rule decides."""

    file: str
    sha256: str
    rules: list["ApprovalRule"]
    otherwise: int
    line: int


class ApprovalRefused(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["approval.refused"]
    approval: str
    by: str
    reason: str
    about: NotRequired[Literal["change", "reboot"]]


class ApprovalRequested(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["approval.requested"]
    approval: str
    rule: str
    attempt: int
    binds: str
    expires: float
    diff: NotRequired[str]
    needs: NotRequired["PeopleNeeded | None"]
    about: NotRequired[Literal["change", "reboot"]]


class ApprovalRule(TypedDict):
    """A rule of the policy file. It matches if all set conditions are met."""

    line: int
    people: int
    category: NotRequired[list[Literal["I", "II", "III"]]]
    breaks: NotRequired[list[str]]
    cuts_the_line: NotRequired[bool | None]
    irreversible: NotRequired[bool | None]
    replayed: NotRequired[bool | None]


class ApprovalView(TypedDict):
    id: str
    about: NotRequired[Literal["change", "reboot"]]
    run: str
    host: str
    rule: str
    title: str
    attempt: int
    approach: str
    steps: list[str]
    risk: str
    rollback: str
    breaks: str
    irreversible: bool
    warnings: NotRequired[list[str]]
    proposed_by: str
    actions: list["Action"]
    diff: str
    predicted: "Foreseen | None"
    binds: str
    asked_at: str
    expires: str
    simulated: bool
    people: NotRequired[int]
    needs: NotRequired[str]
    given: NotRequired[list["GivenApproval"]]


class AskDaemon(TypedDict):
    ask: Literal["daemon"]
    program: Literal["sshd", "sudo"]
    user: str
    key: NotRequired[str]


class AskFile(TypedDict):
    ask: Literal["file"]
    path: str
    first: NotRequired[int]


class AskKernel(TypedDict):
    ask: Literal["kernel"]
    key: str


class AskManual(TypedDict):
    ask: Literal["manual"]
    page: str
    section: str


class AskPackage(TypedDict):
    ask: Literal["package"]
    package: str


class AskUnit(TypedDict):
    ask: Literal["unit"]
    unit: str


class AskUse(TypedDict):
    ask: Literal["use"]
    word: str


class AskVerdict(TypedDict):
    ask: Literal["verdict"]


class AttemptFailed(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["attempt.failed"]
    rule: str
    attempt: int
    cause: str
    reason: str
    replayed: NotRequired[str]


class AttemptReflected(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["attempt.reflected"]
    rule: str
    attempt: int
    decision: Literal["CONTINUE", "ESCALATE", "PIVOT"]
    reason: str
    banned: list[str]


class AttemptStarted(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["attempt.started"]
    rule: str
    attempt: int
    lessons: list["Lesson"]
    seen: NotRequired[str]
    offered: NotRequired["ProvenFix | None"]
    vendor: NotRequired[bool]
    why_roles_stopped: NotRequired[str]


class AuditList(TypedDict):
    head: str
    lines: list["AuditedRequest"]
    next: int | None


class AuditedRequest(TypedDict):
    """A request that changes something or was refused, and its outcome."""

    seq: int
    at: str
    run: str
    kind: Literal["audit.done"]
    who: str
    right: str
    via: str
    source: str
    did: str
    status: int
    detail: NotRequired[str]
    times: NotRequired[int]
    token: NotRequired[str]
    made_by: NotRequired[list[str]]


class Budget(TypedDict):
    """Limits after which an item or a run is closed."""

    run_seconds: NotRequired[float]
    item_seconds: NotRequired[float]
    turn_seconds: NotRequired[float]
    stall_seconds: NotRequired[float]
    approval_seconds: NotRequired[float]
    attempts: NotRequired[int]
    item_tokens: NotRequired[int]
    reboot_seconds: NotRequired[float]


class BudgetOrder(TypedDict):
    """Fields left out keep their defaults."""

    run_seconds: NotRequired[float]
    item_seconds: NotRequired[float]
    turn_seconds: NotRequired[float]
    stall_seconds: NotRequired[float]
    approval_seconds: NotRequired[float]
    attempts: NotRequired[int]
    item_tokens: NotRequired[int]
    reboot_seconds: NotRequired[float]


class BuildIntegrityDatabase(TypedDict):
    """Build the database that a tool compares the host's files with."""

    do: Literal["build_integrity_database"]
    tool: Literal["aide"]


class Candidate(TypedDict):
    """What the content or a recipe proposes for a rule on a host, before any role is asked; or why it has nothing."""

    source: str
    also: NotRequired[list[str]]
    actions: NotRequired[
        list[
            "SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript"
        ]
    ]
    gap: NotRequired[str]
    question: NotRequired[str]
    refusal: NotRequired[str]
    diff: NotRequired[str]


class CandidateView(TypedDict):
    number: int
    source: str
    also: list[str]
    accepted: bool
    refusal: str
    gap: str
    diff: str
    actions: list["Action"]
    taken: bool
    failed: bool


class CandidatesGathered(TypedDict):
    """What the content and recipes propose for the rule on this host, each judged by the policy."""

    seq: int
    at: str
    run: str
    kind: Literal["candidates"]
    rule: str
    candidates: list["Candidate"]


class ChangeRisk(TypedDict):
    category: Literal["I", "II", "III"]
    breaks: list[str]
    cuts_the_line: bool
    irreversible: bool
    replayed: bool
    vendor: NotRequired[bool]
    warnings: NotRequired[list[str]]


class Chmod(TypedDict):
    do: Literal["chmod"]
    path: str
    mode: str


class CommandAccepted(TypedDict):
    run: str
    asked: Literal["pause", "resume", "stop"]
    state: str


class CommandRequest(TypedDict):
    reason: NotRequired[str]
    by: NotRequired[str]


class DecisionView(TypedDict):
    id: str
    kind: Literal["approval", "escalated", "deferred", "rollout", "waiver", "host", "run"]
    title: str
    why: str
    risk: Literal["high", "medium", "low"]
    since: str
    expires: str | None
    host: str
    rule: str
    run: str
    rollout: str
    waiver: str
    skill: str
    simulated: bool
    breaks: str
    diff: str
    findings: list["FindingView"]
    answers: list["AnswerView"]


class DriftFound(TypedDict):
    """Rules that passed at the end of the host's last run and fail now, without a change by Temper."""

    seq: int
    at: str
    run: str
    kind: Literal["drift"]
    rules: list[str]
    since: str


class EngineList(TypedDict):
    engines: list["EngineView"]


class EngineView(TypedDict):
    name: str
    title: str
    model: str
    precision: str
    gpus: list[int]
    tp: int
    max_model_len: int
    replicas: int
    roles: list[Literal["architect", "worker", "auditor", "sentry"]]
    serving: list[Literal["architect", "worker", "auditor", "sentry"]]
    simulated: bool
    state: Literal["absent", "loading", "ready", "degraded", "stalled", "dead"]
    detail: str
    since: str | None
    loaded: "Figure"
    to_go: "Figure"
    replica_states: list[str]
    running: int | None
    waiting: int | None
    foreign: int | None
    tokens_per_second: "Figure"
    prompt_tokens_per_second: "Figure"
    kv_used: "Figure"
    main_memory: "Figure"
    kv_tokens: "Figure"
    acceptance_rate: "Figure"
    acceptance_length: "Figure"
    cached_share: "Figure"
    prefix_hit_rate: "Figure"
    preemptions: int | None
    turns_waiting: int
    longest_wait: "Figure"
    waits_for: str
    limit: "Figure"


class EventList(TypedDict):
    run: str
    events: list["Event"]
    newest: int
    next: int | None


class FactsGathered(TypedDict):
    """Facts about the failure, gathered before the rollback."""

    seq: int
    at: str
    run: str
    kind: Literal["facts"]
    rule: str
    attempt: int
    facts: list[str]


class Failure(TypedDict):
    attempt: int
    cause: str
    reason: str


class Fault(TypedDict):
    field: str
    detail: str


class Figure(TypedDict):
    """A number with its unit, provenance, source and time."""

    value: float | None
    unit: str
    provenance: Literal["measured", "derived", "estimated", "simulated", "unsupported"]
    source: str
    at: str | None


class FileChange(TypedDict):
    """SHA-256 of content, mode and owner before and after; None means absent."""

    path: str
    before: str | None
    after: str | None


class FindingForecastView(TypedDict):
    rule: str
    title: str
    source: str
    actions: list[dict[str, Any]]
    asks_a_person: bool
    question: str
    reason: str


class FindingView(TypedDict):
    rule: str
    title: str
    category: str
    run: str
    reason: str
    breaks: str


class FixProven(TypedDict):
    """The change that passed, stored for hosts that are equal for this rule."""

    seq: int
    at: str
    run: str
    kind: Literal["fix.proven"]
    rule: str
    attempt: int
    fix: "ProvenFix"


class ForecastView(TypedDict):
    host: str
    skill: str
    simulated: bool
    rules: int
    seconds: float | None
    findings: list["FindingForecastView"]


class Foreseen(TypedDict):
    """The scanner's verdict on a copy of the host with the change applied."""

    word: Literal["pass", "fail", "error", "notapplicable", "unknown"]
    evidence: str
    scanner: str


class GivenApproval(TypedDict):
    by: str
    reason: str
    token: NotRequired[str]
    made_by: NotRequired[list[str]]


class GpuHistory(TypedDict):
    memory_used: "Series"
    utilization: "Series"
    power: "Series"
    temperature: "Series"
    sm_clock: "Series"


class GpuList(TypedDict):
    gpus: list["GpuView"]
    reason: str


class GpuOfLineup(TypedDict):
    index: int
    kind: str
    memory: "Figure"
    bandwidth: "Figure"


class GpuView(TypedDict):
    gpu: int
    host: str
    name: str
    engines: list[str]
    simulated: bool
    unified: bool
    mig: bool
    throttled: list[str]
    ecc_uncorrected: int | None
    memory_used: "Figure"
    memory_total: "Figure"
    memory_reserved: "Figure"
    utilization: "Figure"
    power: "Figure"
    power_limit: "Figure"
    temperature: "Figure"
    energy: "Figure"
    sm_clock: "Figure"
    memory_clock: "Figure"
    pcie_received: "Figure"
    pcie_sent: "Figure"
    processes: list["ProcessView"]
    waterfall: list["PartView"]
    history: "GpuHistory"


class GroupList(TypedDict):
    groups: list["GroupView"]


class GroupOrder(TypedDict):
    hosts: list[str]


class GroupView(TypedDict):
    name: str
    hosts: list[str]


class HostList(TypedDict):
    hosts: list["HostView"]


class HostOrder(TypedDict):
    """Never send secrets: name a key by its file on the server, a password by the variable that holds it."""

    name: str
    kind: str
    place: NotRequired[str]
    way: NotRequired[Literal["key", "agent", "password"]]
    secret_at: NotRequired[str]
    accept_key: NotRequired[str]


class HostPartView(TypedDict):
    host: str
    wave: int
    run: str | None
    state: str
    findings: int
    passed: int
    escalated: int
    rolled_back: int
    harm: str


class HostScope(TypedDict):
    """Every host, one host, or the hosts of a group."""

    kind: NotRequired[Literal["all", "group", "host"]]
    name: NotRequired[str]


class HostView(TypedDict):
    name: str
    kind: str
    title: str
    simulated: bool
    run: str | None
    place: NotRequired[str | None]
    way: NotRequired[str | None]
    fingerprint: NotRequired[str | None]
    groups: NotRequired[list[str]]


class IdleEnergy(TypedDict):
    """The GPUs while no role used them."""

    gpu_seconds: "Figure"
    energy: "Figure"


class InForceChecked(TypedDict):
    """Running settings compared to the files, at the start of the run and after each change."""

    seq: int
    at: str
    run: str
    kind: Literal["force"]
    rule: NotRequired[str]
    attempt: NotRequired[int]
    boot: NotRequired[str]
    asked: NotRequired[list[str]]
    behind: NotRequired[list["PendingSetting"]]


class InboxView(TypedDict):
    count: int
    decisions: list["DecisionView"]


class Index(TypedDict):
    version: str
    description: str
    docs: str
    addresses: dict[str, str]


class InstallPackage(TypedDict):
    """Install from the host's package sources."""

    do: Literal["install_package"]
    package: str


class ItemDeferred(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["item.deferred"]
    rule: str
    reason: str


class ItemEscalated(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["item.escalated"]
    rule: str
    reason: str
    reopened: NotRequired[bool]
    replayed: NotRequired[str]
    question: NotRequired[str]


class ItemList(TypedDict):
    run: str
    seq: int
    simulated: bool
    items: list["ItemView"]


class ItemPassed(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["item.passed"]
    rule: str
    attempts: int
    lessons: NotRequired[list[str]]
    replayed: NotRequired[str]


class ItemSkipped(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["item.skipped"]
    rule: str
    reason: str
    waiver: NotRequired[str]


class ItemStarted(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["item.started"]
    rule: str
    title: str
    category: Literal["I", "II", "III"]


class ItemStory(TypedDict):
    run: str
    seq: int
    simulated: bool
    item: "ItemView"
    candidates: list["CandidateView"]
    events: list["Event"]


class ItemView(TypedDict):
    rule: str
    title: str
    category: Literal["I", "II", "III"]
    status: Literal["waiting", "working", "passed", "escalated", "skipped", "deferred", "waived"]
    reason: str
    attempts: int
    tokens: int
    started_at: str | None
    ended_at: str | None
    opening: Literal["pass", "fail", "error", "notapplicable", "unknown"] | None
    closing: Literal["pass", "fail", "error", "notapplicable", "unknown"] | None
    failures: list["Failure"]
    lessons: list[str]
    not_in_force: list["SetNotInForce"]


class KeyView(TypedDict):
    algorithm: str
    public: str


class Lesson(TypedDict):
    """What a failure taught: the mechanism, and the environment in which it applies."""

    id: str
    rule: str
    mechanism: str
    environment: str
    advice: str


class LessonLearnt(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["lesson"]
    rule: str
    attempt: int
    lesson: "Lesson"


class LessonList(TypedDict):
    lessons: list["LessonView"]
    next: str | None


class LessonView(TypedDict):
    id: str
    rule: str
    host: str
    run: str
    at: str
    simulated: bool
    mechanism: str
    environment: str
    advice: str
    uses: int
    hits: int


class LineupChangeView(TypedDict):
    title: str
    waits_for_runs: int


class LineupView(TypedDict):
    name: str
    title: str
    note: str
    simulated: bool
    gpus: list["GpuOfLineup"]
    engines: list[str]
    seats: list["SeatView"]


class Link(TypedDict):
    """Opaque cursors; None at an end."""

    next: str | None
    previous: str | None


class MadeLink(TypedDict):
    id: str
    path: str
    expires_at: str


class MadeToken(TypedDict):
    id: str
    person: str
    right: Literal["viewer", "operator", "admin"]
    label: str
    made_at: str
    expires_at: str
    used_at: str | None
    made_by: NotRequired[str]
    secret: str


class Mark(TypedDict):
    at: float
    kind: Literal["run", "passed", "escalated", "deferred", "undone", "alarm", "asks", "engine", "hand-over"]
    run: str
    seq: int
    text: str


class Me(TypedDict):
    name: str
    right: Literal["viewer", "operator", "admin"]
    via: Literal["demo", "session", "token", "link"]


class ModelSeats(TypedDict):
    inspection: str
    models: NotRequired[dict[str, str]]


class NewLink(TypedDict):
    run: NotRequired[str | None]
    hours: NotRequired[float]


class NewPerson(TypedDict):
    name: str
    right: Literal["viewer", "operator", "admin"]
    password: str


class NewToken(TypedDict):
    label: str
    right: NotRequired[Literal["viewer", "operator", "admin"]]
    days: NotRequired[float]
    person: NotRequired[str | None]


class NewWebhook(TypedDict):
    id: str
    url: str
    kinds: list[str]
    template: str
    local: bool
    created_at: str
    delivered: int
    dropped: int
    problem: str
    secret: str


class NodeList(TypedDict):
    shared: bool
    nodes: list["NodeView"]
    given_up: list[str]
    held: list[str]


class NodeView(TypedDict):
    name: str
    kind: Literal["serve", "worker", "run"]
    started_at: str
    silent: "Figure"
    leads: bool
    clock_off: "Figure"
    runs: list[str]
    answers: bool


class OwnServerOrder(TypedDict):
    address: str
    key: NotRequired[str]
    model: NotRequired[str]


class OwnServerView(TypedDict):
    inspection: str
    base: str
    model: str
    models: list[str]
    program: str
    context: int
    structured: bool
    metrics: bool
    findings: list["ServerFinding"]


class ParameterList(TypedDict):
    skill: str
    parameters: list["ParameterView"]


class ParameterOrder(TypedDict):
    value: str
    host: NotRequired[str | None]
    group: NotRequired[str | None]
    skill: NotRequired[str]


class ParameterSet(TypedDict):
    """One value that was set."""

    value: str
    host: str | None
    group: str | None
    by: str
    at: str | None


class ParameterUsed(TypedDict):
    """A site value that a run used."""

    name: str
    value: str
    sha256: str
    rules: list[str]
    where: str


class ParameterView(TypedDict):
    name: str
    title: str
    kind: Literal["number", "text", "boolean"]
    value: str
    where: str
    usual: str
    bounds: str
    least: float | None
    most: float | None
    choices: list[str]
    rules: list[str]
    set_for: list["ParameterSet"]


class PartView(TypedDict):
    """One part of the GPU's memory. All parts add up to the total."""

    kind: Literal["weights", "kv", "graphs", "engine", "processes", "other", "reserved", "free"]
    engine: str
    memory: "Figure"
    claimed: "Figure | None"


class PendingSetting(TypedDict):
    """A pending setting: set in the files, not in force yet."""

    program: str
    setting: str
    wanted: str
    running: str
    by: str


class PeopleNeeded(TypedDict):
    """How many people must approve a change, and by which rule."""

    people: int
    why: str
    by: str
    sha256: NotRequired[str]
    risk: NotRequired["ChangeRisk | None"]


class PersonList(TypedDict):
    people: list["PersonView"]


class PersonView(TypedDict):
    name: str
    right: Literal["viewer", "operator", "admin"]
    disabled: bool
    made_at: str


class PlanList(TypedDict):
    lineup: str
    title: str
    engines: list["PlanView"]


class PlanMade(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["plan"]
    rule: str
    attempt: int
    approach: str
    paths: list[str]
    steps: list[str]
    risk: str
    rollback: str
    validation: str
    candidate: NotRequired[int]
    without_role: NotRequired[bool]


class PlanView(TypedDict):
    """One replica; memory is per GPU, of the fullest one."""

    name: str
    gpus: list[int]
    replicas: int
    fits: bool | None
    says: str
    figures: dict[str, "Figure"]


class Point(TypedDict):
    at: str
    value: float | None


class Probe(TypedDict):
    """A health check and its result."""

    name: str
    ok: bool
    detail: str
    holds: NotRequired[list[str]]
    weak: NotRequired[list[str]]
    asked: NotRequired[bool | None]


class ProbeList(TypedDict):
    probes: list["ProbeView"]
    under_way: str
    ended: str


class ProbeOrder(TypedDict):
    engine: NotRequired[str]


class ProbeView(TypedDict):
    id: str
    at: str
    lineup: str
    engine: str
    replica: int
    simulated: bool
    gpus: list[str]
    conditions: dict[str, str]
    figures: dict[str, "Figure"]
    problem: str
    notes: list[str]


class ProblemBody(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    errors: NotRequired[list["Fault"]]


class ProcessView(TypedDict):
    pid: int
    name: str
    engine: str
    memory: "Figure"


class ProvenFix(TypedDict):
    """A change that passed scanner, Auditor, Sentry and health on one host, for equal hosts."""

    id: str
    rule: str
    host: str
    run: str
    attempt: int
    played: bool
    seen: str
    changes: list["FileChange"]
    approach: str
    paths: list[str]
    steps: list[str]
    risk: str
    rollback: str
    validation: str
    actions: list[
        "SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript"
    ]
    note: str
    fingerprint: str
    by: NotRequired[str]


class Published(TypedDict):
    """The benchmark by which a run's evidence names its rules."""

    file: str
    sha256: str
    id: str
    title: str
    version: str
    release: str
    rules: list["PublishedRule"]


class PublishedRule(TypedDict):
    """A skill's rule as its benchmark names it; texts that it lacks are empty."""

    rule: str
    group: str
    id: str
    stig_id: NotRequired[str]
    group_title: NotRequired[str]
    title: NotRequired[str]
    ccis: NotRequired[list[str]]
    discussion: NotRequired[str]
    check: NotRequired[str]
    fix: NotRequired[str]


class QuestionsAnswered(TypedDict):
    """What the Architect asked about the host before it planned, and what was read there."""

    seq: int
    at: str
    run: str
    kind: Literal["questions"]
    rule: str
    attempt: int
    answers: list["AnsweredQuestion"]
    why: NotRequired[str]


class Readiness(TypedDict):
    ready: bool
    reasons: list[str]
    engines: dict[str, str]
    faults: NotRequired[list[str]]


class RebootAnnounced(TypedDict):
    """Written before the host is rebooted. The reboot has taken place once the host has another boot id."""

    seq: int
    at: str
    run: str
    kind: Literal["reboot.announced"]
    host: str
    boot: str
    until: float
    rules: list[str]
    journals: NotRequired[list[str]]
    emulated: NotRequired[bool]
    snapshot: NotRequired[str]
    undo_seconds: NotRequired[int]


class RebootChecked(TypedDict):
    """A host after a reboot, compared to the end of its last run."""

    seq: int
    at: str
    run: str
    kind: Literal["reboot.checked"]
    of: str
    boot_before: str
    boot_now: str
    rebooted: bool
    slipped: NotRequired[list[str]]
    arrived: NotRequired[list[str]]
    waiting: NotRequired[list[str]]
    behind: NotRequired[list["PendingSetting"]]
    worse: NotRequired[str]


class RebootCompared(TypedDict):
    """The closing scan, made after the reboot, compared with the verdicts at the time of the fixes."""

    seq: int
    at: str
    run: str
    kind: Literal["reboot.compared"]
    host: str
    held: list[str]
    lost: NotRequired[list[str]]
    slipped: NotRequired[list[str]]


class RebootLost(TypedDict):
    """The host did not come back in time."""

    seq: int
    at: str
    run: str
    kind: Literal["reboot.lost"]
    host: str
    seconds: float
    reason: str
    console: NotRequired[list[str]]


class RebootReturned(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["reboot.returned"]
    host: str
    boot: str
    seconds: float
    probes: list["Probe"]
    undone: NotRequired[bool]


class RebootSkipped(TypedDict):
    """The reboot that was asked for at the end is not made."""

    seq: int
    at: str
    run: str
    kind: Literal["reboot.skipped"]
    host: str
    reason: str


class RebootUndone(TypedDict):
    """The host is as before the run's changes again, since it was not well after the reboot."""

    seq: int
    at: str
    run: str
    kind: Literal["reboot.undone"]
    host: str
    snapshot: str
    rules: list[str]
    paths: list[str]
    differences: list[str]
    probes: list["Probe"]
    seconds: float


class Redelivery(TypedDict):
    run: str


class Rehearsed(TypedDict):
    """The verdict on a copy with the change applied, for dry runs and approvals."""

    seq: int
    at: str
    run: str
    kind: Literal["action.rehearsed"]
    rule: str
    attempt: int
    word: Literal["error", "fail", "notapplicable", "pass", "unknown"]
    evidence: str
    scanner: NotRequired[str]


class Reload(TypedDict):
    do: Literal["reload"]
    service: str


class RemoveLine(TypedDict):
    do: Literal["remove_line"]
    path: str
    line: str


class RemovePackage(TypedDict):
    do: Literal["remove_package"]
    package: str


class ReplaceLine(TypedDict):
    do: Literal["replace_line"]
    path: str
    old: str
    new: str


class RoleEnergy(TypedDict):
    role: Literal["architect", "worker", "auditor", "sentry"]
    gpu_seconds: "Figure"
    energy: "Figure"
    tokens: int
    energy_per_token: "Figure"


class RolloutLinks(TypedDict):
    self: str
    stream: str
    evidence: str
    page: str


class RolloutList(TypedDict):
    rollouts: list["RolloutView"]


class RolloutOrder(TypedDict):
    host: NotRequired[str]
    skill: NotRequired[str]
    rules: NotRequired[list[str] | None]
    profile: NotRequired[Literal["all", "cat-1", "cat-2", "cat-3"] | None]
    mode: NotRequired[Literal["auto", "review", "dry-run", "scan"] | None]
    budget: NotRequired["BudgetOrder"]
    keep: NotRequired[bool]
    note: NotRequired[str]
    consent: NotRequired[str]
    replay_fixes: NotRequired[bool]
    engine: NotRequired[Literal["lineup", "none"]]
    after_reboot: NotRequired[bool]
    reboot: NotRequired[bool]
    by: NotRequired[str]
    hosts: str | list[str]
    at_once: NotRequired[int]
    waves: NotRequired[str | list[str]]
    harmed: NotRequired[int]
    escalated: NotRequired[float]


class RolloutStanding(TypedDict):
    id: str
    state: Literal["running", "paused", "stopping", "finished", "stopped"]
    hosts: int
    words: str
    skill: str
    mode: str
    simulated: bool
    note: str
    by: str
    reason: str
    asked_at: str
    ended_at: str | None
    links: "RolloutLinks"
    waves: list[int]
    at_once: int
    asks: bool
    done: int
    parts: list["HostPartView"]


class RolloutView(TypedDict):
    id: str
    state: Literal["running", "paused", "stopping", "finished", "stopped"]
    hosts: int
    words: str
    skill: str
    mode: str
    simulated: bool
    note: str
    by: str
    reason: str
    asked_at: str
    ended_at: str | None
    links: "RolloutLinks"


class RuleList(TypedDict):
    skill: str
    title: str
    rules: list["RuleView"]


class RuleView(TypedDict):
    id: str
    stig_id: str
    category: Literal["I", "II", "III"]
    title: str
    requirement: str
    fix: str
    paths: list[str]
    depends: list[str]
    irreversible: bool
    breaks: str


class RunChange(TypedDict):
    """Fields left out stay unchanged."""

    name: NotRequired[str | None]
    tags: NotRequired[list[str] | None]


class RunEnergy(TypedDict):
    run: str
    final: bool
    simulated: bool
    pace: float | None
    until: str | None
    roles: list["RoleEnergy"]
    between: "IdleEnergy | None"
    reason: str


class RunFailed(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["run.failed"]
    reason: str


class RunFinished(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["run.finished"]
    passed: int
    escalated: int
    skipped: int
    deferred: int
    regressions: list[str]
    tree: str
    waived: NotRequired[int]


class RunLinks(TypedDict):
    self: str
    items: str
    events: str
    stream: str
    energy: str
    evidence: str
    page: str


class RunList(TypedDict):
    runs: list["RunView"]
    cursors: "Link"


class RunOrder(TypedDict):
    host: str
    skill: NotRequired[str]
    rules: NotRequired[list[str] | None]
    profile: NotRequired[Literal["all", "cat-1", "cat-2", "cat-3"] | None]
    mode: NotRequired[Literal["auto", "review", "dry-run", "scan"] | None]
    budget: NotRequired["BudgetOrder"]
    keep: NotRequired[bool]
    note: NotRequired[str]
    consent: NotRequired[str]
    replay_fixes: NotRequired[bool]
    engine: NotRequired[Literal["lineup", "none"]]
    after_reboot: NotRequired[bool]
    reboot: NotRequired[bool]
    by: NotRequired[str]


class RunPaused(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["run.paused"]
    by: str


class RunPreparing(TypedDict):
    """The state of the host before any change is being read, and that takes longer than a second."""

    seq: int
    at: str
    run: str
    kind: Literal["run.preparing"]
    worker: str


class RunQueued(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["run.queued"]
    host: str
    skill: str
    rules: list[str]
    mode: Literal["auto", "dry-run", "review", "scan"]
    budget: "Budget"
    lineup: str
    simulated: bool
    pace: NotRequired[float | None]
    note: NotRequired[str]
    keep: NotRequired[bool]
    by: NotRequired[str]
    consent: NotRequired[str]
    replay_fixes: NotRequired[bool]
    after_reboot: NotRequired[bool]
    whose: NotRequired[str]
    token: NotRequired[str]
    engine: NotRequired[Literal["lineup", "none"]]
    reboot: NotRequired[bool]


class RunResumed(TypedDict):
    """`by` is a person, or the worker that resumed the run after a crash."""

    seq: int
    at: str
    run: str
    kind: Literal["run.resumed"]
    by: str
    after_crash: NotRequired[bool]
    reason: NotRequired[str]


class RunScoped(TypedDict):
    """Result of the opening scan: findings in the order in which they are handled."""

    seq: int
    at: str
    run: str
    kind: Literal["run.scoped"]
    order: list[str]
    compliant: list[str]
    undecided: list[str]


class RunStarted(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["run.started"]
    worker: str
    confinement: str
    scanner: str
    probes: list["Probe"]
    temper: NotRequired[str]
    seats: NotRequired[list["SeatTaken"]]
    simulated: NotRequired[bool | None]
    rulebook: NotRequired[str]
    published: NotRequired["Published | None"]
    waivers: NotRequired[list["Waiver"]]
    tailored: NotRequired["Tailored | None"]
    parameters: NotRequired[list["ParameterUsed"]]
    approvals: NotRequired["ApprovalPolicy | None"]
    key: NotRequired[str]
    disposable: NotRequired[bool]


class RunStopRequested(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["run.stopping"]
    by: str
    reason: str


class RunStopped(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["run.stopped"]
    by: str
    reason: str
    tree: str


class RunVendorScript(TypedDict):
    """The remediation of a rule as OpenSCAP generates it from the content; roles and people may not change it."""

    do: Literal["run_vendor_script"]
    rule: str
    sha256: str
    script: str


class RunView(TypedDict):
    id: str
    host: str
    state: Literal["queued", "running", "paused", "finished", "failed", "stopped"]
    mode: Literal["auto", "review", "dry-run", "scan"]
    skill: str
    lineup: str
    simulated: bool
    note: str
    name: str
    tags: list[str]
    reason: str
    waiting_for: NotRequired[str]
    queued_at: str
    started_at: str | None
    ended_at: str | None
    duration: "Figure"
    findings: int
    passed: int
    escalated: int
    skipped: int
    deferred: int
    waived: int
    rolled_back: int
    drifted: int
    regressed: int
    tokens: int
    tokens_in: NotRequired[int]
    shrunk_at: str | None
    links: "RunLinks"


class RunWaitEnded(TypedDict):
    """What the run waited for works again."""

    seq: int
    at: str
    run: str
    kind: Literal["run.wait_ended"]
    seconds: float


class RunWaiting(TypedDict):
    """The run waits until a fault of the machinery is over. It spends no attempt, time or tokens meanwhile."""

    seq: int
    at: str
    run: str
    kind: Literal["run.waiting"]
    cause: Literal["engine", "host", "storage"]
    reason: str
    engine: NotRequired[str]


class SampleSeries(TypedDict):
    kind: Literal["engine", "gpu", "role", "run"]
    of: str
    host: str
    figure: str
    unit: str
    provenance: Literal["measured", "derived", "estimated", "simulated", "unsupported"]
    source: str
    how: Literal["mean", "most"]
    values: list[float | None]


class Samples(TypedDict):
    since: str
    until: str
    step: float
    times: list[float]
    series: list["SampleSeries"]
    marks: list["Mark"]


class Sampling(TypedDict):
    """Sampling parameters of a role beside its temperature. None leaves the engine's default."""

    top_p: NotRequired[float | None]
    top_k: NotRequired[int | None]
    min_p: NotRequired[float | None]
    thinking: NotRequired[bool]
    thinking_tokens: NotRequired[int | None]
    guided: NotRequired[bool]
    candidates: NotRequired[bool]
    questions: NotRequired[bool]


class ScanFinished(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["scan.finished"]
    phase: Literal["attempt", "closing", "opening", "recheck", "rehearsal"]
    seconds: float


class ScanProgressed(TypedDict):
    """A scan that takes longer. At most one a second."""

    seq: int
    at: str
    run: str
    kind: Literal["scan.progress"]
    phase: Literal["attempt", "closing", "opening", "recheck", "rehearsal"]
    judged: int
    rules: int


class ScanStarted(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["scan.started"]
    phase: Literal["attempt", "closing", "opening", "recheck", "rehearsal"]
    rules: int


class ScanView(TypedDict):
    host: str
    skill: str
    scanner: str
    simulated: bool
    verdicts: list["VerdictView"]


class ScheduleList(TypedDict):
    schedules: list["ScheduleView"]


class ScheduleOrder(TypedDict):
    host: NotRequired[str]
    hosts: NotRequired[str | list[str]]
    at_once: NotRequired[int]
    waves: NotRequired[str | list[str]]
    harmed: NotRequired[int]
    escalated: NotRequired[float]
    cron: str
    zone: NotRequired[str]
    mode: NotRequired[Literal["auto", "review", "dry-run", "scan"]]
    skill: NotRequired[str]
    rules: NotRequired[list[str] | None]
    window_minutes: NotRequired[float | None]


class ScheduleView(TypedDict):
    id: str
    host: str
    rollout: bool
    skill: str
    rules: list[str]
    mode: Literal["auto", "review", "dry-run", "scan"]
    cron: str
    zone: str
    window_minutes: float | None
    enabled: bool
    by: str
    next_at: str | None
    fired_at: str | None
    run: str | None
    outcome: str
    unkept: bool


class SeatTaken(TypedDict):
    """The engine and settings of a role in a run."""

    role: Literal["architect", "auditor", "sentry", "worker"]
    engine: str
    model: str
    precision: str
    vllm: str
    replicas: int
    temperature: float
    max_tokens: int
    max_model_len: int
    sampling: NotRequired["Sampling"]


class SeatView(TypedDict):
    role: Literal["architect", "worker", "auditor", "sentry"]
    engine: str
    temperature: float
    max_tokens: int


class SentryAlarm(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["sentry.alarm"]
    rule: str
    attempt: int
    reason: str
    by: str


class SentryClear(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["sentry.clear"]
    rule: str
    attempt: int
    assessment: str


class SentryProbed(TypedDict):
    """Health and drift as probed by code, before the Sentry judges."""

    seq: int
    at: str
    run: str
    kind: Literal["sentry.probed"]
    rule: str
    attempt: int
    probes: list["Probe"]
    drift: list[str]
    log: list[str]
    ailing: NotRequired[list[str]]


class Series(TypedDict):
    """Figures of one kind over time, oldest first."""

    unit: str
    provenance: Literal["measured", "derived", "estimated", "simulated", "unsupported"]
    source: str
    points: list["Point"]


class ServerFinding(TypedDict):
    name: str
    found: str
    without: str


class SetAgeing(TypedDict):
    """Set password ageing of an account in /etc/shadow, in days."""

    do: Literal["set_ageing"]
    account: str
    setting: Literal["inactive", "max", "min", "warn"]
    days: int


class SetCryptoPolicy(TypedDict):
    """Set the crypto policy of the whole system, with its subpolicies after colons."""

    do: Literal["set_crypto_policy"]
    policy: str


class SetNotInForce(TypedDict):
    program: str
    setting: str
    wanted: str
    running: str
    by: str


class SetOption(TypedDict):
    """Set `key` to a value, in the syntax of the file at `path`."""

    do: Literal["set_option"]
    path: str
    key: str
    value: str


class SetPermissions(TypedDict):
    """Set the mode of a folder or a file, and its owner as USER:GROUP, USER or :GROUP; what is left out stays."""

    do: Literal["set_permissions"]
    path: str
    mode: NotRequired[str]
    owner: NotRequired[str]


class SetSelinuxType(TypedDict):
    """Set the SELinux type of a folder and its contents, in the policy and on the files. A missing folder is made."""

    do: Literal["set_selinux_type"]
    folder: str
    type: str


class SetUnit(TypedDict):
    """Restart and reload are actions of `reload`."""

    do: Literal["set_unit"]
    unit: str
    to: Literal["disable", "enable", "enable-now", "mask", "set-default", "start", "stop", "unmask"]


class Tailored(TypedDict):
    """The tailoring file of a run's profile, with the rules that it excludes."""

    file: str
    sha256: str
    id: str
    version: str
    profile: str
    left_out: NotRequired[list[str]]


class TailoredProfileView(TypedDict):
    skill: str
    tailoring: str
    content: str
    profile: str
    title: str
    rules: int
    left_out: int
    version: str
    sha256: str


class TailoringList(TypedDict):
    profiles: list["TailoredProfileView"]


class TailoringOrder(TypedDict):
    name: str
    content: str
    document: str


class TokenList(TypedDict):
    tokens: list["TokenView"]


class TokenView(TypedDict):
    id: str
    person: str
    right: Literal["viewer", "operator", "admin"]
    label: str
    made_at: str
    expires_at: str
    used_at: str | None
    made_by: NotRequired[str]


class TurnDelta(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["turn.delta"]
    turn: str
    role: Literal["architect", "auditor", "sentry", "worker"]
    channel: Literal["answer", "thought"]
    text: str
    tokens: int


class TurnFinished(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["turn.finished"]
    turn: str
    role: Literal["architect", "auditor", "sentry", "worker"]
    purpose: Literal["act", "plan", "reflect", "review", "triage"]
    outcome: Literal["answered", "broken", "died", "over_budget", "refused", "stalled", "unavailable"]
    detail: str
    thought: str
    answer: str
    finish_reason: NotRequired[str]
    prompt_tokens: NotRequired[int]
    completion_tokens: NotRequired[int]
    ttft: NotRequired[float | None]
    decode_rate: NotRequired[float | None]
    seconds: NotRequired[float]
    leaked: NotRequired[bool]
    looped: NotRequired[bool]
    lost: NotRequired[bool]


class TurnInterrupted(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["turn.interrupted"]
    turn: str
    reason: str


class TurnStarted(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["turn.started"]
    turn: str
    rule: str
    attempt: int
    role: Literal["architect", "auditor", "sentry", "worker"]
    purpose: Literal["act", "plan", "reflect", "review", "triage"]
    engine: str
    model: str
    replica: int
    max_tokens: int
    prompt: list[Any]
    prompts: NotRequired[str]
    waited_ms: NotRequired[int]


class UsageList(TypedDict):
    usage: list["UsageView"]


class UsageView(TypedDict):
    period: str
    person: str
    token: str | None
    label: str
    simulated: bool
    runs: int
    tokens_in: int
    tokens_out: int
    gpu_seconds: "Figure"
    energy: "Figure"
    runs_with_energy: int


class VerdictExplained(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["verdict.explained"]
    rule: str
    attempt: int
    explanation: str
    veto: bool
    reason: str


class VerdictGiven(TypedDict):
    seq: int
    at: str
    run: str
    kind: Literal["verdict"]
    rule: str
    phase: Literal["attempt", "closing", "opening", "recheck", "rehearsal"]
    word: Literal["error", "fail", "notapplicable", "pass", "unknown"]
    evidence: str
    scanner: str
    attempt: NotRequired[int]
    path: NotRequired[str | None]
    line: NotRequired[int | None]


class VerdictView(TypedDict):
    rule: str
    word: Literal["pass", "fail", "error", "notapplicable", "unknown"]
    evidence: str
    path: str | None
    line: int | None


class Waiver(TypedDict):
    id: str
    rule: str
    scope: "HostScope"
    owner: str
    reason: str
    ticket: str
    since: str
    until: str


class WaiverEnd(TypedDict):
    reason: str


class WaiverList(TypedDict):
    waivers: list["WaiverView"]


class WaiverOrder(TypedDict):
    rule: str
    host: NotRequired[str | None]
    group: NotRequired[str | None]
    owner: str
    reason: str
    ticket: NotRequired[str]
    until: str
    skill: NotRequired[str]


class WaiverView(TypedDict):
    id: str
    rule: str
    host: str | None
    group: str | None
    owner: str
    reason: str
    ticket: str
    until: str
    state: Literal["in force", "over", "taken back"]
    by: str
    made_at: str
    ended_at: str | None
    ended_by: str
    ended_why: str


class WebhookChange(TypedDict):
    """Fields left out stay unchanged."""

    local: NotRequired[bool | None]
    template: NotRequired[str | None]


class WebhookList(TypedDict):
    webhooks: list["WebhookView"]


class WebhookOrder(TypedDict):
    url: str
    secret: NotRequired[str | None]
    kinds: NotRequired[list[str]]
    template: NotRequired[str]
    local: NotRequired[bool]


class WebhookTrial(TypedDict):
    taken: bool
    problem: str


class WebhookView(TypedDict):
    id: str
    url: str
    kinds: list[str]
    template: str
    local: bool
    created_at: str
    delivered: int
    dropped: int
    problem: str


class WriteFile(TypedDict):
    do: Literal["write_file"]
    path: str
    content: str
    mode: NotRequired[str]


Action = (
    SetOption
    | ReplaceLine
    | RemoveLine
    | AppendLine
    | WriteFile
    | Chmod
    | Reload
    | SetAgeing
    | SetCryptoPolicy
    | BuildIntegrityDatabase
    | AddMountOptions
    | InstallPackage
    | RemovePackage
    | SetPermissions
    | SetSelinuxType
    | SetUnit
    | RunVendorScript
)

Event = (
    RunQueued
    | RunPreparing
    | RunStarted
    | InForceChecked
    | RunScoped
    | RebootChecked
    | RebootSkipped
    | RebootAnnounced
    | RebootReturned
    | RebootLost
    | RebootUndone
    | RebootCompared
    | DriftFound
    | RunPaused
    | RunResumed
    | RunWaiting
    | RunWaitEnded
    | RunStopRequested
    | RunStopped
    | RunFinished
    | RunFailed
    | ScanStarted
    | ScanProgressed
    | VerdictGiven
    | ScanFinished
    | ItemStarted
    | ItemPassed
    | FixProven
    | AttemptStarted
    | AttemptFailed
    | AttemptReflected
    | LessonLearnt
    | PlanMade
    | QuestionsAnswered
    | ActionProposed
    | ActionRefused
    | ActionsAllowed
    | Rehearsed
    | ActionApplying
    | ActionApplied
    | ActionFailedToApply
    | FactsGathered
    | ActionRollingBack
    | ActionRolledBack
    | VerdictExplained
    | SentryProbed
    | SentryClear
    | SentryAlarm
    | ItemEscalated
    | ItemSkipped
    | ItemDeferred
    | CandidatesGathered
    | TurnStarted
    | TurnDelta
    | TurnFinished
    | TurnInterrupted
    | ApprovalRequested
    | ApprovalGiven
    | ApprovalRefused
    | ApprovalEdited
    | ApprovalExpired
)
