"""Base model of every JSON body, and the model of every number that is not a count."""

from typing import Annotated, Any, Self

from fastapi import Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from app.events.event_field_types import Provenance
from app.events.record import format_timestamp
from app.text.clean import clean_line

LINE = 500


class ApiModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, from_attributes=True)

    @classmethod
    def from_source(cls, source: object, /, **own: Any) -> Self:
        """Read each field from the attribute of the same name; `own` has the fields that differ."""
        same = {name: getattr(source, name) for name in cls.model_fields if name not in own and hasattr(source, name)}
        return cls.model_validate(same | own)


def _format_if_seconds(at: object) -> object:
    return format_timestamp(at) if isinstance(at, float | int) else at


Time = Annotated[str, BeforeValidator(_format_if_seconds)]
"""A time in UTC; seconds since 1970 are formatted."""


class Figure(ApiModel):
    """A number with its unit, provenance, source and time."""

    value: float | None = Field(description="None means unknown; it is never 0.")
    unit: str = Field(description="UCUM-like: s, GiB, W, Cel, %, token/s, GB/s.")
    provenance: Provenance
    source: str
    at: Time | None = Field(description="Time of the value; None if it does not change.")


class Point(ApiModel):
    at: Time
    value: float | None


class Series(ApiModel):
    """Figures of one kind over time, oldest first."""

    unit: str
    provenance: Provenance
    source: str
    points: list[Point]


class Link(ApiModel):
    """Opaque cursors; None at an end."""

    next: str | None
    previous: str | None


def create_figure(value: float | None, unit: str, provenance: Provenance, source: str, at: float | None) -> Figure:
    return Figure(value=value, unit=unit, provenance=provenance, source=source, at=format_time(at))


def derive_figure(
    value: float | None, unit: str, source: str, at: float | None = None, *, simulated: bool, digits: int = 3
) -> Figure:
    """Return a rounded figure that Temper computed from others; an unknown value is unsupported."""
    if value is None:
        return create_figure(None, unit, "unsupported", source, at)
    return create_figure(round(value, digits), unit, "simulated" if simulated else "derived", source, at)


def format_time(at: float | None) -> str | None:
    return None if at is None else format_timestamp(at)


def _clean_short_text(text: str) -> str:
    return clean_line(text, LINE)


def _require_visible_line(text: str) -> str:
    if not (line := _clean_short_text(text)):
        raise ValueError("it has no visible characters")
    return line


def declare_field_with_unchecked_bounds(
    *, default: Any = ..., description: str | None = None, examples: list[Any] | None = None, **schema: Any
) -> Any:
    """Return a Field with bounds that only the description states; app/runs checks them for every caller."""
    return Field(default=default, description=description, examples=examples, json_schema_extra=schema)


Line = Annotated[str, Field(max_length=LINE), AfterValidator(_clean_short_text)]
Who = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_require_visible_line)]
Raw = dict[str, Any]
"""An event as logged; its kind determines its fields."""

Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of results.")]
