"""The tables. `event` is the source of truth; `run` and `lesson` are projections of it."""

from typing import Any, TypeVar

import msgspec
from sqlalchemy import BigInteger
from sqlmodel import Field, Index, LargeBinary, SQLModel

Row = TypeVar("Row", bound=SQLModel)


def create_row(table: type[Row], source: msgspec.Struct, **more: Any) -> Row:
    """Return a row with the fields of `source` that the table has, and with `more`."""
    same = {name: value for name, value in msgspec.structs.asdict(source).items() if name in table.model_fields}
    return table(**same | more)


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
    """Findings skipped because of a waiver."""
    rolled_back: int = 0
    drifted: int = 0
    """Rules that passed at the end of the host's last run and fail at the start of this one."""
    regressed: int = 0
    """Rules that passed before or during the run and fail at its end."""
    tokens: int = 0
    tokens_in: int = Field(default=0, sa_type=BigInteger)
    whose: str = ""
    """The person who ordered it, or who made its schedule or rollout."""
    token: str = ""
    """Id of the API token that ordered it."""
    reason: str = ""
    waiting_for: str = ""
    """The fault of the machinery that it waits out, as a sentence."""
    shrunk_at: float | None = None
    """Time at which it was shrunk to its evidence; no event records it, as the log had ended."""
    name: str = ""
    tags: str = ""
    """Separated by spaces. No event records names and tags (runs/name_and_tags.py)."""


class EvidenceRow(SQLModel, table=True):
    """The evidence.zip of a shrunk run, stored because the log no longer has everything."""

    __tablename__ = "evidence"

    run: str = Field(primary_key=True)
    pack: bytes = Field(sa_type=LargeBinary)
    swept: bool = False
    """All turn deltas have been deleted from the log."""


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


class IdempotencyRow(SQLModel, table=True):
    __tablename__ = "idempotency"

    key: str = Field(primary_key=True)
    digest: str
    """SHA-256 of the request's body."""
    run: str
    at: float = Field(index=True)


class CommandRow(SQLModel, table=True):
    """A command for a run, read by the process that works on it."""

    __tablename__ = "command"

    id: int | None = Field(default=None, primary_key=True)
    run: str = Field(index=True)
    verb: str
    by: str
    reason: str = ""
    approval: str = ""
    actions: str = ""
    via: str = ""
    """How the person signed in; empty in rows of older versions."""
    token: str = ""
    """Id of the API token, if one was used."""
    made_by: str = ""
    """Who made the token for somebody else, names with a space between them."""
    at: float
    taken_at: float | None = None


class ProbeRow(SQLModel, table=True):
    """One probe of one replica; values without a column are JSON."""

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
    """Empty if an identity provider signs the person in."""
    made_at: float
    disabled: bool = False
    identity: str = ""
    """Digest of the identity provider and of its name for the person; empty for passwords."""


class CredentialRow(SQLModel, table=True):
    """A session, an API token or a link. The secret itself is not stored."""

    __tablename__ = "credential"

    id: str = Field(primary_key=True)
    person: str = Field(index=True)
    right: str
    kind: str
    label: str
    digest: str = Field(unique=True)
    made_at: float
    expires_at: float
    used_at: float | None = None
    ended_at: float | None = None
    run: str = ""
    """The run that a link opens."""
    source: str = ""
    """The address that the browser signed in from."""
    made_by: str = ""
    """Who made it for somebody else, names with a space between them, the first one first; `?` if unknown."""


class ScheduleRow(SQLModel, table=True):
    __tablename__ = "schedule"

    id: str = Field(primary_key=True)
    host: str = Field(index=True)
    """One host, or a selection of hosts if `rollout` is set."""
    skill: str
    rules: str
    """Comma-separated; empty means the whole skill."""
    mode: str
    rollout: str = ""
    """JSON of concurrency, waves and pause conditions; empty for one run on one host."""
    cron: str
    zone: str
    window_seconds: float | None = None
    """A run is stopped after this time."""
    enabled: bool = True
    by: str
    made_at: float
    next_at: float
    fired_at: float | None = None
    run: str = ""
    """The last run or rollout that it started."""
    outcome: str = ""
    """Outcome of the last time, as a sentence."""
    unkept: bool = False
    """The last due time was missed, skipped or failed."""
    stopped: bool = False
    """The run was stopped at the end of its window, or had ended before."""
