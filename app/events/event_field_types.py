"""The types that events are made of and that the layers above share."""

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

import msgspec
from msgspec import Meta, Struct

from app.events.default_item_budget import ATTEMPTS_PER_ITEM, SECONDS_PER_ITEM
from app.resources import vendor_script
from app.resources.kind import Action, ResourceAction
from app.resources.registry import PLACE_PATTERN, RESOURCE_ACTIONS, get_prefixed_name_of_changed_resource

Role = Literal["architect", "worker", "auditor", "sentry"]
Purpose = Literal["plan", "act", "review", "triage", "reflect"]
Mode = Literal["auto", "review", "dry-run", "scan"]
Category = Literal["I", "II", "III"]
Word = Literal["pass", "fail", "error", "notapplicable", "unknown"]
NO_FINDING: frozenset[Word] = frozenset(("pass", "notapplicable"))
Phase = Literal["opening", "recheck", "attempt", "rehearsal", "closing"]
Channel = Literal["thought", "answer"]
TurnOutcome = Literal["answered", "broken", "died", "stalled", "refused", "unavailable", "over_budget"]
WaitCause = Literal["storage", "engine", "host"]
"""What a run waits for: this machine's disk and folders, an engine, or the line to the host."""
Decision = Literal["CONTINUE", "PIVOT", "ESCALATE"]
Provenance = Literal["measured", "derived", "estimated", "simulated", "unsupported"]

HostPath = Annotated[str, Meta(max_length=256, pattern="^/[^\\x00-\\x1f]*$")]
Place = Annotated[str, Meta(max_length=256, pattern=PLACE_PATTERN)]
"""Target of a plan: the path of a file, or kind and name of another resource."""
Line = Annotated[str, Meta(max_length=512, pattern="^[^\\x00-\\x08\\x0a-\\x1f]*$")]
FileMode = Annotated[str, Meta(pattern="^0[0-7]{3}$")]
Name = Annotated[str, Meta(max_length=64, pattern="^[A-Za-z0-9@._-]+$")]


class SetOption(Action, frozen=True, tag="set_option"):
    """Set `key` to a value, in the syntax of the file at `path`."""

    path: HostPath
    key: Annotated[str, Meta(max_length=128, pattern="^[^\\x00-\\x1f]+$")]
    value: Line


class ReplaceLine(Action, frozen=True, tag="replace_line"):
    path: HostPath
    old: Line
    new: Line


class RemoveLine(Action, frozen=True, tag="remove_line"):
    path: HostPath
    line: Line


class AppendLine(Action, frozen=True, tag="append_line"):
    path: HostPath
    line: Line


class WriteFile(Action, frozen=True, tag="write_file"):
    path: HostPath
    content: Annotated[str, Meta(max_length=8192)]
    mode: FileMode = "0644"


class Chmod(Action, frozen=True, tag="chmod"):
    path: HostPath
    mode: FileMode


class Reload(Action, frozen=True, tag="reload"):
    service: Name


FileAction = SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod
if TYPE_CHECKING:
    AnyAction = FileAction | Reload | ResourceAction
else:
    AnyAction = Union[(FileAction, Reload, *RESOURCE_ACTIONS)]


def fingerprint_actions(actions: Iterable[AnyAction]) -> str:
    """Return a digest of the actions that ignores their order and reloads."""
    parts = (msgspec.json.encode(action) for action in actions if not isinstance(action, Reload))
    return hashlib.sha256(b"\n".join(sorted(parts))).hexdigest()[:16]


class Probe(Struct, frozen=True):
    """A health check and its result."""

    name: str
    ok: bool
    detail: str
    holds: tuple[str, ...] = ()
    """Facts that a run must neither remove nor add to."""
    weak: tuple[str, ...] = ()
    """Weaknesses that a run may remove but not add, e.g. rights without a password, failed units."""
    asked: bool | None = None
    """False if the host could not be asked: `detail` says why, and the result proves nothing. None in older logs."""


class FileChange(Struct, frozen=True):
    """SHA-256 of content, mode and owner before and after; None means absent."""

    path: str
    before: str | None
    after: str | None

    @property
    def is_run_of_vendor_script(self) -> bool:
        return self.path.startswith(vendor_script.KIND.prefix)


