"""Parse the Prometheus text of a DCGM exporter. Pure."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families

from app.machine.gpus.gpu_reading import GpuReading, divide_value
from app.machine.gpus.nvml_call_errors import describe_throttling
from app.text.clean import clean_text

_MIB_PER_GIB = 1024
_MB = 1e6
_BLANKS = (0x7FFFFFF0, 2**47, 0x7FFFFFFFFFFFFFF0)
"""DCGM's blank values: each of these and the few numbers after it mean unknown."""
_OF_A_PROGRAM = frozenset({0, 13, 31, 43, 45, 68})
"""Xids caused by a program; the others come from the GPU, its driver or the machine."""
_TEXT = 100

Rows = dict[str, list[tuple[float, str]]]
"""Metric to its values, each with the MIG slice that it belongs to; "" for the whole GPU."""


@dataclass
class _GpuRows:
    host: str
    number: int
    name: str
    uuid: str
    rows: Rows = field(default_factory=lambda: defaultdict(list))

    def find_value(self, *names: str) -> float | None:
        """Return the first known value of the whole GPU, not of a slice. Rows that differ only by pod are equal."""
        return next((value for name in names for value, slice_ in self.rows.get(name, ()) if not slice_), None)

    def find_memory_gib(self, name: str) -> float | None:
        """Return memory in GiB, summed over slices if there is no value for the whole GPU.

        A slice that several pods share has a row for each of them, with the same value.
        """
        whole, rows = self.find_value(name), self.rows.get(name)
        if whole is None and rows:
            whole = sum({slice_: value for value, slice_ in rows}.values())
        return None if whole is None else whole / _MIB_PER_GIB

    @property
    def is_sliced(self) -> bool:
        return any(slice_ for values in self.rows.values() for _, slice_ in values)


def parse_dcgm_gpus(text: str, url: str, default_host: str) -> list[GpuReading]:
    """Parse the GPUs. `default_host` applies if the exporter names none. Raises ValueError for other text."""
    found: dict[tuple[str, int], _GpuRows] = {}
    for name, labels, value in _parse_known_dcgm_samples(text):
        number = labels.get("gpu", "")
        if not number.isdecimal():
            continue
        key = (_clean_label(labels, "Hostname") or default_host, int(number))
        gpu = found.setdefault(key, _GpuRows(*key, _clean_label(labels, "modelName"), _clean_label(labels, "UUID")))
        gpu.rows[name].append((value, labels.get("GPU_I_ID", "")))
    return [_to_reading(gpu, url) for _, gpu in sorted(found.items())]


def describe_hardware_xid_errors(text: str) -> list[str]:
    said = {
        f"GPU {labels.get('gpu')} of {_clean_label(labels, 'Hostname') or 'its machine'} reported Xid {value:.0f}: "
        "look at dmesg there"
        for name, labels, value in _parse_known_dcgm_samples(text)
        if name == "DCGM_FI_DEV_XID_ERRORS" and value not in _OF_A_PROGRAM
    }
    return sorted(said)


def _parse_known_dcgm_samples(text: str) -> Iterator[tuple[str, Mapping[str, str], float]]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = sample.name.removesuffix("_total")
            rate = name.startswith(("DCGM_FI_PROF_PCIE", "DCGM_FI_DEV_PCIE_TX", "DCGM_FI_DEV_PCIE_RX"))
            if name.startswith("DCGM_FI_") and _is_known(sample.value) and not (rate and family.type == "counter"):
                yield name, sample.labels, sample.value


def _is_known(value: float) -> bool:
    return math.isfinite(value) and value >= 0 and not any(blank <= value <= blank + 15 for blank in _BLANKS)


def _to_reading(gpu: _GpuRows, url: str) -> GpuReading:
    used, free = gpu.find_memory_gib("DCGM_FI_DEV_FB_USED"), gpu.find_memory_gib("DCGM_FI_DEV_FB_FREE")
    reserved = gpu.find_memory_gib("DCGM_FI_DEV_FB_RESERVED")
    total = None if used is None or free is None else used + free + (reserved or 0)
    ecc = gpu.find_value("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "DCGM_FI_DEV_ECC_DBE_VOL")
    held = gpu.find_value("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS")
    return GpuReading(
        gpu=gpu.number,
        name=gpu.name or f"GPU {gpu.number}",
        used_gib=_round_value(used),
        total_gib=_round_value(total),
        utilization=None if gpu.is_sliced else gpu.find_value("DCGM_FI_DEV_GPU_UTIL"),
        power_w=gpu.find_value("DCGM_FI_DEV_POWER_USAGE"),
        temperature_c=gpu.find_value("DCGM_FI_DEV_GPU_TEMP"),
        host=gpu.host,
        reserved_gib=_round_value(reserved),
        mig=gpu.is_sliced,
        power_limit_w=gpu.find_value("DCGM_FI_DEV_POWER_MGMT_LIMIT"),
        energy_j=divide_value(gpu.find_value("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"), 1000),
        sm_mhz=gpu.find_value("DCGM_FI_DEV_SM_CLOCK"),
        memory_mhz=gpu.find_value("DCGM_FI_DEV_MEM_CLOCK"),
        throttled=describe_throttling(int(held or 0)),
        ecc_uncorrected=None if ecc is None else int(ecc),
        pcie_rx_mb_s=_find_pcie_rate_in_megabytes(gpu, "RX"),
        pcie_tx_mb_s=_find_pcie_rate_in_megabytes(gpu, "TX"),
        uuid=gpu.uuid,
        source=url,
    )


def _find_pcie_rate_in_megabytes(gpu: _GpuRows, uppercase_direction: str) -> float | None:
    """Return MB/s from the profiler's bytes or from NVML's KB per second."""
    precise = gpu.find_value(f"DCGM_FI_PROF_PCIE_{uppercase_direction}_BYTES")
    if precise is not None:
        return round(precise / _MB, 2)
    return divide_value(gpu.find_value(f"DCGM_FI_DEV_PCIE_{uppercase_direction}_THROUGHPUT"), 1000)


def _round_value(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _clean_label(labels: Mapping[str, str], name: str) -> str:
    return clean_text(labels.get(name, ""), _TEXT)
