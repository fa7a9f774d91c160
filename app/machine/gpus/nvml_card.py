"""One GPU through NVML: cheap sensors at every reading, costly ones less often."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import pynvml  # type: ignore[import-untyped]

from app.events.event_field_types import GpuProcess
from app.machine.gpus.gpu_processes import GpuProcesses
from app.machine.gpus.gpu_reading import GpuReading, divide_value, to_gib
from app.machine.gpus.host_memory import read_used_and_total_host_memory
from app.machine.gpus.nvml_call_errors import NvmlQuery, describe_throttling

T = TypeVar("T")


class CachedSensor(Generic[T]):
    def __init__(self, every: float, question: Callable[[], T]) -> None:
        self._every, self._question = every, question
        self._at: float | None = None
        self._value: T

    def read(self, now: float) -> T:
        if self._at is None or now - self._at >= self._every:
            self._at, self._value = now, self._question()
        return self._value

    def get_age(self, now: float) -> float:
        return 0.0 if self._at is None else round(now - self._at, 1)


PROCESSES_EVERY, ENERGY_EVERY, PCIE_EVERY, SELDOM = 5.0, 10.0, 10.0, 60.0


class _RareReadings(NamedTuple):
    """Values that an administrator may change, but rarely."""

    name: str
    mig: bool
    power_limit_w: float | None


class _PcieTraffic(NamedTuple):
    """In MB/s."""

    received: float | None
    sent: float | None


class _Memory(NamedTuple):
    used_gib: float | None = None
    total_gib: float | None = None
    reserved_gib: float | None = None
    unified: bool = False


class NvmlCard:
    def __init__(
        self, nvml: Any, ask: NvmlQuery, index: int, handle: Any, holders: GpuProcesses, meminfo: Path
    ) -> None:
        self._nvml, self._index, self._handle, self._meminfo = nvml, index, handle, meminfo
        self._ask, self._holders = ask, holders
        self._uuid = _to_text(self._query_device(nvml.nvmlDeviceGetUUID))
        self._shape = CachedSensor(SELDOM, self._read_name_mig_and_power_limit)
        self._ecc = CachedSensor(SELDOM, self._read_uncorrected_ecc_count)
        self._energy = CachedSensor(ENERGY_EVERY, self._read_energy)
        self._processes = CachedSensor(PROCESSES_EVERY, self._read_processes)
        self._pcie = CachedSensor(PCIE_EVERY, self._read_pcie_traffic)

    def read(self, now: float) -> GpuReading:
        nvml, shape, memory = self._nvml, self._shape.read(now), self._read_memory()
        use = None if shape.mig else self._query_device(nvml.nvmlDeviceGetUtilizationRates)
        traffic = self._pcie.read(now)
        return GpuReading(
            gpu=self._index,
            name=shape.name,
            used_gib=memory.used_gib,
            total_gib=memory.total_gib,
            utilization=None if use is None else float(use.gpu),
            power_w=divide_value(self._query_device(nvml.nvmlDeviceGetPowerUsage), 1000),
            temperature_c=divide_value(self._query_device(nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU)),
            reserved_gib=memory.reserved_gib,
            unified=memory.unified,
            mig=shape.mig,
            power_limit_w=shape.power_limit_w,
            energy_j=self._energy.read(now),
            sm_mhz=divide_value(self._query_device(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM)),
            memory_mhz=divide_value(self._query_device(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM)),
            throttled=describe_throttling(self._read_throttle_reason_bits()),
            ecc_uncorrected=self._ecc.read(now),
            pcie_rx_mb_s=traffic.received,
            pcie_tx_mb_s=traffic.sent,
            processes=self._processes.read(now),
            ages=self._collect_ages_of_cached_readings(now),
            uuid=self._uuid,
        )

    def _collect_ages_of_cached_readings(self, now: float) -> dict[str, float]:
        ages = {
            "power_limit_w": self._shape.get_age(now),
            "energy_j": self._energy.get_age(now),
            "ecc_uncorrected": self._ecc.get_age(now),
            "pcie": self._pcie.get_age(now),
            "processes": self._processes.get_age(now),
        }
        return {name: age for name, age in ages.items() if age}

    def _read_memory(self) -> _Memory:
        """Read memory with the v2 call, which reports driver-reserved memory apart; the v1 call counts it as used."""
        nvml = self._nvml
        told = self._query_device(nvml.nvmlDeviceGetMemoryInfo, version=nvml.nvmlMemory_v2)
        if told is None and self._ask.refusal == pynvml.NVML_ERROR_FUNCTION_NOT_FOUND:
            old = self._query_device(nvml.nvmlDeviceGetMemoryInfo)
            return _Memory() if old is None else _Memory(to_gib(old.used), to_gib(old.total))
        if told is None and self._ask.refusal != pynvml.NVML_ERROR_NOT_SUPPORTED:
            return _Memory()
        if told is None or not told.total:
            return _Memory(*read_used_and_total_host_memory(self._meminfo), unified=True)
        return _Memory(to_gib(told.used), to_gib(told.total), to_gib(told.reserved))

    def _read_throttle_reason_bits(self) -> int:
        found = self._query_device(self._nvml.nvmlDeviceGetCurrentClocksEventReasons)
        if found is None and self._ask.refusal == pynvml.NVML_ERROR_FUNCTION_NOT_FOUND:  # before driver 535
            found = self._query_device(self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons)
        return found or 0

    def _read_name_mig_and_power_limit(self) -> _RareReadings:
        nvml = self._nvml
        name = _to_text(self._query_device(nvml.nvmlDeviceGetName)) or f"GPU {self._index}"
        mode = self._query_device(nvml.nvmlDeviceGetMigMode)
        mig = mode is not None and mode[0] == nvml.NVML_DEVICE_MIG_ENABLE
        limit = divide_value(self._query_device(nvml.nvmlDeviceGetEnforcedPowerLimit), 1000)
        parts = f" (MIG: {', '.join(self._list_mig_devices()) or 'not divided yet'})" if mig else ""
        return _RareReadings(name + parts, mig, limit)

    def _list_mig_devices(self) -> list[str]:
        """List the MIG devices of a GPU by the last word of their names, such as 3g.40gb."""
        nvml, most = self._nvml, self._query_device(self._nvml.nvmlDeviceGetMaxMigDeviceCount) or 0
        devices = [self._query_device(nvml.nvmlDeviceGetMigDeviceHandleByIndex, index) for index in range(most)]
        names = [self._ask(self._index, nvml.nvmlDeviceGetName, one) for one in devices if one is not None]
        return [_to_text(name).rpartition(" ")[2] for name in names]

    def _read_uncorrected_ecc_count(self) -> int | None:
        nvml = self._nvml
        kind, since = nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
        count: int | None = self._query_device(nvml.nvmlDeviceGetTotalEccErrors, kind, since)
        return count

    def _read_energy(self) -> float | None:
        return divide_value(self._query_device(self._nvml.nvmlDeviceGetTotalEnergyConsumption), 1000)

    def _read_pcie_traffic(self) -> _PcieTraffic:
        """Read NVML's own rates, each over 20 ms in which the call blocks.

        Its byte counters do not block, but they have 32 bits: at 55 GB/s they wrap every 0.08 s.
        """
        nvml, question = self._nvml, self._nvml.nvmlDeviceGetPcieThroughput
        return _PcieTraffic(
            divide_value(self._query_device(question, nvml.NVML_PCIE_UTIL_RX_BYTES), 1000),
            divide_value(self._query_device(question, nvml.NVML_PCIE_UTIL_TX_BYTES), 1000),
        )

    def _read_processes(self) -> tuple[GpuProcess, ...]:
        nvml = self._nvml
        drawing = self._query_device(nvml.nvmlDeviceGetGraphicsRunningProcesses) or []
        computing = self._query_device(nvml.nvmlDeviceGetComputeRunningProcesses) or []
        return self._holders.identify_processes([*drawing, *computing])

    def _query_device(self, nvml_function: Callable[..., Any], *words: Any, **named: Any) -> Any:
        return self._ask(self._index, nvml_function, self._handle, *words, **named)


def _to_text(name: str | bytes | None) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name or ""
