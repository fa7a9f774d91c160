"""The forecast of a run, as the API sends it."""

from pydantic import Field

from app.events.kinds import RunQueued
from app.runs.run_forecast import RunForecast
from app.targets.host_registry import is_fixture
from app.web.api.api_model import ApiModel, Raw


class FindingForecastView(ApiModel):
    rule: str
    title: str
    source: str = Field(description="Where the accepted proposal comes from; empty if none is accepted.")
    actions: list[Raw]
    asks_a_person: bool = Field(description="A person is asked before this change in every mode.")
    question: str = Field(description="What is left to a model or to a person; empty if a proposal is accepted.")
    reason: str = Field(description="Why no proposal is accepted.")


class ForecastView(ApiModel):
    host: str
    skill: str
    simulated: bool = Field(description="True if the host is simulated by files.")
    rules: int = Field(description="Rules that were scanned.")
    seconds: float | None = Field(
        description="Expected duration, derived from the median time per finding of the host's last runs in mode auto; "
        "null if there was none."
    )
    findings: list[FindingForecastView]


def to_forecast_view(queued_event: RunQueued, forecast: RunForecast) -> ForecastView:
    findings = [one.to_row() for one in forecast.findings]
    simulated = is_fixture(queued_event.host)
    return ForecastView.from_source(
        forecast, host=queued_event.host, skill=queued_event.skill, simulated=simulated, findings=findings
    )
