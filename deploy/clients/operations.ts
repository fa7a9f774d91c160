// Written by .ci/client from the OpenAPI description; do not edit.

export type Accepted = {
  "id": string;
  "links": RunLinks;
};

export type AcceptedRollout = {
  "id": string;
  "hosts": number;
  "links": RolloutLinks;
};

export type Action = SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript;

export type ActionApplied = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "action.applied";
  "rule": string;
  "attempt": number;
  "journal": string;
  "diff": string;
  "changes": Array<FileChange>;
  "seconds": number;
};

export type ActionApplying = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "action.applying";
  "rule": string;
  "attempt": number;
  "journal": string;
};

export type ActionFailedToApply = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "action.failed";
  "rule": string;
  "attempt": number;
  "journal": string;
  "reason": string;
};

export type ActionProposed = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "action.proposed";
  "rule": string;
  "attempt": number;
  "actions": Array<SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript>;
  "note": string;
  "fingerprint": string;
  "diff": string;
  "by"?: string;
  "replayed"?: string;
  "source"?: string;
  "around"?: string;
};

export type ActionRefused = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "action.refused";
  "rule": string;
  "attempt": number;
  "action": SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript | null;
  "clause": string;
  "reason": string;
};

export type ActionRolledBack = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "action.rolled_back";
  "rule": string;
  "attempt": number;
  "journal": string;
  "paths": Array<string>;
  "differences": Array<string>;
  "probes": Array<Probe>;
  "seconds": number;
};

export type ActionRollingBack = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "action.rolling_back";
  "rule": string;
  "attempt": number;
  "journal": string;
  "cause": string;
};

export type ActionsAllowed = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "action.allowed";
  "rule": string;
  "attempt": number;
  "needs"?: PeopleNeeded | null;
};

export type AddMountOptions = {
  "do": "add_mount_options";
  "mount": string;
  "options": Array<"nodev" | "noexec" | "nosuid">;
};

export type Alive = {
  "status": "ok";
};

export type Answer = {
  "decision": "approve" | "refuse" | "edit";
  "reason"?: string;
  "actions"?: Array<Action>;
  "by"?: string;
};

export type AnswerView = {
  "verb": string;
  "words": string;
  "address": string;
  "body": Record<string, unknown>;
  "reason": "no" | "optional" | "required";
  "denied": string;
};

export type Answered = {
  "id": string;
  "run": string;
  "decision": "approve" | "refuse" | "edit";
  "people"?: number;
  "given"?: number;
  "waits"?: string;
};

export type AnsweredQuestion = {
  "question": AskFile | AskDaemon | AskUnit | AskPackage | AskKernel | AskVerdict | AskUse | AskManual;
  "answer": string;
};

export type AppendLine = {
  "do": "append_line";
  "path": string;
  "line": string;
};

export type ApprovalEdited = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "approval.edited";
  "approval": string;
  "by": string;
  "reason": string;
  "actions": Array<SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript>;
};

export type ApprovalExpired = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "approval.expired";
  "approval": string;
  "reason": string;
  "drifted"?: boolean;
};

export type ApprovalGiven = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "approval.given";
  "approval": string;
  "by": string;
  "reason": string;
  "via"?: string;
  "given"?: number;
  "of"?: number;
  "token"?: string;
  "made_by"?: Array<string>;
  "about"?: "change" | "reboot";
};

export type ApprovalList = {
  "approvals": Array<ApprovalView>;
};

export type ApprovalPolicy = {
  "file": string;
  "sha256": string;
  "rules": Array<ApprovalRule>;
  "otherwise": number;
  "line": number;
};

export type ApprovalRefused = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "approval.refused";
  "approval": string;
  "by": string;
  "reason": string;
  "about"?: "change" | "reboot";
};

export type ApprovalRequested = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "approval.requested";
  "approval": string;
  "rule": string;
  "attempt": number;
  "binds": string;
  "expires": number;
  "diff"?: string;
  "needs"?: PeopleNeeded | null;
  "about"?: "change" | "reboot";
};

export type ApprovalRule = {
  "line": number;
  "people": number;
  "category"?: Array<"I" | "II" | "III">;
  "breaks"?: Array<string>;
  "cuts_the_line"?: boolean | null;
  "irreversible"?: boolean | null;
  "replayed"?: boolean | null;
};

export type ApprovalView = {
  "id": string;
  "about"?: "change" | "reboot";
  "run": string;
  "host": string;
  "rule": string;
  "title": string;
  "attempt": number;
  "approach": string;
  "steps": Array<string>;
  "risk": string;
  "rollback": string;
  "breaks": string;
  "irreversible": boolean;
  "warnings"?: Array<string>;
  "proposed_by": string;
  "actions": Array<Action>;
  "diff": string;
  "predicted": Foreseen | null;
  "binds": string;
  "asked_at": string;
  "expires": string;
  "simulated": boolean;
  "people"?: number;
  "needs"?: string;
  "given"?: Array<GivenApproval>;
};

export type AskDaemon = {
  "ask": "daemon";
  "program": "sshd" | "sudo";
  "user": string;
  "key"?: string;
};

export type AskFile = {
  "ask": "file";
  "path": string;
  "first"?: number;
};

export type AskKernel = {
  "ask": "kernel";
  "key": string;
};

export type AskManual = {
  "ask": "manual";
  "page": string;
  "section": string;
};

export type AskPackage = {
  "ask": "package";
  "package": string;
};

export type AskUnit = {
  "ask": "unit";
  "unit": string;
};

export type AskUse = {
  "ask": "use";
  "word": string;
};

export type AskVerdict = {
  "ask": "verdict";
};

export type AttemptFailed = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "attempt.failed";
  "rule": string;
  "attempt": number;
  "cause": string;
  "reason": string;
  "replayed"?: string;
};

export type AttemptReflected = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "attempt.reflected";
  "rule": string;
  "attempt": number;
  "decision": "CONTINUE" | "ESCALATE" | "PIVOT";
  "reason": string;
  "banned": Array<string>;
};

export type AttemptStarted = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "attempt.started";
  "rule": string;
  "attempt": number;
  "lessons": Array<Lesson>;
  "seen"?: string;
  "offered"?: ProvenFix | null;
  "vendor"?: boolean;
  "why_roles_stopped"?: string;
};

export type AuditList = {
  "head": string;
  "lines": Array<AuditedRequest>;
  "next": number | null;
};

export type AuditedRequest = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "audit.done";
  "who": string;
  "right": string;
  "via": string;
  "source": string;
  "did": string;
  "status": number;
  "detail"?: string;
  "times"?: number;
  "token"?: string;
  "made_by"?: Array<string>;
};

export type Budget = {
  "run_seconds"?: number;
  "item_seconds"?: number;
  "turn_seconds"?: number;
  "stall_seconds"?: number;
  "approval_seconds"?: number;
  "attempts"?: number;
  "item_tokens"?: number;
  "reboot_seconds"?: number;
};

export type BudgetOrder = {
  "run_seconds"?: number;
  "item_seconds"?: number;
  "turn_seconds"?: number;
  "stall_seconds"?: number;
  "approval_seconds"?: number;
  "attempts"?: number;
  "item_tokens"?: number;
  "reboot_seconds"?: number;
};

export type BuildIntegrityDatabase = {
  "do": "build_integrity_database";
  "tool": "aide";
};