class PendingSetting(Struct, frozen=True, kw_only=True):
    """A pending setting: set in the files, not in force yet."""

    program: str
    setting: str
    wanted: str
    """The value in the files."""
    running: str
    by: str
    """What brings it into force."""


def describe_pending_settings(pending: Iterable[PendingSetting]) -> str:
    """Return the pending settings and what would bring them into force."""
    return "; ".join(f"{one.setting} is {one.running}, {one.wanted} wanted: {one.by}" for one in pending)


class Budget(Struct, frozen=True, kw_only=True):
    """Limits after which an item or a run is closed."""

    run_seconds: float = 24 * 3600.0
    item_seconds: float = SECONDS_PER_ITEM
    turn_seconds: float = 300.0
    stall_seconds: float = 60.0
    """Seconds of silence on a stream after which a turn is given up."""
    approval_seconds: float = 24 * 3600.0
    attempts: int = ATTEMPTS_PER_ITEM
    item_tokens: int = 40_000
    reboot_seconds: float = 600.0
    """Seconds until a host must be back after its reboot; three times as many where its processor is emulated."""


class Lesson(Struct, frozen=True, kw_only=True):
    """What a failure taught: the mechanism, and the environment in which it applies."""

    id: str
    rule: str
    mechanism: str
    environment: str
    advice: str


class ProvenFix(Struct, frozen=True, kw_only=True):
    """A change that passed scanner, Auditor, Sentry and health on one host, for equal hosts."""

    id: str
    """RUN.RULE.ATTEMPT"""
    rule: str
    host: str
    run: str
    attempt: int
    played: bool
    """The host was simulated."""
    seen: str
    """SHA-256 over the rules and the files that decide this one, before the change."""
    changes: tuple[FileChange, ...]
    """File changes; it is offered only where all files have the same `before`."""
    approach: str
    paths: tuple[str, ...]
    steps: tuple[str, ...]
    risk: str
    rollback: str
    validation: str
    actions: tuple[AnyAction, ...]
    note: str
    fingerprint: str
    by: str = ""
    """The person who edited it; empty for the Worker's."""

    @property
    def provenance(self) -> str:
        return f"replayed from run {self.run}, attempt {self.attempt}, on {self.host}"


RECIPE_OF = "a recipe of "
"""How a source begins that is a person's recipe file; its name follows."""


def describe_fix_source(source: str) -> str:
    """Return whose fix it is, as the subject of a sentence."""
    if source.startswith(RECIPE_OF):
        return f"A{source[1:]}"
    return f"The content's own fix, from {source}"


SCRIPT_TRIAL = ", tried on a copy"
"""The end of the source of a proposal that a script of the content made on a copy of the host's files."""


class Candidate(Struct, frozen=True, kw_only=True):
    """What the content or a recipe proposes for a rule on a host, before any role is asked; or why it has nothing."""

    source: str
    """Where it comes from, such as "the fix text"."""
    also: tuple[str, ...] = ()
    """Other sources that propose the same."""
    actions: tuple[AnyAction, ...] = ()
    gap: str = ""
    """Why the source proposes nothing here."""
    question: str = ""
    """What a person has to decide before anything can be proposed, in a few words; empty if nothing is known of it."""
    refusal: str = ""
    """Why the policy refuses it; empty if it does not."""
    diff: str = ""

    @property
    def places(self) -> tuple[str, ...]:
        """The files and other resources that it would change."""
        found = (
            get_prefixed_name_of_changed_resource(one) if isinstance(one, ResourceAction) else getattr(one, "path", "")
            for one in self.actions
        )
        return tuple(dict.fromkeys(place for place in found if place))

    @property
    def is_usable(self) -> bool:
        return bool(self.actions) and not self.refusal

    @property
    def is_script_trial(self) -> bool:
        return any(source.endswith(SCRIPT_TRIAL) for source in (self.source, *self.also))

    @property
    def sources(self) -> str:
        return " and ".join((self.source, *self.also))


EngineChoice = Literal["lineup", "none"]
"""Who chooses the changes of a run: the roles on the line-up's engines, or no model at all."""


