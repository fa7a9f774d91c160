"""The words that events are made of and that every floor above shares."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from app.events.limits import ATTEMPTS, ITEM_SECONDS

Role = Literal["architect", "worker", "auditor", "sentry"]
Purpose = Literal["plan", "act", "review", "triage", "reflect"]
Mode = Literal["auto", "review", "dry-run", "scan"]
Category = Literal["I", "II", "III"]
Word = Literal["pass", "fail", "error", "notapplicable", "unknown"]
Phase = Literal["opening", "attempt", "rehearsal", "closing"]
Channel = Literal["thought", "answer"]
TurnOutcome = Literal["answered", "broken", "died", "stalled", "refused", "unavailable", "over_budget"]
Decision = Literal["CONTINUE", "PIVOT", "ESCALATE"]
Provenance = Literal["measured", "derived", "estimated", "simulated", "unsupported"]

HostPath = Annotated[str, Meta(max_length=256, pattern="^/[^\\x00-\\x1f]*$")]
Place = Annotated[str, Meta(max_length=256, pattern="^(/|package:|unit:|mount:|account:|vendor:)[^\\x00-\\x1f]*$")]
"""What a plan touches: a file by its path, anything else by its kind and name."""
PackageName = Annotated[str, Meta(max_length=100, pattern="^[A-Za-z0-9][A-Za-z0-9+._-]*$")]
UnitName = Annotated[
    str, Meta(max_length=100, pattern="^[A-Za-z0-9][A-Za-z0-9@_.-]*[.](service|socket|timer|mount|path)$")
]
MountOption = Literal["nodev", "nosuid", "noexec"]
AgeSetting = Literal["min", "max", "warn", "inactive"]
Line = Annotated[str, Meta(max_length=512, pattern="^[^\\x00-\\x08\\x0a-\\x1f]*$")]
FileMode = Annotated[str, Meta(pattern="^0[0-7]{3}$")]
Name = Annotated[str, Meta(max_length=64, pattern="^[A-Za-z0-9@._-]+$")]


class Action(Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True):
    """One typed change to a host. `do` names it on the wire."""


class SetOption(Action, frozen=True, tag="set_option"):
    """Give `key` the value in whatever syntax the file at `path` has."""

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


class InstallPackage(Action, frozen=True, tag="install_package"):
    """From what the host's own package manager offers."""

    package: PackageName


class RemovePackage(Action, frozen=True, tag="remove_package"):
    package: PackageName


class SetUnit(Action, frozen=True, tag="set_unit"):
    """A restart or reload is `reload`'s to do."""

    unit: UnitName
    to: Literal["enable", "disable", "mask", "unmask", "start", "stop"]


class AddMountOptions(Action, frozen=True, tag="add_mount_options"):
    """In /etc/fstab and on what is mounted now."""

    mount: Annotated[str, Meta(max_length=128, pattern="^/[A-Za-z0-9_./-]*$")]
    options: Annotated[tuple[MountOption, ...], Meta(min_length=1, max_length=3)]


class SetAgeing(Action, frozen=True, tag="set_ageing"):
    """Days, of one account's password, in /etc/shadow."""

    account: Annotated[str, Meta(max_length=32, pattern="^[A-Za-z_][A-Za-z0-9_.-]*$")]
    setting: AgeSetting
    days: Annotated[int, Meta(ge=0, le=99999)]


class RunVendorScript(Action, frozen=True, tag="run_vendor_script"):
    """The remediation of one rule as OpenSCAP makes it from the operator's content: nobody's to write, or to edit."""

    rule: Annotated[str, Meta(max_length=256, pattern="^[A-Za-z0-9_][A-Za-z0-9_.:-]*$")]
    """As the content calls it."""
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    script: Annotated[str, Meta(max_length=16384)]


FileAction = SetOption | ReplaceLine | RemoveLine | AppendLine | WriteFile | Chmod
PackageAction = InstallPackage | RemovePackage
ResourceAction = PackageAction | SetUnit | AddMountOptions | SetAgeing | RunVendorScript
"""Of what is no file: the host itself does it, and knows what else comes of it."""
AnyAction = FileAction | Reload | ResourceAction


class Probe(Struct, frozen=True):
    """One question about the host's health and its answer."""

    name: str
    ok: bool
    detail: str
    holds: tuple[str, ...] = ()
    """What is so now and has to stay: a run takes none of these away and adds none."""
    weak: tuple[str, ...] = ()
    """What a run may take away and not add: a right for which no password is asked, a unit that failed."""


class FileChange(Struct, frozen=True):
    """What a file was and became: sha256 of content, mode, owner. Absent is None."""

    path: str
    before: str | None
    after: str | None


class Behind(Struct, frozen=True, kw_only=True):
    """What the files say and what runs does not go by yet: set, not in force."""

    program: str
    setting: str
    wanted: str
    """By the files."""
    running: str
    by: str
    """What would bring it into force."""


class Budget(Struct, frozen=True, kw_only=True):
    """What may be spent before an item or a run is closed."""

    run_seconds: float = 24 * 3600.0
    item_seconds: float = ITEM_SECONDS
    turn_seconds: float = 300.0
    stall_seconds: float = 60.0
    """Silence on an open stream after which a turn is given up."""
    approval_seconds: float = 24 * 3600.0
    attempts: int = ATTEMPTS
    item_tokens: int = 40_000


