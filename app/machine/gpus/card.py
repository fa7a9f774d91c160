"""One GPU through NVML: cheap sensors at every reading, costly ones less often."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pynvml  # type: ignore[import-untyped]

from app.events.words import GpuProcess
from app.machine.gpus.ask import NvmlAsk
from app.machine.gpus.holders import Holders
from app.machine.gpus.host_memory import host_memory
from app.machine.gpus.kept import Kept
from app.machine.gpus.pcie import FIELDS, Pcie
from app.machine.gpus.reading import GpuReading, gib
from app.machine.gpus.throttle import words

PROCESSES_EVERY, ENERGY_EVERY, SELDOM = 5.0, 10.0, 60.0


class _Shape(NamedTuple):
    """Values that an administrator may change, but rarely."""

    name: str
    mig: bool
    power_limit_w: float | None


class _Memory(NamedTuple):
    used_gib: float | None = None
    total_gib: float | None = None
    reserved_gib: float | None = None
    unified: bool = False


class NvmlCard:
    def __init__(self, nvml: Any, ask: NvmlAsk, index: int, handle: Any, holders: Holders, meminfo: Path) -> None:
        self._nvml, self._index, self._handle, self._meminfo = nvml, index, handle, meminfo
        self._ask, self._holders = ask, holders
        self._uuid = _text(self._of(nvml.nvmlDeviceGetUUID))
        self._shape = Kept(SELDOM, self._read_shape)
        self._ecc = Kept(SELDOM, self._read_ecc)
        self._energy = Kept(ENERGY_EVERY, self._read_energy)
        self._processes = Kept(PROCESSES_EVERY, self._read_processes)
        self._pcie = Pcie(lambda: self._of(nvml.nvmlDeviceGetFieldValues, list(FIELDS)))

    def read(self, now: float) -> GpuReading:
        nvml, shape, memory = self._nvml, self._shape.read(now), self._memory()
        use = None if shape.mig else self._of(nvml.nvmlDeviceGetUtilizationRates)
        traffic = self._pcie.read(now)
        return GpuReading(
            gpu=self._index,
            name=shape.name,
            used_gib=memory.used_gib,
            total_gib=memory.total_gib,
            utilization=None if use is None else float(use.gpu),
            power_w=_scaled(self._of(nvml.nvmlDeviceGetPowerUsage), 1000),
            temperature_c=_scaled(self._of(nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU)),
            reserved_gib=memory.reserved_gib,
            unified=memory.unified,
            mig=shape.mig,
            power_limit_w=shape.power_limit_w,
            energy_j=self._energy.read(now),
            sm_mhz=_scaled(self._of(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM)),
            memory_mhz=_scaled(self._of(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM)),
            throttled=words(self._reasons()),
            ecc_uncorrected=self._ecc.read(now),
            pcie_rx_mb_s=traffic.received,
            pcie_tx_mb_s=traffic.sent,
            processes=self._processes.read(now),
            ages=self._ages(now),
            uuid=self._uuid,
        )

    def _ages(self, now: float) -> dict[str, float]:
        ages = {
            "power_limit_w": self._shape.age(now),
            "energy_j": self._energy.age(now),
            "ecc_uncorrected": self._ecc.age(now),
            "pcie": self._pcie.age(now),
            "processes": self._processes.age(now),
        }
        return {name: age for name, age in ages.items() if age}

    def _memory(self) -> _Memory:
        """Read memory with the v2 call, which reports driver-reserved memory apart; the v1 call counts it as used."""
        nvml = self._nvml
        told = self._of(nvml.nvmlDeviceGetMemoryInfo, version=nvml.nvmlMemory_v2)
        if told is None and self._ask.refusal == pynvml.NVML_ERROR_FUNCTION_NOT_FOUND:
            old = self._of(nvml.nvmlDeviceGetMemoryInfo)
            return _Memory() if old is None else _Memory(gib(old.used), gib(old.total))
        if told is None and self._ask.refusal != pynvml.NVML_ERROR_NOT_SUPPORTED:
            return _Memory()
        if told is None or not told.total:
            return _Memory(*host_memory(self._meminfo), unified=True)
        return _Memory(gib(told.used), gib(told.total), gib(told.reserved))

    def _reasons(self) -> int:
        found = self._of(self._nvml.nvmlDeviceGetCurrentClocksEventReasons)
        if found is None and self._ask.refusal == pynvml.NVML_ERROR_FUNCTION_NOT_FOUND:  # before driver 535
            found = self._of(self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons)
        return found or 0

    def _read_shape(self) -> _Shape:
        nvml = self._nvml
        name = _text(self._of(nvml.nvmlDeviceGetName)) or f"GPU {self._index}"
        mode = self._of(nvml.nvmlDeviceGetMigMode)
        mig = mode is not None and mode[0] == nvml.NVML_DEVICE_MIG_ENABLE
        limit = _scaled(self._of(nvml.nvmlDeviceGetEnforcedPowerLimit), 1000)
        return _Shape(f"{name} (MIG: {', '.join(self._slices()) or 'not divided yet'})" if mig else name, mig, limit)

    def _slices(self) -> list[str]:
        """List the MIG devices of a GPU by the last word of their names, such as 3g.40gb."""
        nvml, most = self._nvml, self._of(self._nvml.nvmlDeviceGetMaxMigDeviceCount) or 0
        devices = [self._of(nvml.nvmlDeviceGetMigDeviceHandleByIndex, index) for index in range(most)]
        names = [self._ask(self._index, nvml.nvmlDeviceGetName, one) for one in devices if one is not None]
        return [_text(name).rpartition(" ")[2] for name in names]

    def _read_ecc(self) -> int | None:
        nvml = self._nvml
        kind, since = nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
        count: int | None = self._of(nvml.nvmlDeviceGetTotalEccErrors, kind, since)
        return count

    def _read_energy(self) -> float | None:
        return _scaled(self._of(self._nvml.nvmlDeviceGetTotalEnergyConsumption), 1000)

    def _read_processes(self) -> tuple[GpuProcess, ...]:
        nvml = self._nvml
        drawn = self._of(nvml.nvmlDeviceGetGraphicsRunningProcesses) or []
        return self._holders.known([*drawn, *(self._of(nvml.nvmlDeviceGetComputeRunningProcesses) or [])])

    def _of(self, question: Callable[..., Any], *words: Any, **named: Any) -> Any:
        return self._ask(self._index, question, self._handle, *words, **named)


def _scaled(value: float | None, scale: float = 1) -> float | None:
    return None if value is None else value / scale


def _text(name: str | bytes | None) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name or ""
