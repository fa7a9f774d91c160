"""This machine's GPUs through NVML. Every call goes through one thread, and a sensor that is missing is None."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pynvml  # type: ignore[import-untyped]

from app.gpus.reading import GpuReading

GIB = 1024**3
_WHY: dict[int, str] = {
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: "no NVIDIA driver is installed here: GPU figures need one",
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "the NVIDIA driver is not loaded: load it (modprobe nvidia), then look again",
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "the NVIDIA driver was upgraded and the old one still runs: reboot",
    pynvml.NVML_ERROR_NO_PERMISSION: "this account may not read the GPUs: give it access to /dev/nvidia*",
    pynvml.NVML_ERROR_GPU_IS_LOST: "a GPU has fallen off the bus: look at dmesg for Xid, then reset or reboot",
}
_ANEW = (pynvml.NVML_ERROR_UNINITIALIZED, pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, pynvml.NVML_ERROR_GPU_IS_LOST)
"""After these NVML is opened again: what it holds is of the past."""


class Nvml:
    def __init__(self, library: Any = pynvml) -> None:
        self.reason = ""
        self._nvml = library
        self._open = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="nvml")

    async def read(self) -> list[GpuReading]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._shut)
        self._thread.shutdown()

    def _read(self) -> list[GpuReading]:
        self.reason = ""
        try:
            if not self._open:
                self._nvml.nvmlInit()
                self._open = True
            count = self._nvml.nvmlDeviceGetCount()
        except pynvml.NVMLError as exc:
            self._note(exc)
            return []
        return [self._card(index) for index in range(count)]

    def _card(self, index: int) -> GpuReading:
        nvml = self._nvml
        handle = self._ask(nvml.nvmlDeviceGetHandleByIndex, index)
        if handle is None:
            return GpuReading(gpu=index, name=f"GPU {index}")
        memory = self._ask(nvml.nvmlDeviceGetMemoryInfo, handle, version=nvml.nvmlMemory_v2)
        use = self._ask(nvml.nvmlDeviceGetUtilizationRates, handle)
        power = self._ask(nvml.nvmlDeviceGetPowerUsage, handle)
        heat = self._ask(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU)
        own = memory is not None and memory.total > 0  # unified memory reports none of its own
        return GpuReading(
            gpu=index,
            name=_text(self._ask(nvml.nvmlDeviceGetName, handle)) or f"GPU {index}",
            used_gib=round(memory.used / GIB, 2) if own else None,
            total_gib=round(memory.total / GIB, 2) if own else None,
            utilization=None if use is None else float(use.gpu),
            power_w=None if power is None else power / 1000,
            temperature_c=None if heat is None else float(heat),
        )

    def _ask(self, question: Callable[..., Any], *words: Any, **named: Any) -> Any:
        try:
            return question(*words, **named)
        except pynvml.NVMLError as exc:
            if exc.value != pynvml.NVML_ERROR_NOT_SUPPORTED:
                self._note(exc)
            return None

    def _note(self, exc: pynvml.NVMLError) -> None:
        self.reason = self.reason or _WHY.get(exc.value, f"NVML: {exc}")
        if exc.value in _ANEW:
            self._shut()

    def _shut(self) -> None:
        if self._open:
            self._open = False
            try:
                self._nvml.nvmlShutdown()
            except pynvml.NVMLError as exc:
                self.reason = self.reason or f"NVML: {exc}"


def _text(name: str | bytes | None) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name or ""