export type Candidate = {
  "source": string;
  "also"?: Array<string>;
  "actions"?: Array<SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript>;
  "gap"?: string;
  "question"?: string;
  "refusal"?: string;
  "diff"?: string;
};

export type CandidateView = {
  "number": number;
  "source": string;
  "also": Array<string>;
  "accepted": boolean;
  "refusal": string;
  "gap": string;
  "diff": string;
  "actions": Array<Action>;
  "taken": boolean;
  "failed": boolean;
};

export type CandidatesGathered = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "candidates";
  "rule": string;
  "candidates": Array<Candidate>;
};

export type ChangeRisk = {
  "category": "I" | "II" | "III";
  "breaks": Array<string>;
  "cuts_the_line": boolean;
  "irreversible": boolean;
  "replayed": boolean;
  "vendor"?: boolean;
  "warnings"?: Array<string>;
};

export type Chmod = {
  "do": "chmod";
  "path": string;
  "mode": string;
};

export type CommandAccepted = {
  "run": string;
  "asked": "pause" | "resume" | "stop";
  "state": string;
};

export type CommandRequest = {
  "reason"?: string;
  "by"?: string;
};

export type DecisionView = {
  "id": string;
  "kind": "approval" | "escalated" | "deferred" | "rollout" | "waiver" | "host" | "run";
  "title": string;
  "why": string;
  "risk": "high" | "medium" | "low";
  "since": string;
  "expires": string | null;
  "host": string;
  "rule": string;
  "run": string;
  "rollout": string;
  "waiver": string;
  "skill": string;
  "simulated": boolean;
  "breaks": string;
  "diff": string;
  "findings": Array<FindingView>;
  "answers": Array<AnswerView>;
};

export type DriftFound = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "drift";
  "rules": Array<string>;
  "since": string;
};

export type EngineList = {
  "engines": Array<EngineView>;
};

export type EngineView = {
  "name": string;
  "title": string;
  "model": string;
  "precision": string;
  "gpus": Array<number>;
  "tp": number;
  "max_model_len": number;
  "replicas": number;
  "roles": Array<"architect" | "worker" | "auditor" | "sentry">;
  "serving": Array<"architect" | "worker" | "auditor" | "sentry">;
  "simulated": boolean;
  "state": "absent" | "loading" | "ready" | "degraded" | "stalled" | "dead";
  "detail": string;
  "since": string | null;
  "loaded": Figure;
  "to_go": Figure;
  "replica_states": Array<string>;
  "running": number | null;
  "waiting": number | null;
  "foreign": number | null;
  "tokens_per_second": Figure;
  "prompt_tokens_per_second": Figure;
  "kv_used": Figure;
  "main_memory": Figure;
  "kv_tokens": Figure;
  "acceptance_rate": Figure;
  "acceptance_length": Figure;
  "cached_share": Figure;
  "prefix_hit_rate": Figure;
  "preemptions": number | null;
  "turns_waiting": number;
  "longest_wait": Figure;
  "waits_for": string;
  "limit": Figure;
};

export type Event = RunQueued | RunPreparing | RunStarted | InForceChecked | RunScoped | RebootChecked | RebootSkipped | RebootAnnounced | RebootReturned | RebootLost | RebootUndone | RebootCompared | DriftFound | RunPaused | RunResumed | RunWaiting | RunWaitEnded | RunStopRequested | RunStopped | RunFinished | RunFailed | ScanStarted | ScanProgressed | VerdictGiven | ScanFinished | ItemStarted | ItemPassed | FixProven | AttemptStarted | AttemptFailed | AttemptReflected | LessonLearnt | PlanMade | QuestionsAnswered | ActionProposed | ActionRefused | ActionsAllowed | Rehearsed | ActionApplying | ActionApplied | ActionFailedToApply | FactsGathered | ActionRollingBack | ActionRolledBack | VerdictExplained | SentryProbed | SentryClear | SentryAlarm | ItemEscalated | ItemSkipped | ItemDeferred | CandidatesGathered | TurnStarted | TurnDelta | TurnFinished | TurnInterrupted | ApprovalRequested | ApprovalGiven | ApprovalRefused | ApprovalEdited | ApprovalExpired;

export type EventList = {
  "run": string;
  "events": Array<Event>;
  "newest": number;
  "next": number | null;
};

export type FactsGathered = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "facts";
  "rule": string;
  "attempt": number;
  "facts": Array<string>;
};

export type Failure = {
  "attempt": number;
  "cause": string;
  "reason": string;
};

export type Fault = {
  "field": string;
  "detail": string;
};

export type Figure = {
  "value": number | null;
  "unit": string;
  "provenance": "measured" | "derived" | "estimated" | "simulated" | "unsupported";
  "source": string;
  "at": string | null;
};

export type FileChange = {
  "path": string;
  "before": string | null;
  "after": string | null;
};

export type FindingForecastView = {
  "rule": string;
  "title": string;
  "source": string;
  "actions": Array<Record<string, unknown>>;
  "asks_a_person": boolean;
  "question": string;
  "reason": string;
};

export type FindingView = {
  "rule": string;
  "title": string;
  "category": string;
  "run": string;
  "reason": string;
  "breaks": string;
};

export type FixProven = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "fix.proven";
  "rule": string;
  "attempt": number;
  "fix": ProvenFix;
};

export type ForecastView = {
  "host": string;
  "skill": string;
  "simulated": boolean;
  "rules": number;
  "seconds": number | null;
  "findings": Array<FindingForecastView>;
};

export type Foreseen = {
  "word": "pass" | "fail" | "error" | "notapplicable" | "unknown";
  "evidence": string;
  "scanner": string;
};

export type GivenApproval = {
  "by": string;
  "reason": string;
  "token"?: string;
  "made_by"?: Array<string>;
};

export type GpuHistory = {
  "memory_used": Series;
  "utilization": Series;
  "power": Series;
  "temperature": Series;
  "sm_clock": Series;
};

export type GpuList = {
  "gpus": Array<GpuView>;
  "reason": string;
};

export type GpuOfLineup = {
  "index": number;
  "kind": string;
  "memory": Figure;
  "bandwidth": Figure;
};

export type GpuView = {
  "gpu": number;
  "host": string;
  "name": string;
  "engines": Array<string>;
  "simulated": boolean;
  "unified": boolean;
  "mig": boolean;
  "throttled": Array<string>;
  "ecc_uncorrected": number | null;
  "memory_used": Figure;
  "memory_total": Figure;
  "memory_reserved": Figure;
  "utilization": Figure;
  "power": Figure;
  "power_limit": Figure;
  "temperature": Figure;
  "energy": Figure;
  "sm_clock": Figure;
  "memory_clock": Figure;
  "pcie_received": Figure;
  "pcie_sent": Figure;
  "processes": Array<ProcessView>;
  "waterfall": Array<PartView>;
  "history": GpuHistory;
};

export type GroupList = {
  "groups": Array<GroupView>;
};

export type GroupOrder = {
  "hosts": Array<string>;
};

export type GroupView = {
  "name": string;
  "hosts": Array<string>;
};

export type HostList = {
  "hosts": Array<HostView>;
};

export type HostOrder = {
  "name": string;
  "kind": string;
  "place"?: string;
  "way"?: "key" | "agent" | "password";
  "secret_at"?: string;
  "accept_key"?: string;
};

export type HostPartView = {
  "host": string;
  "wave": number;
  "run": string | null;
  "state": string;
  "findings": number;
  "passed": number;
  "escalated": number;
  "rolled_back": number;
  "harm": string;
};