class Lesson(Struct, frozen=True, kw_only=True):
    """What a failure taught: how it works (mechanism) and where that holds (environment)."""

    id: str
    rule: str
    mechanism: str
    environment: str
    advice: str


class ProvenFix(Struct, frozen=True, kw_only=True):
    """A change that passed scanner, Auditor, Sentry and health on one host, for others that are equal there."""

    id: str
    """RUN.RULE.ATTEMPT: where it held."""
    rule: str
    host: str
    run: str
    attempt: int
    played: bool
    """The host was played by a tree of files."""
    seen: str
    """sha256 over the rules and the files that decide this one, as they stood before the change."""
    changes: tuple[FileChange, ...]
    """What it did there: it begins from the same again, or is not offered."""
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
    """The person who edited it; empty when it was the Worker's."""

    @property
    def said(self) -> str:
        """Its provenance, in words."""
        return f"replayed from run {self.run}, attempt {self.attempt}, on {self.host}"


class Sampling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a role's answers are drawn, beside their temperature. None is left to the engine."""

    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    thinking: bool = True
    thinking_tokens: int | None = None
    """What a thought may take of the answer's tokens; engines that know no such budget pass over it."""
    guided: bool = False
    """Keys, values and lines are chosen from what the rule and its files say: for small models."""

    def fields(self) -> dict[str, Any]:
        """As they stand in a request."""
        named = {
            "top_p": self.top_p,
            "top_k": self.top_k,
            "min_p": self.min_p,
            "thinking_token_budget": self.thinking_tokens if self.thinking else None,
        }
        given = {name: value for name, value in named.items() if value is not None}
        return given | {"chat_template_kwargs": {"enable_thinking": self.thinking}}


class SeatTaken(Struct, frozen=True, kw_only=True):
    """Which engine a role asked in a run, and how."""

    role: Role
    engine: str
    model: str
    precision: str
    vllm: str
    """The version, as the line-up says it; empty where it does not."""
    replicas: int
    temperature: float
    max_tokens: int
    max_model_len: int
    sampling: Sampling = Sampling()


class PublishedRule(Struct, frozen=True, kw_only=True):
    """One rule of a skill as the benchmark that it is from names it; a text is empty where the benchmark has none."""

    rule: str
    """As the skill calls it."""
    group: str
    """V-257985"""
    id: str
    """SV-257985r1069364_rule: with the revision, which changes from release to release."""
    stig_id: str = ""
    group_title: str = ""
    title: str = ""
    ccis: tuple[str, ...] = ()
    discussion: str = ""
    check: str = ""
    fix: str = ""


class Published(Struct, frozen=True, kw_only=True):
    """The benchmark that a run's papers name their rules by."""

    file: str
    sha256: str
    id: str
    """RHEL_9_STIG"""
    title: str
    version: str
    release: str
    rules: tuple[PublishedRule, ...]


class ParameterUsed(Struct, frozen=True, kw_only=True):
    """A value that the site chose, as a run went by it."""

    name: str
    value: str
    sha256: str
    """Of the value."""
    rules: tuple[str, ...]
    """That go by it."""
    where: str
    """What it is set for: every host, group web, host web-1."""

    @property
    def told(self) -> str:
        value = self.value if len(self.value) <= SHOWN_VALUE else f"{self.value[:SHOWN_VALUE]}… (sha256 {self.sha256})"
        return f"The site's value: {self.name} = {' '.join(value.split())}, set for {self.where}."


SHOWN_VALUE = 200
"""Characters of a value that papers show; what is longer they name by its digest as well."""


class Tailored(Struct, frozen=True, kw_only=True):
    """The tailoring file that a run's profile is from, and the rules that are not applicable by it."""

    file: str
    sha256: str
    id: str
    version: str
    profile: str
    """In full."""
    left_out: tuple[str, ...] = ()
    """As the skill calls them."""

    @property
    def named(self) -> str:
        version = f", version {self.version}" if self.version else ""
        return f"{self.file}{version}, sha256 {self.sha256}"

    @property
    def told(self) -> str:
        count = len(self.left_out)
        return f"Tailored by {self.named}: profile {self.profile}. Rules not applicable by tailoring: {count}."

    @property
    def told_of_rule(self) -> str:
        """Of one that is left out."""
        return f"Not applicable by tailoring: the profile {self.profile} of {self.named} leaves this rule out."


class GpuProcess(Struct, frozen=True):
    """One process that holds memory of a GPU."""

    pid: int
    used_gib: float | None
    engine: str = ""
    """Of the line-up; empty where it is nobody's that we know."""
    name: str = ""
    """What it calls itself; where it cannot be seen from here, that."""


class Spent(Struct, frozen=True, kw_only=True):
    """What one role spent on the GPUs. An empty role is the time in which no role was at work."""

    role: Role | Literal[""]
    gpu_seconds: float
    sampled_seconds: float
    """Of gpu_seconds, those in which power is known."""
    joules: float
    """Over sampled_seconds."""
    tokens: int = 0
    """That it wrote."""
