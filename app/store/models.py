"""The tables. `event` is the truth; `run` and `lesson` are read off it in the same transaction."""

from sqlalchemy import BigInteger
from sqlmodel import Field, Index, LargeBinary, SQLModel


class EventRow(SQLModel, table=True):
    __tablename__ = "event"
    __table_args__ = (Index("event_run_kind", "run", "kind", "seq"),)

    run: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    at: float
    kind: str
    line: bytes = Field(sa_type=LargeBinary)
    hash: str


class SampleRow(SQLModel, table=True):
    __tablename__ = "sample"

    seq: int | None = Field(default=None, primary_key=True)
    at: float = Field(index=True)
    kind: str
    line: bytes = Field(sa_type=LargeBinary)


class RunRow(SQLModel, table=True):
    __tablename__ = "run"
    __table_args__ = (Index("run_host_newest", "host", "queued_at", "started_at"),)

    id: str = Field(primary_key=True)
    host: str = Field(index=True)
    state: str = Field(index=True)
    mode: str
    skill: str
    lineup: str
    simulated: bool
    note: str
    queued_at: float = Field(index=True)
    started_at: float | None = None
    ended_at: float | None = None
    findings: int = 0
    passed: int = 0
    escalated: int = 0
    skipped: int = 0
    deferred: int = 0
    waived: int = 0
    """Findings that were left alone for the sake of a waiver."""
    rolled_back: int = 0
    drifted: int = 0
    """Rules that held at the end of the host's last run and failed when this one began."""
    regressed: int = 0
    """Rules that held, before the run or by it, and no longer held at its end."""
    tokens: int = 0
    tokens_in: int = Field(default=0, sa_type=BigInteger)
    whose: str = ""
    """Who ordered it, or made the schedule or the rollout that did."""
    token: str = ""
    """Id of the API token that it was ordered with."""
    reason: str = ""
    shrunk_at: float | None = None
    """When it was shrunk to its evidence. Said by no event: the log had ended."""
    name: str = ""
    tags: str = ""
    """Separated by blanks. What people call it is said by no event either (runs/labels.py)."""


class EvidenceRow(SQLModel, table=True):
    """The evidence.zip of a run that was shrunk, packed once more. It holds what the log no longer does."""

    __tablename__ = "evidence"

    run: str = Field(primary_key=True)
    pack: bytes = Field(sa_type=LargeBinary)
    swept: bool = False
    """Nothing is left in the log that should have gone."""


class LessonRow(SQLModel, table=True):
    __tablename__ = "lesson"

    id: str = Field(primary_key=True)
    rule: str = Field(index=True)
    host: str
    run: str
    at: float
    mechanism: str
    environment: str
    advice: str
    uses: int = 0
    hits: int = 0


class CommandRow(SQLModel, table=True):
    """What a person asks of a run; its worker takes it up, whichever process that is."""

    __tablename__ = "command"

    id: int | None = Field(default=None, primary_key=True)
    run: str = Field(index=True)
    verb: str
    by: str
    reason: str = ""
    approval: str = ""
    actions: str = ""
    via: str = ""
    """How who asks has come in; empty where an older Temper wrote it."""
    at: float
    taken_at: float | None = None


class ProbeRow(SQLModel, table=True):
    """One probe of one replica of an engine; what has no column of its own is JSON."""

    __tablename__ = "probe"

    id: str = Field(primary_key=True)
    at: float = Field(index=True)
    lineup: str = Field(index=True)
    engine: str
    replica: int
    simulated: bool
    gpus: str
    conditions: str
    figures: str
    problem: str = ""
    notes: str = "[]"


class PersonRow(SQLModel, table=True):
    __tablename__ = "person"

    name: str = Field(primary_key=True)
    right: str
    password: str = ""
    """Empty where an identity provider vouches for them."""
    made_at: float
    disabled: bool = False
    identity: str = ""
    """A digest of who vouches for them and of whom it means by that; empty where a password does."""


class CredentialRow(SQLModel, table=True):
    """A browser's session, a token or a link that somebody was given. Its secret is nowhere."""

    __tablename__ = "credential"

    id: str = Field(primary_key=True)
    person: str = Field(index=True)
    right: str
    kind: str
    label: str
    """For people."""
    digest: str = Field(unique=True)
    made_at: float
    expires_at: float
    used_at: float | None = None
    ended_at: float | None = None
    run: str = ""
    """What a link opens."""
    source: str = ""
    """The address that a browser signed in from."""


class ScheduleRow(SQLModel, table=True):
    """When a host is looked at, or hardened, without anybody asking each time."""

    __tablename__ = "schedule"

    id: str = Field(primary_key=True)
    host: str = Field(index=True)
    """Or hosts, as a rollout names them, where `rollout` says how they are taken."""
    skill: str
    rules: str
    """Comma-separated; empty is the whole skill."""
    mode: str
    rollout: str = ""
    """JSON of how many at once, in which waves, and what pauses it; empty: one run on one host."""
    cron: str
    zone: str
    window_seconds: float | None = None
    """A run that it started is stopped when this is over."""
    enabled: bool = True
    by: str
    made_at: float
    next_at: float
    fired_at: float | None = None
    run: str = ""
    """The run, or the rollout, that it started last."""
    outcome: str = ""
    """What became of the last time, in a sentence."""
    unkept: bool = False
    """Of the times that came last one was missed, skipped or came to nothing."""
    stopped: bool = False
    """The run was asked to stop at the end of its window."""