export type HostScope = {
  "kind"?: "all" | "group" | "host";
  "name"?: string;
};

export type HostView = {
  "name": string;
  "kind": string;
  "title": string;
  "simulated": boolean;
  "run": string | null;
  "place"?: string | null;
  "way"?: string | null;
  "fingerprint"?: string | null;
  "groups"?: Array<string>;
};

export type IdleEnergy = {
  "gpu_seconds": Figure;
  "energy": Figure;
};

export type InForceChecked = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "force";
  "rule"?: string;
  "attempt"?: number;
  "boot"?: string;
  "asked"?: Array<string>;
  "behind"?: Array<PendingSetting>;
};

export type InboxView = {
  "count": number;
  "decisions": Array<DecisionView>;
};

export type Index = {
  "version": string;
  "description": string;
  "docs": string;
  "addresses": Record<string, string>;
};

export type InstallPackage = {
  "do": "install_package";
  "package": string;
};

export type ItemDeferred = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "item.deferred";
  "rule": string;
  "reason": string;
};

export type ItemEscalated = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "item.escalated";
  "rule": string;
  "reason": string;
  "reopened"?: boolean;
  "replayed"?: string;
  "question"?: string;
};

export type ItemList = {
  "run": string;
  "seq": number;
  "simulated": boolean;
  "items": Array<ItemView>;
};

export type ItemPassed = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "item.passed";
  "rule": string;
  "attempts": number;
  "lessons"?: Array<string>;
  "replayed"?: string;
};

export type ItemSkipped = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "item.skipped";
  "rule": string;
  "reason": string;
  "waiver"?: string;
};

export type ItemStarted = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "item.started";
  "rule": string;
  "title": string;
  "category": "I" | "II" | "III";
};

export type ItemStory = {
  "run": string;
  "seq": number;
  "simulated": boolean;
  "item": ItemView;
  "candidates": Array<CandidateView>;
  "events": Array<Event>;
};

export type ItemView = {
  "rule": string;
  "title": string;
  "category": "I" | "II" | "III";
  "status": "waiting" | "working" | "passed" | "escalated" | "skipped" | "deferred" | "waived";
  "reason": string;
  "attempts": number;
  "tokens": number;
  "started_at": string | null;
  "ended_at": string | null;
  "opening": "pass" | "fail" | "error" | "notapplicable" | "unknown" | null;
  "closing": "pass" | "fail" | "error" | "notapplicable" | "unknown" | null;
  "failures": Array<Failure>;
  "lessons": Array<string>;
  "not_in_force": Array<SetNotInForce>;
};

export type KeyView = {
  "algorithm": string;
  "public": string;
};

export type Lesson = {
  "id": string;
  "rule": string;
  "mechanism": string;
  "environment": string;
  "advice": string;
};

export type LessonLearnt = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "lesson";
  "rule": string;
  "attempt": number;
  "lesson": Lesson;
};

export type LessonList = {
  "lessons": Array<LessonView>;
  "next": string | null;
};

export type LessonView = {
  "id": string;
  "rule": string;
  "host": string;
  "run": string;
  "at": string;
  "simulated": boolean;
  "mechanism": string;
  "environment": string;
  "advice": string;
  "uses": number;
  "hits": number;
};

export type LineupChangeView = {
  "title": string;
  "waits_for_runs": number;
};

export type LineupView = {
  "name": string;
  "title": string;
  "note": string;
  "simulated": boolean;
  "gpus": Array<GpuOfLineup>;
  "engines": Array<string>;
  "seats": Array<SeatView>;
};

export type Link = {
  "next": string | null;
  "previous": string | null;
};

export type MadeLink = {
  "id": string;
  "path": string;
  "expires_at": string;
};

export type MadeToken = {
  "id": string;
  "person": string;
  "right": "viewer" | "operator" | "admin";
  "label": string;
  "made_at": string;
  "expires_at": string;
  "used_at": string | null;
  "made_by"?: string;
  "secret": string;
};

export type Mark = {
  "at": number;
  "kind": "run" | "passed" | "escalated" | "deferred" | "undone" | "alarm" | "asks" | "engine" | "hand-over";
  "run": string;
  "seq": number;
  "text": string;
};

export type Me = {
  "name": string;
  "right": "viewer" | "operator" | "admin";
  "via": "demo" | "session" | "token" | "link";
};

export type ModelSeats = {
  "inspection": string;
  "models"?: Record<string, string>;
};

export type NewLink = {
  "run"?: string | null;
  "hours"?: number;
};

export type NewPerson = {
  "name": string;
  "right": "viewer" | "operator" | "admin";
  "password": string;
};

export type NewToken = {
  "label": string;
  "right"?: "viewer" | "operator" | "admin";
  "days"?: number;
  "person"?: string | null;
};

export type NewWebhook = {
  "id": string;
  "url": string;
  "kinds": Array<string>;
  "template": string;
  "local": boolean;
  "created_at": string;
  "delivered": number;
  "dropped": number;
  "problem": string;
  "secret": string;
};

export type NodeList = {
  "shared": boolean;
  "nodes": Array<NodeView>;
  "given_up": Array<string>;
  "held": Array<string>;
};

export type NodeView = {
  "name": string;
  "kind": "serve" | "worker" | "run";
  "started_at": string;
  "silent": Figure;
  "leads": boolean;
  "clock_off": Figure;
  "runs": Array<string>;
  "answers": boolean;
};

export type OwnServerOrder = {
  "address": string;
  "key"?: string;
  "model"?: string;
};

export type OwnServerView = {
  "inspection": string;
  "base": string;
  "model": string;
  "models": Array<string>;
  "program": string;
  "context": number;
  "structured": boolean;
  "metrics": boolean;
  "findings": Array<ServerFinding>;
};

export type ParameterList = {
  "skill": string;
  "parameters": Array<ParameterView>;
};

export type ParameterOrder = {
  "value": string;
  "host"?: string | null;
  "group"?: string | null;
  "skill"?: string;
};

export type ParameterSet = {
  "value": string;
  "host": string | null;
  "group": string | null;
  "by": string;
  "at": string | null;
};

export type ParameterUsed = {
  "name": string;
  "value": string;
  "sha256": string;
  "rules": Array<string>;
  "where": string;
};

export type ParameterView = {
  "name": string;
  "title": string;
  "kind": "number" | "text" | "boolean";
  "value": string;
  "where": string;
  "usual": string;
  "bounds": string;
  "least": number | null;
  "most": number | null;
  "choices": Array<string>;
  "rules": Array<string>;
  "set_for": Array<ParameterSet>;
};

export type PartView = {
  "kind": "weights" | "kv" | "graphs" | "engine" | "processes" | "other" | "reserved" | "free";
  "engine": string;
  "memory": Figure;
  "claimed": Figure | null;
};

export type PendingSetting = {
  "program": string;
  "setting": string;
  "wanted": string;
  "running": string;
  "by": string;
};

export type PeopleNeeded = {
  "people": number;
  "why": string;
  "by": string;
  "sha256"?: string;
  "risk"?: ChangeRisk | null;
};

export type PersonList = {
  "people": Array<PersonView>;
};

export type PersonView = {
  "name": string;
  "right": "viewer" | "operator" | "admin";
  "disabled": boolean;
  "made_at": string;
};

export type PlanList = {
  "lineup": string;
  "title": string;
  "engines": Array<PlanView>;
};