class Sampling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sampling parameters of a role beside its temperature. None leaves the engine's default."""

    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    thinking: bool = True
    thinking_tokens: int | None = None
    """Token budget for thinking; engines without such a budget ignore it."""
    guided: bool = False
    """Limit keys, values and lines to those in the rule and its files: for small models."""
    candidates: bool = False
    """Show what the content and recipes propose; False in old logs."""
    questions: bool = False
    """Let the Architect ask about the host before it plans; False in old logs."""

    def to_request_fields_besides_temperature(self) -> dict[str, Any]:
        """Return the fields of a completion request."""
        named = {
            "top_p": self.top_p,
            "top_k": self.top_k,
            "min_p": self.min_p,
            "thinking_token_budget": self.thinking_tokens if self.thinking else None,
        }
        given = {name: value for name, value in named.items() if value is not None}
        return given | {"chat_template_kwargs": {"enable_thinking": self.thinking}}


class SeatTaken(Struct, frozen=True, kw_only=True):
    """The engine and settings of a role in a run."""

    role: Role
    engine: str
    model: str
    precision: str
    vllm: str
    """Version in the line-up; empty if not stated."""
    replicas: int
    temperature: float
    max_tokens: int
    max_model_len: int
    sampling: Sampling = Sampling()


class PublishedRule(Struct, frozen=True, kw_only=True):
    """A skill's rule as its benchmark names it; texts that it lacks are empty."""

    rule: str
    """Rule id in the skill."""
    group: str
    """V-257985"""
    id: str
    """SV-257985r1069364_rule: includes the revision, which changes with releases."""
    stig_id: str = ""
    group_title: str = ""
    title: str = ""
    ccis: tuple[str, ...] = ()
    discussion: str = ""
    check: str = ""
    fix: str = ""


class Published(Struct, frozen=True, kw_only=True):
    """The benchmark by which a run's evidence names its rules."""

    file: str
    sha256: str
    id: str
    """RHEL_9_STIG"""
    title: str
    version: str
    release: str
    rules: tuple[PublishedRule, ...]


class ParameterUsed(Struct, frozen=True, kw_only=True):
    """A site value that a run used."""

    name: str
    value: str
    sha256: str
    """SHA-256 of the value."""
    rules: tuple[str, ...]
    """The rules that use it."""
    where: str
    """Its scope: every host, group web, host web-1."""

    @property
    def summary(self) -> str:
        value = self.value if len(self.value) <= SHOWN_VALUE else f"{self.value[:SHOWN_VALUE]}… (sha256 {self.sha256})"
        return f"The site's value: {self.name} = {' '.join(value.split())}, set for {self.where}."


SHOWN_VALUE = 200
"""Characters of a value shown in evidence; longer ones also show their digest."""


class Tailored(Struct, frozen=True, kw_only=True):
    """The tailoring file of a run's profile, with the rules that it excludes."""

    file: str
    sha256: str
    id: str
    version: str
    profile: str
    """Full profile id."""
    left_out: tuple[str, ...] = ()
    """Ids of the excluded rules in the skill."""

    @property
    def file_with_version_and_digest(self) -> str:
        version = f", version {self.version}" if self.version else ""
        return f"{self.file}{version}, sha256 {self.sha256}"

    @property
    def summary(self) -> str:
        count = len(self.left_out)
        by = f"Tailored by {self.file_with_version_and_digest}: profile {self.profile}."
        return f"{by} Rules not applicable by tailoring: {count}."

    @property
    def same_text_for_every_excluded_rule(self) -> str:
        """Text for an excluded rule."""
        file = self.file_with_version_and_digest
        return f"Not applicable by tailoring: the profile {self.profile} of {file} leaves this rule out."


class GpuProcess(Struct, frozen=True):
    """A process that uses a GPU's memory."""

    pid: int
    used_gib: float | None
    engine: str = ""
    """Engine of the line-up; empty if unknown."""
    name: str = ""
    """The process's name, or a note that it is not visible from here."""


class Spent(Struct, frozen=True, kw_only=True):
    """GPU energy of one role; the empty role is time without an active role."""

    role: Role | Literal[""]
    gpu_seconds: float
    sampled_seconds: float
    """Part of gpu_seconds with known power."""
    joules: float
    """Energy over sampled_seconds."""
    tokens: int = 0
    """Tokens written."""
