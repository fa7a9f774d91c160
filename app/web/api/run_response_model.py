"""A run as the API shows it."""

from pydantic import Field

from app.events.event_field_types import Mode, Provenance
from app.store.models import RunRow
from app.store.run_list_filters_and_columns import RunStatus
from app.web.api.api_model import ApiModel, Figure, Link, Time, create_figure
from app.web.url_paths import path_to


class RunLinks(ApiModel):
    self: str
    items: str
    events: str
    stream: str
    energy: str
    evidence: str = Field(description="Address of the document; it returns 409 until the run has ended.")
    page: str


class RunView(ApiModel):
    id: str
    host: str
    state: RunStatus
    mode: Mode
    skill: str
    lineup: str
    simulated: bool = Field(description="True if engines or GPUs of this run are simulated.")
    note: str
    name: str = Field(description="Name of the run; empty if it has none.")
    tags: list[str]
    reason: str = Field(description="Why the run failed or was stopped.")
    waiting_for: str = Field(
        default="",
        description="The fault of the machinery that the run waits out, as a sentence; empty if it waits for none. "
        "The run resumes by itself and uses no budget meanwhile.",
    )
    queued_at: Time
    started_at: Time | None
    ended_at: Time | None
    duration: Figure
    findings: int
    passed: int
    escalated: int
    skipped: int
    deferred: int
    waived: int = Field(description="Waived findings; the run skipped them.")
    rolled_back: int = Field(description="Attempts that were rolled back.")
    drifted: int = Field(
        description="Drift: rules that passed at the end of the host's last run and failed when this run began."
    )
    regressed: int = Field(description="Rules that passed before or during the run and failed at its end.")
    tokens: int = Field(description="Tokens that the roles wrote.")
    tokens_in: int = Field(default=0, description="Tokens that the roles read.")
    shrunk_at: Time | None = Field(
        description="Time at which the run was shrunk to its evidence. Its turns remain; single tokens are "
        "only in evidence.zip."
    )
    links: RunLinks


class RunList(ApiModel):
    runs: list[RunView]
    cursors: Link


def to_run_view(row: RunRow) -> RunView:
    return RunView.from_source(
        row, tags=row.tags.split(), duration=_create_duration_figure_if_ended(row), links=create_run_links(row.id)
    )


def create_run_links(run: str) -> RunLinks:
    return RunLinks(
        self=path_to("show_run", run=run),
        items=path_to("list_items", run=run),
        events=path_to("list_events", run=run),
        stream=path_to("stream_events", run=run),
        energy=path_to("show_energy", run=run),
        evidence=path_to("take_pack", run=run),
        page=path_to("run", run=run),
    )


def _create_duration_figure_if_ended(row: RunRow) -> Figure:
    seconds = None if row.started_at is None or row.ended_at is None else round(row.ended_at - row.started_at, 3)
    provenance: Provenance = "simulated" if row.simulated else "measured"
    return create_figure(seconds, "s", provenance, "from run.started to the run's last event", row.ended_at)