export type PlanMade = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "plan";
  "rule": string;
  "attempt": number;
  "approach": string;
  "paths": Array<string>;
  "steps": Array<string>;
  "risk": string;
  "rollback": string;
  "validation": string;
  "candidate"?: number;
  "without_role"?: boolean;
};

export type PlanView = {
  "name": string;
  "gpus": Array<number>;
  "replicas": number;
  "fits": boolean | null;
  "says": string;
  "figures": Record<string, Figure>;
};

export type Point = {
  "at": string;
  "value": number | null;
};

export type Probe = {
  "name": string;
  "ok": boolean;
  "detail": string;
  "holds"?: Array<string>;
  "weak"?: Array<string>;
  "asked"?: boolean | null;
};

export type ProbeList = {
  "probes": Array<ProbeView>;
  "under_way": string;
  "ended": string;
};

export type ProbeOrder = {
  "engine"?: string;
};

export type ProbeView = {
  "id": string;
  "at": string;
  "lineup": string;
  "engine": string;
  "replica": number;
  "simulated": boolean;
  "gpus": Array<string>;
  "conditions": Record<string, string>;
  "figures": Record<string, Figure>;
  "problem": string;
  "notes": Array<string>;
};

export type ProblemBody = {
  "type": string;
  "title": string;
  "status": number;
  "detail": string;
  "errors"?: Array<Fault>;
};

export type ProcessView = {
  "pid": number;
  "name": string;
  "engine": string;
  "memory": Figure;
};

export type ProvenFix = {
  "id": string;
  "rule": string;
  "host": string;
  "run": string;
  "attempt": number;
  "played": boolean;
  "seen": string;
  "changes": Array<FileChange>;
  "approach": string;
  "paths": Array<string>;
  "steps": Array<string>;
  "risk": string;
  "rollback": string;
  "validation": string;
  "actions": Array<SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod | Reload | SetAgeing | SetCryptoPolicy | BuildIntegrityDatabase | AddMountOptions | InstallPackage | RemovePackage | SetPermissions | SetSelinuxType | SetUnit | RunVendorScript>;
  "note": string;
  "fingerprint": string;
  "by"?: string;
};

export type Published = {
  "file": string;
  "sha256": string;
  "id": string;
  "title": string;
  "version": string;
  "release": string;
  "rules": Array<PublishedRule>;
};

export type PublishedRule = {
  "rule": string;
  "group": string;
  "id": string;
  "stig_id"?: string;
  "group_title"?: string;
  "title"?: string;
  "ccis"?: Array<string>;
  "discussion"?: string;
  "check"?: string;
  "fix"?: string;
};

export type QuestionsAnswered = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "questions";
  "rule": string;
  "attempt": number;
  "answers": Array<AnsweredQuestion>;
  "why"?: string;
};

export type Readiness = {
  "ready": boolean;
  "reasons": Array<string>;
  "engines": Record<string, string>;
  "faults"?: Array<string>;
};

export type RebootAnnounced = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "reboot.announced";
  "host": string;
  "boot": string;
  "until": number;
  "rules": Array<string>;
  "journals"?: Array<string>;
  "emulated"?: boolean;
  "snapshot"?: string;
  "undo_seconds"?: number;
};

export type RebootChecked = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "reboot.checked";
  "of": string;
  "boot_before": string;
  "boot_now": string;
  "rebooted": boolean;
  "slipped"?: Array<string>;
  "arrived"?: Array<string>;
  "waiting"?: Array<string>;
  "behind"?: Array<PendingSetting>;
  "worse"?: string;
};

export type RebootCompared = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "reboot.compared";
  "host": string;
  "held": Array<string>;
  "lost"?: Array<string>;
  "slipped"?: Array<string>;
};

export type RebootLost = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "reboot.lost";
  "host": string;
  "seconds": number;
  "reason": string;
  "console"?: Array<string>;
};

export type RebootReturned = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "reboot.returned";
  "host": string;
  "boot": string;
  "seconds": number;
  "probes": Array<Probe>;
  "undone"?: boolean;
};

export type RebootSkipped = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "reboot.skipped";
  "host": string;
  "reason": string;
};

export type RebootUndone = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "reboot.undone";
  "host": string;
  "snapshot": string;
  "rules": Array<string>;
  "paths": Array<string>;
  "differences": Array<string>;
  "probes": Array<Probe>;
  "seconds": number;
};

export type Redelivery = {
  "run": string;
};

export type Rehearsed = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "action.rehearsed";
  "rule": string;
  "attempt": number;
  "word": "error" | "fail" | "notapplicable" | "pass" | "unknown";
  "evidence": string;
  "scanner"?: string;
};

export type Reload = {
  "do": "reload";
  "service": string;
};

export type RemoveLine = {
  "do": "remove_line";
  "path": string;
  "line": string;
};

export type RemovePackage = {
  "do": "remove_package";
  "package": string;
};

export type ReplaceLine = {
  "do": "replace_line";
  "path": string;
  "old": string;
  "new": string;
};

export type RoleEnergy = {
  "role": "architect" | "worker" | "auditor" | "sentry";
  "gpu_seconds": Figure;
  "energy": Figure;
  "tokens": number;
  "energy_per_token": Figure;
};

export type RolloutLinks = {
  "self": string;
  "stream": string;
  "evidence": string;
  "page": string;
};

export type RolloutList = {
  "rollouts": Array<RolloutView>;
};

export type RolloutOrder = {
  "host"?: string;
  "skill"?: string;
  "rules"?: Array<string> | null;
  "profile"?: "all" | "cat-1" | "cat-2" | "cat-3" | null;
  "mode"?: "auto" | "review" | "dry-run" | "scan" | null;
  "budget"?: BudgetOrder;
  "keep"?: boolean;
  "note"?: string;
  "consent"?: string;
  "replay_fixes"?: boolean;
  "engine"?: "lineup" | "none";
  "after_reboot"?: boolean;
  "reboot"?: boolean;
  "by"?: string;
  "hosts": string | Array<string>;
  "at_once"?: number;
  "waves"?: string | Array<string>;
  "harmed"?: number;
  "escalated"?: number;
};

export type RolloutStanding = {
  "id": string;
  "state": "running" | "paused" | "stopping" | "finished" | "stopped";
  "hosts": number;
  "words": string;
  "skill": string;
  "mode": string;
  "simulated": boolean;
  "note": string;
  "by": string;
  "reason": string;
  "asked_at": string;
  "ended_at": string | null;
  "links": RolloutLinks;
  "waves": Array<number>;
  "at_once": number;
  "asks": boolean;
  "done": number;
  "parts": Array<HostPartView>;
};

export type RolloutView = {
  "id": string;
  "state": "running" | "paused" | "stopping" | "finished" | "stopped";
  "hosts": number;
  "words": string;
  "skill": string;
  "mode": string;
  "simulated": boolean;
  "note": string;
  "by": string;
  "reason": string;
  "asked_at": string;
  "ended_at": string | null;
  "links": RolloutLinks;
};

export type RuleList = {
  "skill": string;
  "title": string;
  "rules": Array<RuleView>;
};

export type RuleView = {
  "id": string;
  "stig_id": string;
  "category": "I" | "II" | "III";
  "title": string;
  "requirement": string;
  "fix": string;
  "paths": Array<string>;
  "depends": Array<string>;
  "irreversible": boolean;
  "breaks": string;
};

export type RunChange = {
  "name"?: string | null;
  "tags"?: Array<string> | null;
};

