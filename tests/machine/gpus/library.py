"""NVML as a script: what each card answers, and what it refuses."""
# ruff: noqa: N802  the names are NVML's own

from collections import Counter
from types import SimpleNamespace

import pynvml

GIB = 1024**3


class Library:
    nvmlMemory_v2 = pynvml.nvmlMemory_v2  # noqa: N815  NVML's own spelling
    NVML_TEMPERATURE_GPU = pynvml.NVML_TEMPERATURE_GPU
    NVML_CLOCK_SM = pynvml.NVML_CLOCK_SM
    NVML_CLOCK_MEM = pynvml.NVML_CLOCK_MEM
    NVML_DEVICE_MIG_ENABLE = pynvml.NVML_DEVICE_MIG_ENABLE
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    NVML_VOLATILE_ECC = pynvml.NVML_VOLATILE_ECC
    NVML_PCIE_UTIL_RX_BYTES = pynvml.NVML_PCIE_UTIL_RX_BYTES
    NVML_PCIE_UTIL_TX_BYTES = pynvml.NVML_PCIE_UTIL_TX_BYTES

    def __init__(self, *, refuses=None, init=0):
        self.refuses, self.init, self.opened = refuses or {}, init, 0
        self.asked = Counter()
        self.reasons, self.mig, self.slices = 0, 0, {}
        self.processes, self.drawing = [], []
        self.received, self.sent = 12_500, 2_500

    def nvmlInit(self):
        if self.init:
            raise pynvml.NVMLError(self.init)
        self.opened += 1

    def nvmlShutdown(self):
        self.opened -= 1

    def nvmlDeviceGetCount(self):
        return self._answer("count", 2)

    def nvmlDeviceGetHandleByIndex(self, index):
        return self._answer(f"handle {index}", index)

    def nvmlDeviceGetMemoryInfo(self, _handle, version=None):
        if version is None:
            return self._answer("memory v1", SimpleNamespace(used=4 * GIB, total=24 * GIB))
        assert version == pynvml.nvmlMemory_v2
        return self._answer("memory", SimpleNamespace(used=3 * GIB, total=24 * GIB, reserved=GIB // 2))

    def nvmlDeviceGetUtilizationRates(self, _handle):
        return self._answer("use", SimpleNamespace(gpu=97, memory=40))

    def nvmlDeviceGetPowerUsage(self, handle):
        return self._answer("power", 71_250, handle)

    def nvmlDeviceGetEnforcedPowerLimit(self, _handle):
        return self._answer("limit", 72_000)

    def nvmlDeviceGetTemperature(self, _handle, sensor):
        return self._answer("heat", 64 if sensor == pynvml.NVML_TEMPERATURE_GPU else 0)

    def nvmlDeviceGetClockInfo(self, _handle, clock):
        return self._answer("clock", {pynvml.NVML_CLOCK_SM: 2040, pynvml.NVML_CLOCK_MEM: 6251}[clock])

    def nvmlDeviceGetCurrentClocksEventReasons(self, _handle):
        return self._answer("reasons", self.reasons)

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _handle):
        return self._answer("old reasons", self.reasons)

    def nvmlDeviceGetName(self, handle):
        return self._answer("name", self.slices.get(handle, b"NVIDIA L4"))

    def nvmlDeviceGetUUID(self, handle):
        return self._answer("uuid", f"GPU-{handle}")

    def nvmlDeviceGetMigMode(self, _handle):
        return self._answer("mig", [self.mig, self.mig])

    def nvmlDeviceGetMaxMigDeviceCount(self, _handle):
        return self._answer("slices", 7)

    def nvmlDeviceGetMigDeviceHandleByIndex(self, _handle, index):
        if index >= len(self.slices):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return list(self.slices)[index]

    def nvmlDeviceGetTotalEccErrors(self, _handle, kind, since):
        assert (kind, since) == (self.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, self.NVML_VOLATILE_ECC)
        return self._answer("ecc", 2)

    def nvmlDeviceGetTotalEnergyConsumption(self, _handle):
        return self._answer("energy", 5_000_000)

    def nvmlDeviceGetPcieThroughput(self, _handle, way):
        counters = {pynvml.NVML_PCIE_UTIL_RX_BYTES: self.received, pynvml.NVML_PCIE_UTIL_TX_BYTES: self.sent}
        return self._answer("pcie", counters[way])

    def nvmlDeviceGetComputeRunningProcesses(self, _handle):
        return self._answer("processes", [SimpleNamespace(pid=p, usedGpuMemory=used) for p, used in self.processes])

    def nvmlDeviceGetGraphicsRunningProcesses(self, _handle):
        return self._answer("drawing", [SimpleNamespace(pid=p, usedGpuMemory=used) for p, used in self.drawing])

    def _answer(self, name, value, handle=None):
        self.asked[name] += 1
        code = self.refuses.get(name) or self.refuses.get(f"{name} {handle}")
        if code:
            raise pynvml.NVMLError(code)
        return value
