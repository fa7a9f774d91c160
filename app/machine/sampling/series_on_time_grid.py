"""Samples as series of figures over a grid of equal steps. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, NamedTuple, get_args

from app.events.event_field_types import Role
from app.events.kinds import EngineSampled, GpuSampled
from app.events.record import Recorded

How = Literal["mean", "most"]
Values = list[float | None]

ENGINE = ("tok_s", "prompt_tok_s", "running", "waiting", "kv_used", "ttft_s")
GPU = ("used_gib", "power_w", "utilization", "temperature_c")
MOST = ("running", "waiting", "ttft_s", "temperature_c")
"""Figures aggregated by maximum: a mean would hide the peaks that matter."""
OTHERS = "others"
"""Tokens of requests that no role of ours made."""


class SeriesKey(NamedTuple):
    kind: str
    """engine, gpu or role."""
    of: str
    host: str
    figure: str
    simulated: bool

    @property
    def aggregation(self) -> How:
        return "most" if self.figure in MOST else "mean"


def sum_figures_by_time(samples: Sequence[Recorded]) -> Iterator[tuple[float, dict[SeriesKey, float]]]:
    """Yield each sampling time with its figures."""
    for at, together in groupby(samples, key=lambda one: one.at):
        found: dict[SeriesKey, float] = defaultdict(float)
        for key, value in (pair for one in together for pair in _extract_figures(one)):
            found[key] += value
        yield at, found


def _extract_figures(recorded: Recorded) -> Iterator[tuple[SeriesKey, float]]:
    match recorded.event:
        case EngineSampled() as event:
            for name in ENGINE:
                if (value := getattr(event, name)) is not None:
                    shown = 100 * value if name == "kv_used" else value
                    yield SeriesKey("engine", event.engine, "", name, event.simulated), float(shown)
            yield from _extract_role_rates(event)
        case GpuSampled() as event:
            for name in GPU:
                if (value := getattr(event, name)) is not None:
                    yield SeriesKey("gpu", str(event.gpu), event.host, name, event.simulated), value
            for name, gib in event.parts.items():
                yield SeriesKey("gpu", str(event.gpu), event.host, name, event.simulated), gib
        case _:
            pass


def _extract_role_rates(event: EngineSampled) -> Iterator[tuple[SeriesKey, float]]:
    if event.tok_s is None and not event.roles:
        return
    rest = max(0.0, (event.tok_s or 0.0) - sum(event.roles.values())) if event.foreign else 0.0
    for role in get_args(Role):
        yield SeriesKey("role", role, "", "tok_s", event.simulated), event.roles.get(role, 0.0)
    yield SeriesKey("role", OTHERS, "", "tok_s", event.simulated), rest


@dataclass
class Grid:
    """`steps` bins of `step` seconds, starting at `since`."""

    since: float
    step: float
    steps: int
    _sums: dict[SeriesKey, list[float]] = field(default_factory=dict)
    _counts: dict[SeriesKey, list[int]] = field(default_factory=dict)

    @property
    def until(self) -> float:
        return self.since + self.step * self.steps

    @property
    def times(self) -> list[float]:
        return [round(self.since + place * self.step, 3) for place in range(self.steps)]

    def add(self, at: float, key: SeriesKey, value: float) -> None:
        place = int((at - self.since) // self.step)
        if not 0 <= place < self.steps:
            return
        sums = self._sums.setdefault(key, [0.0] * self.steps)
        counts = self._counts.setdefault(key, [0] * self.steps)
        sums[place] = max(sums[place], value) if key.aggregation == "most" else sums[place] + value
        counts[place] += 1

    def to_series(self) -> dict[SeriesKey, Values]:
        """Return the series; None where nothing was sampled, never 0."""
        return {key: [self._compute_value(key, place) for place in range(self.steps)] for key in sorted(self._sums)}

    def _compute_value(self, key: SeriesKey, step_index: int) -> float | None:
        count = self._counts[key][step_index]
        if not count:
            return None
        total = self._sums[key][step_index]
        return round(total if key.aggregation == "most" else total / count, 3)