export type RunEnergy = {
  "run": string;
  "final": boolean;
  "simulated": boolean;
  "pace": number | null;
  "until": string | null;
  "roles": Array<RoleEnergy>;
  "between": IdleEnergy | null;
  "reason": string;
};

export type RunFailed = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.failed";
  "reason": string;
};

export type RunFinished = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.finished";
  "passed": number;
  "escalated": number;
  "skipped": number;
  "deferred": number;
  "regressions": Array<string>;
  "tree": string;
  "waived"?: number;
};

export type RunLinks = {
  "self": string;
  "items": string;
  "events": string;
  "stream": string;
  "energy": string;
  "evidence": string;
  "page": string;
};

export type RunList = {
  "runs": Array<RunView>;
  "cursors": Link;
};

export type RunOrder = {
  "host": string;
  "skill"?: string;
  "rules"?: Array<string> | null;
  "profile"?: "all" | "cat-1" | "cat-2" | "cat-3" | null;
  "mode"?: "auto" | "review" | "dry-run" | "scan" | null;
  "budget"?: BudgetOrder;
  "keep"?: boolean;
  "note"?: string;
  "consent"?: string;
  "replay_fixes"?: boolean;
  "engine"?: "lineup" | "none";
  "after_reboot"?: boolean;
  "reboot"?: boolean;
  "by"?: string;
};

export type RunPaused = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.paused";
  "by": string;
};

export type RunPreparing = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.preparing";
  "worker": string;
};

export type RunQueued = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.queued";
  "host": string;
  "skill": string;
  "rules": Array<string>;
  "mode": "auto" | "dry-run" | "review" | "scan";
  "budget": Budget;
  "lineup": string;
  "simulated": boolean;
  "pace"?: number | null;
  "note"?: string;
  "keep"?: boolean;
  "by"?: string;
  "consent"?: string;
  "replay_fixes"?: boolean;
  "after_reboot"?: boolean;
  "whose"?: string;
  "token"?: string;
  "engine"?: "lineup" | "none";
  "reboot"?: boolean;
};

export type RunResumed = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.resumed";
  "by": string;
  "after_crash"?: boolean;
  "reason"?: string;
};

export type RunScoped = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.scoped";
  "order": Array<string>;
  "compliant": Array<string>;
  "undecided": Array<string>;
};

export type RunStarted = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.started";
  "worker": string;
  "confinement": string;
  "scanner": string;
  "probes": Array<Probe>;
  "temper"?: string;
  "seats"?: Array<SeatTaken>;
  "simulated"?: boolean | null;
  "rulebook"?: string;
  "published"?: Published | null;
  "waivers"?: Array<Waiver>;
  "tailored"?: Tailored | null;
  "parameters"?: Array<ParameterUsed>;
  "approvals"?: ApprovalPolicy | null;
  "key"?: string;
  "disposable"?: boolean;
};

export type RunStopRequested = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.stopping";
  "by": string;
  "reason": string;
};

export type RunStopped = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.stopped";
  "by": string;
  "reason": string;
  "tree": string;
};

export type RunVendorScript = {
  "do": "run_vendor_script";
  "rule": string;
  "sha256": string;
  "script": string;
};

export type RunView = {
  "id": string;
  "host": string;
  "state": "queued" | "running" | "paused" | "finished" | "failed" | "stopped";
  "mode": "auto" | "review" | "dry-run" | "scan";
  "skill": string;
  "lineup": string;
  "simulated": boolean;
  "note": string;
  "name": string;
  "tags": Array<string>;
  "reason": string;
  "waiting_for"?: string;
  "queued_at": string;
  "started_at": string | null;
  "ended_at": string | null;
  "duration": Figure;
  "findings": number;
  "passed": number;
  "escalated": number;
  "skipped": number;
  "deferred": number;
  "waived": number;
  "rolled_back": number;
  "drifted": number;
  "regressed": number;
  "tokens": number;
  "tokens_in"?: number;
  "shrunk_at": string | null;
  "links": RunLinks;
};

export type RunWaitEnded = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.wait_ended";
  "seconds": number;
};

export type RunWaiting = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "run.waiting";
  "cause": "engine" | "host" | "storage";
  "reason": string;
  "engine"?: string;
};

export type SampleSeries = {
  "kind": "engine" | "gpu" | "role" | "run";
  "of": string;
  "host": string;
  "figure": string;
  "unit": string;
  "provenance": "measured" | "derived" | "estimated" | "simulated" | "unsupported";
  "source": string;
  "how": "mean" | "most";
  "values": Array<number | null>;
};

export type Samples = {
  "since": string;
  "until": string;
  "step": number;
  "times": Array<number>;
  "series": Array<SampleSeries>;
  "marks": Array<Mark>;
};

export type Sampling = {
  "top_p"?: number | null;
  "top_k"?: number | null;
  "min_p"?: number | null;
  "thinking"?: boolean;
  "thinking_tokens"?: number | null;
  "guided"?: boolean;
  "candidates"?: boolean;
  "questions"?: boolean;
};

export type ScanFinished = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "scan.finished";
  "phase": "attempt" | "closing" | "opening" | "recheck" | "rehearsal";
  "seconds": number;
};

export type ScanProgressed = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "scan.progress";
  "phase": "attempt" | "closing" | "opening" | "recheck" | "rehearsal";
  "judged": number;
  "rules": number;
};

export type ScanStarted = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "scan.started";
  "phase": "attempt" | "closing" | "opening" | "recheck" | "rehearsal";
  "rules": number;
};

export type ScanView = {
  "host": string;
  "skill": string;
  "scanner": string;
  "simulated": boolean;
  "verdicts": Array<VerdictView>;
};

export type ScheduleList = {
  "schedules": Array<ScheduleView>;
};

export type ScheduleOrder = {
  "host"?: string;
  "hosts"?: string | Array<string>;
  "at_once"?: number;
  "waves"?: string | Array<string>;
  "harmed"?: number;
  "escalated"?: number;
  "cron": string;
  "zone"?: string;
  "mode"?: "auto" | "review" | "dry-run" | "scan";
  "skill"?: string;
  "rules"?: Array<string> | null;
  "window_minutes"?: number | null;
};

export type ScheduleView = {
  "id": string;
  "host": string;
  "rollout": boolean;
  "skill": string;
  "rules": Array<string>;
  "mode": "auto" | "review" | "dry-run" | "scan";
  "cron": string;
  "zone": string;
  "window_minutes": number | null;
  "enabled": boolean;
  "by": string;
  "next_at": string | null;
  "fired_at": string | null;
  "run": string | null;
  "outcome": string;
  "unkept": boolean;
};

export type SeatTaken = {
  "role": "architect" | "auditor" | "sentry" | "worker";
  "engine": string;
  "model": string;
  "precision": string;
  "vllm": string;
  "replicas": number;
  "temperature": number;
  "max_tokens": number;
  "max_model_len": number;
  "sampling"?: Sampling;
};

export type SeatView = {
  "role": "architect" | "worker" | "auditor" | "sentry";
  "engine": string;
  "temperature": number;
  "max_tokens": number;
};

export type SentryAlarm = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "sentry.alarm";
  "rule": string;
  "attempt": number;
  "reason": string;
  "by": string;
};

export type SentryClear = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "sentry.clear";
  "rule": string;
  "attempt": number;
  "assessment": string;
};

