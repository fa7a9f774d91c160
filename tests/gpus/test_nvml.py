"""NVML as a script: what each card answers, and what it refuses."""
# ruff: noqa: N802  the names are NVML's own

from types import SimpleNamespace

import pynvml
import pytest

from app.gpus.nvml import Nvml
from app.gpus.reading import GpuReading

GIB = 1024**3


class Library:
    nvmlMemory_v2 = pynvml.nvmlMemory_v2  # noqa: N815  NVML's own spelling
    NVML_TEMPERATURE_GPU = pynvml.NVML_TEMPERATURE_GPU

    def __init__(self, *, refuses=None, init=0):
        self.refuses, self.init, self.opened, self.memory_version = refuses or {}, init, 0, None

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
        self.memory_version = version
        return self._answer("memory", SimpleNamespace(used=3 * GIB, total=24 * GIB))

    def nvmlDeviceGetUtilizationRates(self, _handle):
        return self._answer("use", SimpleNamespace(gpu=97, memory=40))

    def nvmlDeviceGetPowerUsage(self, _handle):
        return self._answer("power", 71_250)

    def nvmlDeviceGetTemperature(self, _handle, sensor):
        return self._answer("heat", 64 if sensor == pynvml.NVML_TEMPERATURE_GPU else 0)

    def nvmlDeviceGetName(self, _handle):
        return self._answer("name", b"NVIDIA L4")

    def _answer(self, name, value):
        if code := self.refuses.get(name):
            raise pynvml.NVMLError(code)
        return value


async def read(library):
    source = Nvml(library)
    readings = await source.read()
    await source.close()
    assert library.opened == 0
    return readings, source.reason


async def test_every_sensor_in_the_unit_it_is_shown_in():
    library = Library()
    readings, reason = await read(library)
    assert readings[1] == GpuReading(1, "NVIDIA L4", 3.0, 24.0, 97.0, 71.25, 64.0)
    assert (len(readings), reason) == (2, "")
    assert library.memory_version == pynvml.nvmlMemory_v2


@pytest.mark.parametrize("missing", ["memory", "use", "power", "heat", "name"])
async def test_a_sensor_that_is_not_there_is_none_and_no_reason_to_worry(missing):
    readings, reason = await read(Library(refuses={missing: pynvml.NVML_ERROR_NOT_SUPPORTED}))
    field = {"memory": "used_gib", "use": "utilization", "power": "power_w", "heat": "temperature_c"}.get(missing)
    assert getattr(readings[0], field) is None if field else readings[0].name == "GPU 0"
    assert reason == ""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "no NVIDIA driver"),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "not loaded"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "reboot"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "/dev/nvidia"),
    ],
)
async def test_no_usable_driver_is_a_sentence_and_no_exception(code, words):
    readings, reason = await read(Library(init=code))
    assert readings == []
    assert words in reason


async def test_a_lost_gpu_leaves_the_other_readable_and_is_named():
    source = Nvml(library := Library(refuses={"handle 0": pynvml.NVML_ERROR_GPU_IS_LOST}))
    await source.read()
    assert "fallen off the bus" in source.reason
    library.refuses.clear()
    assert (await source.read())[0].used_gib == 3.0
    assert source.reason == ""
    await source.close()


async def test_unified_memory_has_no_total_of_its_own():
    library = Library()
    library.nvmlDeviceGetMemoryInfo = lambda *_, **__: SimpleNamespace(used=0, total=0)
    readings, _ = await read(library)
    assert (readings[0].used_gib, readings[0].total_gib) == (None, None)
    assert readings[0].power_w == 71.25


async def test_this_machine_answers_or_says_why_not():
    source = Nvml()
    readings = await source.read()
    await source.close()
    assert readings or source.reason
