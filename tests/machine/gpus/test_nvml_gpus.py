"""Given what NVML answers: readings in the units they are shown in, and a sentence for what is amiss."""

import threading
from dataclasses import replace

import pynvml
import pytest

from app.machine.gpus.gpu_reading import GpuReading
from app.machine.gpus.nvml_gpus import REOPEN_EVERY, NvmlGpus
from tests.machine.gpus.library import GIB, Library

FULL = GpuReading(
    gpu=1,
    name="NVIDIA L4",
    used_gib=3.0,
    total_gib=24.0,
    utilization=97.0,
    power_w=71.25,
    temperature_c=64.0,
    reserved_gib=0.5,
    power_limit_w=72.0,
    energy_j=5000.0,
    sm_mhz=2040.0,
    memory_mhz=6251.0,
    ecc_uncorrected=2,
    pcie_rx_mb_s=12.5,
    pcie_tx_mb_s=2.5,
    uuid="GPU-1",
)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


async def looks(library, times, **how):
    """One reading of each time, of the second card."""
    clock = Clock()
    source, seen = NvmlGpus(library, clock=clock, **how), []
    for clock.now in times:
        seen.append((await source.read())[1])
    await source.close()
    return seen


async def read(library):
    source = NvmlGpus(library)
    readings = await source.read()
    await source.close()
    assert library.opened == 0
    return readings, source.reason


async def test_every_sensor_in_the_unit_it_is_shown_in():
    readings, reason = await read(Library())
    assert readings == [replace(FULL, gpu=0, uuid="GPU-0"), FULL]
    assert reason == ""


@pytest.mark.parametrize(
    ("missing", "field"),
    [
        ("memory", "reserved_gib"), ("use", "utilization"), ("power", "power_w"), ("limit", "power_limit_w"),
        ("heat", "temperature_c"), ("clock", "sm_mhz"), ("ecc", "ecc_uncorrected"), ("energy", "energy_j"),
        ("pcie", "pcie_rx_mb_s"),
    ],
)  # fmt: skip
async def test_a_sensor_that_is_not_there_is_none_and_no_reason_to_worry(missing, field):
    readings, reason = await read(Library(refuses={missing: pynvml.NVML_ERROR_NOT_SUPPORTED}))
    assert getattr(readings[0], field) is None
    assert (readings[0].name, reason) == ("NVIDIA L4", "")


async def test_a_nameless_card_has_its_number():
    readings, _ = await read(Library(refuses={"name": pynvml.NVML_ERROR_NOT_SUPPORTED}))
    assert readings[0].name == "GPU 0"


async def test_the_costly_sensors_are_asked_now_and_then_and_tell_their_age():
    library = Library()
    seen = await looks(library, [100.0 + second for second in range(61)])
    times = {name: library.asked[name] // 2 for name in ("memory", "power", "processes", "energy", "ecc", "limit")}
    assert times == {"memory": 61, "power": 61, "processes": 13, "energy": 7, "ecc": 2, "limit": 2}
    assert seen[4].energy_j == 5000.0
    assert seen[4].ages == {
        "power_limit_w": 4.0, "energy_j": 4.0, "ecc_uncorrected": 4.0, "pcie": 4.0, "processes": 4.0,
    }  # fmt: skip
    assert "energy_j" not in seen[10].ages


async def test_the_rate_of_a_fast_bus_is_told_whole():
    library = Library()
    library.received, library.sent = 55_000_000, 4_500
    (first,) = await looks(library, [100.0])
    assert (first.pcie_rx_mb_s, first.pcie_tx_mb_s) == (55_000.0, 4.5)


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (0, ()),
        (pynvml.nvmlClocksEventReasonGpuIdle, ()),
        (pynvml.nvmlClocksEventReasonSwPowerCap | pynvml.nvmlClocksEventReasonGpuIdle, ("power cap",)),
        (pynvml.nvmlClocksEventReasonHwSlowdown, ("hardware slowdown",)),
        (
            pynvml.nvmlClocksEventReasonHwSlowdown | pynvml.nvmlClocksEventReasonHwThermalSlowdown,
            ("thermal, hardware",),
        ),
        (
            pynvml.nvmlClocksEventReasonSyncBoost | pynvml.nvmlClocksEventReasonSwThermalSlowdown,
            ("sync boost", "thermal"),
        ),
    ],
)
async def test_why_clocks_are_held_down_in_words_and_idle_is_no_reason(bits, words):
    library = Library()
    library.reasons = bits
    readings, _ = await read(library)
    assert readings[0].throttled == words


async def test_an_older_driver_is_asked_by_the_older_names():
    missing = pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
    library = Library(refuses={"memory": missing, "reasons": missing})
    library.reasons = pynvml.nvmlClocksThrottleReasonSwPowerCap
    readings, reason = await read(library)
    assert (readings[0].used_gib, readings[0].reserved_gib, readings[0].throttled) == (4.0, None, ("power cap",))
    assert reason == ""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "no NVIDIA driver"),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "not loaded"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "reboot"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "/dev/nvidia"),
        (pynvml.NVML_ERROR_FUNCTION_NOT_FOUND, "too old"),
    ],
)
async def test_no_usable_driver_is_a_sentence_and_no_exception(code, words):
    readings, reason = await read(Library(init=code))
    assert readings == []
    assert words in reason