export type SentryProbed = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "sentry.probed";
  "rule": string;
  "attempt": number;
  "probes": Array<Probe>;
  "drift": Array<string>;
  "log": Array<string>;
  "ailing"?: Array<string>;
};

export type Series = {
  "unit": string;
  "provenance": "measured" | "derived" | "estimated" | "simulated" | "unsupported";
  "source": string;
  "points": Array<Point>;
};

export type ServerFinding = {
  "name": string;
  "found": string;
  "without": string;
};

export type SetAgeing = {
  "do": "set_ageing";
  "account": string;
  "setting": "inactive" | "max" | "min" | "warn";
  "days": number;
};

export type SetCryptoPolicy = {
  "do": "set_crypto_policy";
  "policy": string;
};

export type SetNotInForce = {
  "program": string;
  "setting": string;
  "wanted": string;
  "running": string;
  "by": string;
};

export type SetOption = {
  "do": "set_option";
  "path": string;
  "key": string;
  "value": string;
};

export type SetPermissions = {
  "do": "set_permissions";
  "path": string;
  "mode"?: string;
  "owner"?: string;
};

export type SetSelinuxType = {
  "do": "set_selinux_type";
  "folder": string;
  "type": string;
};

export type SetUnit = {
  "do": "set_unit";
  "unit": string;
  "to": "disable" | "enable" | "enable-now" | "mask" | "set-default" | "start" | "stop" | "unmask";
};

export type Tailored = {
  "file": string;
  "sha256": string;
  "id": string;
  "version": string;
  "profile": string;
  "left_out"?: Array<string>;
};

export type TailoredProfileView = {
  "skill": string;
  "tailoring": string;
  "content": string;
  "profile": string;
  "title": string;
  "rules": number;
  "left_out": number;
  "version": string;
  "sha256": string;
};

export type TailoringList = {
  "profiles": Array<TailoredProfileView>;
};

export type TailoringOrder = {
  "name": string;
  "content": string;
  "document": string;
};

export type TokenList = {
  "tokens": Array<TokenView>;
};

export type TokenView = {
  "id": string;
  "person": string;
  "right": "viewer" | "operator" | "admin";
  "label": string;
  "made_at": string;
  "expires_at": string;
  "used_at": string | null;
  "made_by"?: string;
};

export type TurnDelta = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "turn.delta";
  "turn": string;
  "role": "architect" | "auditor" | "sentry" | "worker";
  "channel": "answer" | "thought";
  "text": string;
  "tokens": number;
};

export type TurnFinished = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "turn.finished";
  "turn": string;
  "role": "architect" | "auditor" | "sentry" | "worker";
  "purpose": "act" | "plan" | "reflect" | "review" | "triage";
  "outcome": "answered" | "broken" | "died" | "over_budget" | "refused" | "stalled" | "unavailable";
  "detail": string;
  "thought": string;
  "answer": string;
  "finish_reason"?: string;
  "prompt_tokens"?: number;
  "completion_tokens"?: number;
  "ttft"?: number | null;
  "decode_rate"?: number | null;
  "seconds"?: number;
  "leaked"?: boolean;
  "looped"?: boolean;
  "lost"?: boolean;
};

export type TurnInterrupted = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "turn.interrupted";
  "turn": string;
  "reason": string;
};

export type TurnStarted = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "turn.started";
  "turn": string;
  "rule": string;
  "attempt": number;
  "role": "architect" | "auditor" | "sentry" | "worker";
  "purpose": "act" | "plan" | "reflect" | "review" | "triage";
  "engine": string;
  "model": string;
  "replica": number;
  "max_tokens": number;
  "prompt": Array<unknown>;
  "prompts"?: string;
  "waited_ms"?: number;
};

export type UsageList = {
  "usage": Array<UsageView>;
};

export type UsageView = {
  "period": string;
  "person": string;
  "token": string | null;
  "label": string;
  "simulated": boolean;
  "runs": number;
  "tokens_in": number;
  "tokens_out": number;
  "gpu_seconds": Figure;
  "energy": Figure;
  "runs_with_energy": number;
};

export type VerdictExplained = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "verdict.explained";
  "rule": string;
  "attempt": number;
  "explanation": string;
  "veto": boolean;
  "reason": string;
};

export type VerdictGiven = {
  "seq": number;
  "at": string;
  "run": string;
  "kind": "verdict";
  "rule": string;
  "phase": "attempt" | "closing" | "opening" | "recheck" | "rehearsal";
  "word": "error" | "fail" | "notapplicable" | "pass" | "unknown";
  "evidence": string;
  "scanner": string;
  "attempt"?: number;
  "path"?: string | null;
  "line"?: number | null;
};

export type VerdictView = {
  "rule": string;
  "word": "pass" | "fail" | "error" | "notapplicable" | "unknown";
  "evidence": string;
  "path": string | null;
  "line": number | null;
};

export type Waiver = {
  "id": string;
  "rule": string;
  "scope": HostScope;
  "owner": string;
  "reason": string;
  "ticket": string;
  "since": string;
  "until": string;
};

export type WaiverEnd = {
  "reason": string;
};

export type WaiverList = {
  "waivers": Array<WaiverView>;
};

export type WaiverOrder = {
  "rule": string;
  "host"?: string | null;
  "group"?: string | null;
  "owner": string;
  "reason": string;
  "ticket"?: string;
  "until": string;
  "skill"?: string;
};

export type WaiverView = {
  "id": string;
  "rule": string;
  "host": string | null;
  "group": string | null;
  "owner": string;
  "reason": string;
  "ticket": string;
  "until": string;
  "state": "in force" | "over" | "taken back";
  "by": string;
  "made_at": string;
  "ended_at": string | null;
  "ended_by": string;
  "ended_why": string;
};

export type WebhookChange = {
  "local"?: boolean | null;
  "template"?: string | null;
};

export type WebhookList = {
  "webhooks": Array<WebhookView>;
};

export type WebhookOrder = {
  "url": string;
  "secret"?: string | null;
  "kinds"?: Array<string>;
  "template"?: string;
  "local"?: boolean;
};

export type WebhookTrial = {
  "taken": boolean;
  "problem": string;
};

export type WebhookView = {
  "id": string;
  "url": string;
  "kinds": Array<string>;
  "template": string;
  "local": boolean;
  "created_at": string;
  "delivered": number;
  "dropped": number;
  "problem": string;
};

export type WriteFile = {
  "do": "write_file";
  "path": string;
  "content": string;
  "mode"?: string;
};

