"""This machine's GPUs through NVML. All calls use one thread; a missing sensor is None.

NVML counts in PCI order, as nvidia-smi does. CUDA counts the fastest first unless CUDA_DEVICE_ORDER=PCI_BUS_ID."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pynvml  # type: ignore[import-untyped]

from app.machine.gpus.gpu_processes import GpuProcesses
from app.machine.gpus.gpu_reading import GpuReading
from app.machine.gpus.host_memory import MEMINFO
from app.machine.gpus.nvml_call_errors import REOPEN_CODES, NvmlQuery
from app.machine.gpus.nvml_card import NvmlCard

T = TypeVar("T")
PATIENCE = 3.0
REOPEN_EVERY = 30.0
"""Seconds. A lost GPU returns only after a reset, so reopening more often is useless."""


class NvmlGpus:
    def __init__(
        self,
        library: Any = pynvml,
        *,
        holders: GpuProcesses | None = None,
        meminfo: Path = MEMINFO,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.reason = ""
        self._nvml, self._holders, self._meminfo = library, holders or GpuProcesses(), meminfo
        self._patience, self._clock = patience, clock
        self._ask = NvmlQuery()
        self._cards: dict[int, NvmlCard] = {}
        self._names: dict[int, str] = {}
        self._opened_at: float | None = None
        self._thread = DriverThread("nvml")
        self._asked: Future[list[GpuReading]] | None = None

    async def read(self) -> list[GpuReading]:
        self._asked = self._asked or self._thread.submit(self._read_all)
        waited = asyncio.wrap_future(self._asked)
        await asyncio.wait({waited}, timeout=self._patience)
        if not waited.done():
            self.reason = "NVML does not answer: a GPU or its driver hangs, look at dmesg for Xid"
            return []
        self._asked = None
        readings = waited.result()
        self.reason = self._ask.reason
        return readings

    async def close(self) -> None:
        shut = self._thread.submit(self._close_library)
        self._thread.stop()
        await asyncio.wait({asyncio.wrap_future(shut)}, timeout=self._patience)

    def _read_all(self) -> list[GpuReading]:
        now = self._clock()
        self._ask.reset()
        if self._opened_at is None and not self._try_open_library(now):
            return []
        count = self._ask(None, self._nvml.nvmlDeviceGetCount) or 0
        readings = [self._read_card(index, now) for index in range(count)]
        self._names |= {reading.gpu: reading.name for reading in readings}
        if self._has_refusals_that_need_reopen(now):
            self._close_library()
        return readings

    def _try_open_library(self, opened_at: float) -> bool:
        self._ask(None, self._nvml.nvmlInit)
        self._opened_at = None if self._ask.refusal else opened_at
        return not self._ask.refusal

    def _has_refusals_that_need_reopen(self, now: float) -> bool:
        lost = pynvml.NVML_ERROR_GPU_IS_LOST in self._ask.refusals
        long_open = self._opened_at is not None and now - self._opened_at >= REOPEN_EVERY
        return bool(self._ask.refusals & REOPEN_CODES) or (lost and long_open)

    def _read_card(self, index: int, now: float) -> GpuReading:
        card = self._cards.get(index) or self._open_card(index)
        if card is None:
            return GpuReading(gpu=index, name=self._names.get(index, f"GPU {index}"))
        self._cards[index] = card
        return card.read(now)

    def _open_card(self, index: int) -> NvmlCard | None:
        handle = self._ask(index, self._nvml.nvmlDeviceGetHandleByIndex, index)
        if handle is None:
            return None
        return NvmlCard(self._nvml, self._ask, index, handle, self._holders, self._meminfo)

    def _close_library(self) -> None:
        if self._opened_at is not None:
            self._opened_at = None
            self._cards.clear()
            self._ask(None, self._nvml.nvmlShutdown)


class DriverThread:
    """A daemon thread for driver calls. A call that never returns does not keep the process from exiting."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run_jobs, name=name, daemon=True)

    def submit(self, job: Callable[[], T]) -> Future[T]:
        if not self._thread.ident:
            self._thread.start()
        promised: Future[T] = Future()
        self._jobs.put((promised, job))
        return promised

    def stop(self) -> None:
        """Stop after the jobs already submitted."""
        self._jobs.put(None)

    def _run_jobs(self) -> None:
        while work := self._jobs.get():
            promised, job = work
            try:
                promised.set_result(job())
            except Exception as exc:  # noqa: BLE001  whoever waits for it decides
                promised.set_exception(exc)