async def test_a_driver_that_is_loaded_later_is_found():
    source = NvmlGpus(library := Library(init=pynvml.NVML_ERROR_DRIVER_NOT_LOADED))
    await source.read()
    library.init = 0
    assert len(await source.read()) == 2
    assert source.reason == ""
    await source.close()


async def test_a_gpu_that_was_never_there_leaves_the_other_readable_and_is_named():
    source = NvmlGpus(library := Library(refuses={"handle 0": pynvml.NVML_ERROR_GPU_IS_LOST}))
    lost, other = await source.read()
    assert (lost.used_gib, other.used_gib) == (None, 3.0)
    assert source.reason.startswith("GPU 0 has fallen off the bus")
    library.refuses.clear()
    assert (await source.read())[0].used_gib == 3.0
    assert source.reason == ""
    await source.close()


async def test_a_gpu_that_is_lost_at_work_keeps_its_name_and_is_opened_again_after_a_while():
    clock, library = Clock(), Library()
    source = NvmlGpus(library, clock=clock)
    await source.read()
    library.refuses = {"handle 0": pynvml.NVML_ERROR_GPU_IS_LOST, "power 0": pynvml.NVML_ERROR_GPU_IS_LOST}
    lost, other = await source.read()
    assert (lost.name, lost.power_w, other.power_w) == ("NVIDIA L4", None, 71.25)
    assert source.reason.count("fallen off the bus") == 1
    clock.now += REOPEN_EVERY
    await source.read()
    lost, other = await source.read()
    assert (lost.name, lost.used_gib, other.used_gib) == ("NVIDIA L4", None, 3.0)
    assert library.opened == 1
    await source.close()


async def test_a_driver_that_is_replaced_under_it_is_opened_again():
    source = NvmlGpus(library := Library())
    await source.read()
    library.refuses = {"memory": pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH}
    await source.read()
    assert (library.opened, "reboot" in source.reason) == (0, True)
    library.refuses = {}
    assert (await source.read())[0].used_gib == 3.0
    await source.close()


async def test_what_the_account_may_not_read_is_said_once():
    denied = pynvml.NVML_ERROR_NO_PERMISSION
    readings, reason = await read(Library(refuses={"processes": denied, "drawing": denied}))
    assert readings[0].processes == ()
    assert reason.count("GPU 0 does not let this account read all of it") == 1


async def test_a_gpu_in_mig_mode_names_its_devices_and_tells_no_utilization():
    library = Library()
    library.mig = 1
    library.slices = {"s0": "NVIDIA A100-SXM4-80GB MIG 3g.40gb", "s1": b"NVIDIA A100-SXM4-80GB MIG 1g.10gb"}
    readings, reason = await read(library)
    assert (readings[0].name, readings[0].mig) == ("NVIDIA L4 (MIG: 3g.40gb, 1g.10gb)", True)
    assert (readings[0].utilization, library.asked["use"], reason) == (None, 0, "")
    library.slices = {}
    readings, _ = await read(library)
    assert readings[0].name == "NVIDIA L4 (MIG: not divided yet)"


@pytest.mark.parametrize("answer", ["not supported", "nothing"])
async def test_unified_memory_is_the_hosts_and_processes_are_kept(tmp_path, answer):
    (tmp_path / "meminfo").write_text("MemTotal: 125829120 kB\nMemFree: 1 kB\nMemAvailable: 94371840 kB\n")
    library = Library(refuses={"memory": pynvml.NVML_ERROR_NOT_SUPPORTED} if answer == "not supported" else {})
    if answer == "nothing":
        library.nvmlDeviceGetMemoryInfo = lambda *_, **__: pynvml.c_nvmlMemory_v2_t()
    library.processes = [(4242, 20 * GIB)]
    (reading,) = await looks(library, [100.0], meminfo=tmp_path / "meminfo")
    assert (reading.used_gib, reading.total_gib, reading.reserved_gib, reading.unified) == (30.0, 120.0, None, True)
    assert [one.used_gib for one in reading.processes] == [20.0]


async def test_memory_that_cannot_be_read_is_not_taken_for_the_hosts():
    readings, reason = await read(Library(refuses={"memory": pynvml.NVML_ERROR_UNKNOWN}))
    assert (readings[0].used_gib, readings[0].unified) == (None, False)
    assert "NVML, GPU 0" in reason


async def test_a_driver_that_hangs_is_said_and_holds_nobody_up():
    answers, library = threading.Event(), Library()
    count = library.nvmlDeviceGetCount
    library.nvmlDeviceGetCount = lambda: answers.wait() and count()
    source = NvmlGpus(library, patience=0.01)
    assert await source.read() == []
    assert "does not answer" in source.reason
    answers.set()
    source._patience = 5.0
    assert len(await source.read()) == 2
    assert source.reason == ""
    await source.close()


async def test_a_fault_of_ours_in_the_thread_is_seen_and_the_next_look_goes_on():
    source = NvmlGpus(library := Library())
    library.nvmlDeviceGetCount = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        await source.read()
    del library.nvmlDeviceGetCount
    assert len(await source.read()) == 2
    await source.close()


async def test_this_machine_answers_or_says_why_not():
    source = NvmlGpus()
    readings = await source.read()
    await source.close()
    assert readings or source.reason