/** What each operation takes and answers. */
export interface Calls {
  index: { given: {  }; answer: Index };
  start_run: { given: { headers?: { "Idempotency-Key"?: string | null }; body: RunOrder }; answer: Accepted };
  list_runs: { given: { query?: { "cursor"?: string | null; "state"?: "queued" | "running" | "paused" | "finished" | "failed" | "stopped" | null; "host"?: string | null; "tag"?: string | null; "q"?: string; "limit"?: number } }; answer: RunList };
  forecast_run: { given: { body: RunOrder }; answer: ForecastView };
  show_run: { given: { path: { "run": string } }; answer: RunView };
  change_run: { given: { path: { "run": string }; body: RunChange }; answer: RunView };
  pause_run: { given: { path: { "run": string }; body?: CommandRequest }; answer: CommandAccepted };
  resume_run: { given: { path: { "run": string }; body?: CommandRequest }; answer: CommandAccepted };
  stop_run: { given: { path: { "run": string }; body?: CommandRequest }; answer: CommandAccepted };
  start_rollout: { given: { headers?: { "Idempotency-Key"?: string | null }; body: RolloutOrder }; answer: AcceptedRollout };
  list_rollouts: { given: { query?: { "limit"?: number } }; answer: RolloutList };
  show_rollout: { given: { path: { "rollout": string } }; answer: RolloutStanding };
  pause_rollout: { given: { path: { "rollout": string }; body?: CommandRequest }; answer: RolloutView };
  resume_rollout: { given: { path: { "rollout": string }; body?: CommandRequest }; answer: RolloutView };
  stop_rollout: { given: { path: { "rollout": string }; body?: CommandRequest }; answer: RolloutView };
  take_rollout_evidence: { given: { path: { "rollout": string } }; answer: Blob };
  list_items: { given: { path: { "run": string } }; answer: ItemList };
  show_item: { given: { path: { "run": string; "rule": string } }; answer: ItemStory };
  show_energy: { given: { path: { "run": string } }; answer: RunEnergy };
  list_events: { given: { path: { "run": string }; query?: { "since"?: number; "limit"?: number; "kind"?: string | null } }; answer: EventList };
  take_pack: { given: { path: { "run": string } }; answer: Blob };
  take_cklb: { given: { path: { "run": string } }; answer: Blob };
  take_ckl: { given: { path: { "run": string } }; answer: Blob };
  take_arf: { given: { path: { "run": string } }; answer: Blob };
  take_xccdf: { given: { path: { "run": string } }; answer: Blob };
  take_poam_csv: { given: { path: { "run": string } }; answer: Blob };
  take_poam_json: { given: { path: { "run": string } }; answer: Blob };
  take_poam_emass: { given: { path: { "run": string } }; answer: Blob };
  take_oscal_poam: { given: { path: { "run": string } }; answer: Blob };
  take_oscal_ar: { given: { path: { "run": string } }; answer: Blob };
  take_ansible: { given: { path: { "run": string } }; answer: Blob };
  take_bash: { given: { path: { "run": string } }; answer: Blob };
  take_report: { given: { path: { "run": string } }; answer: Blob };
  show_key: { given: {  }; answer: KeyView };
  list_approvals: { given: {  }; answer: ApprovalList };
  answer_approval: { given: { path: { "approval": string }; body: Answer }; answer: Answered };
  list_inbox: { given: {  }; answer: InboxView };
  list_engines: { given: {  }; answer: EngineList };
  show_engine: { given: { path: { "engine": string } }; answer: EngineView };
  start_engine: { given: { path: { "engine": string } }; answer: EngineView };
  stop_engine: { given: { path: { "engine": string } }; answer: EngineView };
  show_lineup: { given: {  }; answer: LineupView };
  plan_lineup: { given: { query?: { "lineup"?: string } }; answer: PlanList };
  inspect_own_server: { given: { body: OwnServerOrder }; answer: OwnServerView };
  forget_own_server: { given: {  }; answer: LineupChangeView };
  seat_own_server: { given: { body: ModelSeats }; answer: LineupChangeView };
  list_probes: { given: { query?: { "lineup"?: string; "engine"?: string; "limit"?: number } }; answer: ProbeList };
  start_probe: { given: { body?: ProbeOrder }; answer: ProbeList };
  list_gpus: { given: { query?: { "seconds"?: number } }; answer: GpuList };
  list_samples: { given: { query?: { "since"?: string | null; "until"?: string | null; "step"?: number | null; "kind"?: string; "engine"?: string; "gpu"?: string; "figure"?: string; "run"?: string } }; answer: Samples };
  list_hosts: { given: {  }; answer: HostList };
  add_host: { given: { body: HostOrder }; answer: HostView };
  show_host: { given: { path: { "host": string } }; answer: HostView };
  remove_host: { given: { path: { "host": string } }; answer: null };
  scan_host: { given: { path: { "host": string }; query?: { "skill"?: string } }; answer: ScanView };
  list_groups: { given: {  }; answer: GroupList };
  keep_group: { given: { path: { "group": string }; body: GroupOrder }; answer: GroupView };
  delete_group: { given: { path: { "group": string } }; answer: null };
  list_rules: { given: { query?: { "skill"?: string } }; answer: RuleList };
  show_rule: { given: { path: { "rule": string }; query?: { "skill"?: string } }; answer: RuleView };
  list_lessons: { given: { query?: { "rule"?: string | null; "q"?: string; "cursor"?: string | null; "limit"?: number } }; answer: LessonList };
  list_schedules: { given: {  }; answer: ScheduleList };
  add_schedule: { given: { body: ScheduleOrder }; answer: ScheduleView };
  show_schedule: { given: { path: { "schedule": string } }; answer: ScheduleView };
  delete_schedule: { given: { path: { "schedule": string } }; answer: null };
  handle_schedule: { given: { path: { "schedule": string; "verb": "pause" | "resume" } }; answer: ScheduleView };
  list_waivers: { given: { query?: { "in_force"?: boolean } }; answer: WaiverList };
  add_waiver: { given: { body: WaiverOrder }; answer: WaiverView };
  show_waiver: { given: { path: { "waiver": string } }; answer: WaiverView };
  take_waiver_back: { given: { path: { "waiver": string }; body: WaiverEnd }; answer: WaiverView };
  list_tailorings: { given: {  }; answer: TailoringList };
  add_tailoring: { given: { body: TailoringOrder }; answer: TailoringList };
  take_tailoring_out: { given: { query: { "skill": string; "host"?: string; "group"?: string; "rules"?: string } }; answer: Blob };
  list_parameters: { given: { query?: { "skill"?: string; "host"?: string } }; answer: ParameterList };
  put_parameter: { given: { path: { "parameter": string }; body: ParameterOrder }; answer: ParameterSet };
  delete_parameter: { given: { path: { "parameter": string }; query?: { "skill"?: string; "host"?: string; "group"?: string } }; answer: null };
  list_webhooks: { given: {  }; answer: WebhookList };
  add_webhook: { given: { body: WebhookOrder }; answer: NewWebhook };
  show_webhook: { given: { path: { "webhook": string } }; answer: WebhookView };
  change_webhook: { given: { path: { "webhook": string }; body: WebhookChange }; answer: WebhookView };
  delete_webhook: { given: { path: { "webhook": string } }; answer: null };
  try_webhook: { given: { path: { "webhook": string } }; answer: WebhookTrial };
  send_again: { given: { path: { "webhook": string }; body: Redelivery }; answer: WebhookView };
  who_am_i: { given: {  }; answer: Me };
  list_people: { given: {  }; answer: PersonList };
  add_person: { given: { body: NewPerson }; answer: PersonView };
  disable_person: { given: { path: { "name": string } }; answer: null };
  list_tokens: { given: {  }; answer: TokenList };
  make_token: { given: { body: NewToken }; answer: MadeToken };
  end_token: { given: { path: { "token": string } }; answer: null };
  make_link: { given: { body: NewLink }; answer: MadeLink };
  list_audit: { given: { query?: { "before"?: number | null; "limit"?: number } }; answer: AuditList };
  show_usage: { given: { query?: { "since"?: string; "until"?: string; "per"?: "day" | "month" } }; answer: UsageList };
  export_usage: { given: { query?: { "since"?: string; "until"?: string; "per"?: "day" | "month" } }; answer: Blob };
  list_nodes: { given: {  }; answer: NodeList };
  healthz: { given: {  }; answer: Alive };
  readyz: { given: {  }; answer: Readiness };
  metrics: { given: {  }; answer: Blob };
  take_shared_file: { given: { path: { "run": string }; query?: { "prompts"?: boolean } }; answer: Blob };
}

