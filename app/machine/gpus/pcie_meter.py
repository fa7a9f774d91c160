"""PCIe traffic from two readings of a byte counter: NVML's own throughput call blocks for 20 ms."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pynvml  # type: ignore[import-untyped]

FIELDS = (pynvml.NVML_FI_DEV_PCIE_COUNT_RX_BYTES, pynvml.NVML_FI_DEV_PCIE_COUNT_TX_BYTES)
EVERY = 10.0
APART = 3.0
"""Seconds. A 32-bit counter wraps within seconds, so readings further apart are not comparable."""
_WIDE = {
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG: "ulVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: "ullVal",
    pynvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG: "sllVal",
}
MB = 1e6


class PcieTraffic(NamedTuple):
    """In MB/s."""

    received: float | None
    sent: float | None


class _Count(NamedTuple):
    value: int
    bits: int


class PcieMeter:
    def __init__(self, counters: Callable[[], Sequence[Any] | None]) -> None:
        """`counters` returns NVML's values of FIELDS, or None."""
        self._counters = counters
        self._begun: tuple[float, list[_Count | None]] | None = None
        self._read_at: float | None = None
        self._traffic = PcieTraffic(None, None)

    def read(self, now: float) -> PcieTraffic:
        if self._begun:
            (at, before), self._begun = self._begun, None
            pairs = zip(before, self._read_counts(), strict=True)
            self._read_at, self._traffic = now, PcieTraffic(*(_compute_rate(old, new, now - at) for old, new in pairs))
        elif self._read_at is None or now - self._read_at >= EVERY:
            self._begun = now, self._read_counts()
        return self._traffic

    def get_age(self, now: float) -> float:
        return 0.0 if self._read_at is None else round(now - self._read_at, 1)

    def _read_counts(self) -> list[_Count | None]:
        told = self._counters()
        return [None] * len(FIELDS) if told is None else [_to_count(value) for value in told]


def _to_count(value: Any) -> _Count | None:
    if value.nvmlReturn != pynvml.NVML_SUCCESS:
        return None
    if value.valueType == pynvml.NVML_VALUE_TYPE_UNSIGNED_INT:
        return _Count(value.value.uiVal, 32)
    name = _WIDE.get(value.valueType)
    return _Count(getattr(value.value, name), 64) if name else None


def _compute_rate(old: _Count | None, new: _Count | None, seconds: float) -> float | None:
    if old is None or new is None or not 0 < seconds <= APART:
        return None
    grown: int = (new.value - old.value) % (1 << new.bits)
    return round(grown / seconds / MB, 2)
