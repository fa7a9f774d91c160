"""Thin samples by age: by the second for hours, by 10 seconds for a day, by minute and hour for a year."""

import math
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from app.machine.sampling.series_on_time_grid import Grid, SeriesKey, sum_figures_by_time
from app.store.events import EventStore

DAY = 24 * 3600.0
RAW_SECONDS = 6 * 3600.0
"""Seconds for which raw samples are kept."""
SETTLED = 5.0
"""Seconds until the last sample of a stretch has been written."""
SAMPLED = ("engine.sample", "gpu.sample")
_STRETCH = msgspec.json.Decoder(list[tuple[SeriesKey, list[float | None]]])


@dataclass(frozen=True)
class Tier:
    step: int
    stretch: int
    """Seconds in one row."""
    keep: float


TIERS = (Tier(10, 600, DAY + 7200), Tier(60, 3600, 366 * DAY), Tier(3600, 86400, 366 * DAY))
"""Each tier is built from the previous one. The last serves views of a whole year, half a million minutes."""

Point = tuple[float, SeriesKey, float]


class Thinning:
    def __init__(self, store: EventStore) -> None:
        self._store = store

    def catch_up(self, now: float) -> None:
        """Thin everything due, including what was missed while no node thinned."""
        for place, tier in enumerate(TIERS):
            finer = TIERS[place - 1] if place else None
            last = self._store.thinned.find_last_stretch_start(tier.step)
            begin = self._find_next_stretch_start(finer, 0.0 if last is None else last + tier.stretch, tier)
            while begin is not None and begin + tier.stretch + SETTLED <= now:
                self._thin_stretch(tier, finer, begin)
                begin = self._find_next_stretch_start(finer, begin + tier.stretch, tier)
            self._store.thinned.delete_before(tier.step, now - tier.keep)

    def read(self, since: float, until: float, step: float, now: float | None = None) -> Grid:
        """Read a grid aligned to multiples of `step`; coarser if that time is only kept coarser."""
        step = max(step, _get_finest_step(since, time.time() if now is None else now))
        begin = math.floor(since / step) * step
        grid = Grid(begin, step, max(1, math.ceil((until - begin) / step)))
        at = begin
        for tier in reversed(TIERS):
            if tier.step <= step:
                at = self._fill_from_tier_and_get_end(grid, tier, at)
        _add_points(grid, self._read_raw(at, grid.until))
        return grid

    def _fill_from_tier_and_get_end(self, grid: Grid, tier: Tier, at: float) -> float:
        """Fill the grid from a tier, and return where its last stretch ends."""
        for begin, body in self._store.thinned.list_stretches_that_begin_between(
            tier.step, at - tier.stretch, grid.until
        ):
            _add_points(grid, (point for point in _decode_points(tier, begin, body) if point[0] >= at))
            at = max(at, begin + tier.stretch)
        return at

    def _find_next_stretch_start(self, finer: Tier | None, since: float, tier: Tier) -> float | None:
        """Return the start of the next stretch that has data, or None."""
        if finer:
            found = self._store.thinned.find_first_stretch_start(finer.step, since)
        else:
            found = self._store.find_first_sample_time(since, SAMPLED)
        return None if found is None else math.floor(found / tier.stretch) * tier.stretch

    def _thin_stretch(self, tier: Tier, finer: Tier | None, begin: float) -> None:
        grid = Grid(begin, tier.step, tier.stretch // tier.step)
        if finer is None:
            _add_points(grid, self._read_raw(begin, grid.until))
        else:
            for at, body in self._store.thinned.list_stretches_that_begin_between(finer.step, begin, grid.until):
                _add_points(grid, _decode_points(finer, at, body))
        self._store.thinned.save(tier.step, begin, zlib.compress(msgspec.json.encode(list(grid.to_series().items()))))

    def _read_raw(self, since: float, until: float) -> Iterator[Point]:
        for at, found in sum_figures_by_time(self._store.read_samples(since, until, SAMPLED)):
            yield from ((at, key, value) for key, value in found.items())


def _get_finest_step(since: float, now: float) -> float:
    if now - since <= RAW_SECONDS:
        return 1.0
    return float(next((tier.step for tier in TIERS if now - since <= tier.keep), TIERS[-1].step))


def _add_points(grid: Grid, points: Iterator[Point]) -> None:
    for at, key, value in points:
        grid.add(at, key, value)


def _decode_points(tier: Tier, begin: float, body: bytes) -> Iterator[Point]:
    for key, values in _STRETCH.decode(zlib.decompress(body)):
        for place, value in enumerate(values):
            if value is not None:
                yield begin + place * tier.step, key, value