export const OPERATIONS: { [name in keyof Calls]: readonly [method: string, path: string] } = {
  index: ["GET", "/api/v1"],
  start_run: ["POST", "/api/v1/runs"],
  list_runs: ["GET", "/api/v1/runs"],
  forecast_run: ["POST", "/api/v1/runs/forecast"],
  show_run: ["GET", "/api/v1/runs/{run}"],
  change_run: ["PATCH", "/api/v1/runs/{run}"],
  pause_run: ["POST", "/api/v1/runs/{run}/pause"],
  resume_run: ["POST", "/api/v1/runs/{run}/resume"],
  stop_run: ["POST", "/api/v1/runs/{run}/stop"],
  start_rollout: ["POST", "/api/v1/rollouts"],
  list_rollouts: ["GET", "/api/v1/rollouts"],
  show_rollout: ["GET", "/api/v1/rollouts/{rollout}"],
  pause_rollout: ["POST", "/api/v1/rollouts/{rollout}/pause"],
  resume_rollout: ["POST", "/api/v1/rollouts/{rollout}/resume"],
  stop_rollout: ["POST", "/api/v1/rollouts/{rollout}/stop"],
  take_rollout_evidence: ["GET", "/api/v1/rollouts/{rollout}/evidence.zip"],
  list_items: ["GET", "/api/v1/runs/{run}/items"],
  show_item: ["GET", "/api/v1/runs/{run}/items/{rule}"],
  show_energy: ["GET", "/api/v1/runs/{run}/energy"],
  list_events: ["GET", "/api/v1/runs/{run}/events"],
  take_pack: ["GET", "/api/v1/runs/{run}/evidence.zip"],
  take_cklb: ["GET", "/api/v1/runs/{run}/checklist.cklb"],
  take_ckl: ["GET", "/api/v1/runs/{run}/checklist.ckl"],
  take_arf: ["GET", "/api/v1/runs/{run}/results.arf.xml"],
  take_xccdf: ["GET", "/api/v1/runs/{run}/results.xccdf.xml"],
  take_poam_csv: ["GET", "/api/v1/runs/{run}/poam.csv"],
  take_poam_json: ["GET", "/api/v1/runs/{run}/poam.json"],
  take_poam_emass: ["GET", "/api/v1/runs/{run}/poam.emass.csv"],
  take_oscal_poam: ["GET", "/api/v1/runs/{run}/poam.oscal.json"],
  take_oscal_ar: ["GET", "/api/v1/runs/{run}/results.oscal.json"],
  take_ansible: ["GET", "/api/v1/runs/{run}/playbook.zip"],
  take_bash: ["GET", "/api/v1/runs/{run}/harden.sh"],
  take_report: ["GET", "/api/v1/runs/{run}/report.html"],
  show_key: ["GET", "/api/v1/key"],
  list_approvals: ["GET", "/api/v1/approvals"],
  answer_approval: ["POST", "/api/v1/approvals/{approval}"],
  list_inbox: ["GET", "/api/v1/inbox"],
  list_engines: ["GET", "/api/v1/engines"],
  show_engine: ["GET", "/api/v1/engines/{engine}"],
  start_engine: ["POST", "/api/v1/engines/{engine}/start"],
  stop_engine: ["POST", "/api/v1/engines/{engine}/stop"],
  show_lineup: ["GET", "/api/v1/lineup"],
  plan_lineup: ["GET", "/api/v1/lineup/plan"],
  inspect_own_server: ["POST", "/api/v1/lineup/server"],
  forget_own_server: ["DELETE", "/api/v1/lineup/server"],
  seat_own_server: ["POST", "/api/v1/lineup/seats"],
  list_probes: ["GET", "/api/v1/probes"],
  start_probe: ["POST", "/api/v1/probes"],
  list_gpus: ["GET", "/api/v1/gpus"],
  list_samples: ["GET", "/api/v1/samples"],
  list_hosts: ["GET", "/api/v1/hosts"],
  add_host: ["POST", "/api/v1/hosts"],
  show_host: ["GET", "/api/v1/hosts/{host}"],
  remove_host: ["DELETE", "/api/v1/hosts/{host}"],
  scan_host: ["POST", "/api/v1/hosts/{host}/scan"],
  list_groups: ["GET", "/api/v1/groups"],
  keep_group: ["PUT", "/api/v1/groups/{group}"],
  delete_group: ["DELETE", "/api/v1/groups/{group}"],
  list_rules: ["GET", "/api/v1/rules"],
  show_rule: ["GET", "/api/v1/rules/{rule}"],
  list_lessons: ["GET", "/api/v1/lessons"],
  list_schedules: ["GET", "/api/v1/schedules"],
  add_schedule: ["POST", "/api/v1/schedules"],
  show_schedule: ["GET", "/api/v1/schedules/{schedule}"],
  delete_schedule: ["DELETE", "/api/v1/schedules/{schedule}"],
  handle_schedule: ["POST", "/api/v1/schedules/{schedule}/{verb}"],
  list_waivers: ["GET", "/api/v1/waivers"],
  add_waiver: ["POST", "/api/v1/waivers"],
  show_waiver: ["GET", "/api/v1/waivers/{waiver}"],
  take_waiver_back: ["POST", "/api/v1/waivers/{waiver}/end"],
  list_tailorings: ["GET", "/api/v1/tailorings"],
  add_tailoring: ["POST", "/api/v1/tailorings"],
  take_tailoring_out: ["GET", "/api/v1/tailoring.xml"],
  list_parameters: ["GET", "/api/v1/parameters"],
  put_parameter: ["PUT", "/api/v1/parameters/{parameter}"],
  delete_parameter: ["DELETE", "/api/v1/parameters/{parameter}"],
  list_webhooks: ["GET", "/api/v1/webhooks"],
  add_webhook: ["POST", "/api/v1/webhooks"],
  show_webhook: ["GET", "/api/v1/webhooks/{webhook}"],
  change_webhook: ["PATCH", "/api/v1/webhooks/{webhook}"],
  delete_webhook: ["DELETE", "/api/v1/webhooks/{webhook}"],
  try_webhook: ["POST", "/api/v1/webhooks/{webhook}/test"],
  send_again: ["POST", "/api/v1/webhooks/{webhook}/again"],
  who_am_i: ["GET", "/api/v1/me"],
  list_people: ["GET", "/api/v1/people"],
  add_person: ["POST", "/api/v1/people"],
  disable_person: ["DELETE", "/api/v1/people/{name}"],
  list_tokens: ["GET", "/api/v1/tokens"],
  make_token: ["POST", "/api/v1/tokens"],
  end_token: ["DELETE", "/api/v1/tokens/{token}"],
  make_link: ["POST", "/api/v1/links"],
  list_audit: ["GET", "/api/v1/audit"],
  show_usage: ["GET", "/api/v1/usage"],
  export_usage: ["GET", "/api/v1/usage.csv"],
  list_nodes: ["GET", "/api/v1/nodes"],
  healthz: ["GET", "/healthz"],
  readyz: ["GET", "/readyz"],
  metrics: ["GET", "/metrics"],
  take_shared_file: ["GET", "/api/v1/runs/{run}/shared.html"],
};
