"""What looking at the GPUs costs: each NVML call by itself, a whole look of ours, and the shares of a second.

    python bench/nvml.py [--rounds 200] [--write]

The floor is a bare memory-info call of the same run. A look of ours every second stands beside the sum of the calls
that it makes, one that asks every costly sensor too stands beside theirs. Where there is no NVML it says so and ends
with 0. --write puts the tables into docs/measurements/.
"""

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pynvml

from app.machine.gpus.gpu_processes import GpuProcesses
from app.machine.gpus.host_memory import MEMINFO
from app.machine.gpus.nvml_call_errors import NvmlQuery
from app.machine.gpus.nvml_card import NvmlCard

ROOT = Path(__file__).parent.parent
FLOOR, PCIE = "memory info v2", "PCIe throughput, each way for 20 ms"
AIM_PERCENT = 1.0
"""Of one core, for looking at one GPU by the second."""
Calls = dict[str, Callable[[], object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as exc:
        print(f"There is no NVML here to measure: {exc}.")
        return
    try:
        lines = list(report(asked.rounds))
    finally:
        pynvml.nvmlShutdown()
    print("\n".join(lines))
    if asked.write:
        path = ROOT / "docs" / "measurements" / "nvml.md"
        path.write_text("\n".join([*lines, ""]))


def report(rounds: int) -> Iterator[str]:
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    often, seldom = every_second(handle), now_and_then(handle)
    told = {
        name: timed(call, rounds if name in often else max(rounds // 10, 5)) for name, call in (often | seldom).items()
    }
    yield from head(handle)
    yield from ["", "| call | p50 µs | p99 µs | × the floor |", "|---|---|---|---|"]
    floor = told[FLOOR][0]
    for name, times in told.items():
        yield f"| {name} | {shown(times)} | {times[0] / floor:.1f} |" if times else f"| {name} | not supported | | |"
    yield from looks(handle, rounds, {name: times[0] for name, times in told.items() if times}, floor)
    yield from ["", f"One reading: `{reading(handle)}`"]


def every_second(handle: object) -> Calls:
    return {
        FLOOR: lambda: pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2),
        "utilization": lambda: pynvml.nvmlDeviceGetUtilizationRates(handle),
        "power": lambda: pynvml.nvmlDeviceGetPowerUsage(handle),
        "temperature": lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
        "clock of the multiprocessors": lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
        "clock of the memory": lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM),
        "throttle reasons": lambda: pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle),
    }


def now_and_then(handle: object) -> Calls:
    uncorrected, since = pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, pynvml.NVML_VOLATILE_ECC
    return {
        "compute processes": lambda: pynvml.nvmlDeviceGetComputeRunningProcesses(handle),
        "graphics processes": lambda: pynvml.nvmlDeviceGetGraphicsRunningProcesses(handle),
        "total energy": lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(handle),
        PCIE: lambda: [pynvml.nvmlDeviceGetPcieThroughput(handle, way) for way in (1, 0)],
        "uncorrected ECC errors": lambda: pynvml.nvmlDeviceGetTotalEccErrors(handle, uncorrected, since),
        "enforced power limit": lambda: pynvml.nvmlDeviceGetEnforcedPowerLimit(handle),
        "name": lambda: pynvml.nvmlDeviceGetName(handle),
        "MIG mode": lambda: pynvml.nvmlDeviceGetMigMode(handle),
    }


def timed(call: Callable[[], object], rounds: int) -> tuple[float, float] | None:
    """p50 and p99 in microseconds; None where the GPU does not have it."""
    times = []
    for _ in range(rounds + 3):
        began = time.perf_counter_ns()
        try:
            call()
        except pynvml.NVMLError:
            return None
        times.append((time.perf_counter_ns() - began) / 1000)
    times = sorted(times[3:])
    return statistics.median(times), times[min(len(times) - 1, int(len(times) * 0.99))]


def looks(handle: object, rounds: int, calls: dict[str, float], floor: float) -> Iterator[str]:
    card = NvmlCard(pynvml, NvmlQuery(), 0, handle, GpuProcesses(), MEMINFO)
    card.read(0.0)
    card.read(1.0)
    cheap = timed(lambda: card.read(1.5), rounds)
    full = timed(
        lambda: NvmlCard(pynvml, NvmlQuery(), 0, handle, GpuProcesses(), MEMINFO).read(0.0), max(rounds // 10, 5)
    )
    assert cheap
    assert full
    names = every_second(handle)
    bare = sum(cost for name, cost in calls.items() if name in names)
    yield from ["", "| look of ours | p50 µs | p99 µs | × the floor | × its bare calls |", "|---|---|---|---|---|"]
    yield f"| by the second | {shown(cheap)} | {cheap[0] / floor:.1f} | {cheap[0] / bare:.2f} |"
    yield f"| with every sensor | {shown(full)} | {full[0] / floor:.1f} | {full[0] / sum(calls.values()):.2f} |"
    minute = 60 * cheap[0] + sum(cost * TIMES.get(name, 1) for name, cost in calls.items() if name not in names)
    share = minute / 60e6 * 100
    met = "met" if share <= AIM_PERCENT else "missed"
    yield from ["", f"In all {share:.3f} % of one core for one GPU; the aim is at most {AIM_PERCENT:g} %: {met}."]


TIMES = {"compute processes": 12, "graphics processes": 12, "total energy": 6, PCIE: 6}
"""How often a minute."""


def head(handle: object) -> Iterator[str]:
    gpus, driver = pynvml.nvmlDeviceGetCount(), pynvml.nvmlSystemGetDriverVersion()
    machine = f"{platform.machine()}, {os.cpu_count()} cores · Python {platform.python_version()}"
    yield "# What looking at the GPUs costs"
    yield ""
    yield f"{datetime.now(UTC).date()} · {gpus} × {pynvml.nvmlDeviceGetName(handle)} · driver {driver} · {machine}"
    yield ""
    yield "`python bench/nvml.py --write`. The floor is a bare memory-info call of the same run."


def reading(handle: object) -> dict[str, object]:
    card = NvmlCard(pynvml, NvmlQuery(), 0, handle, GpuProcesses(), MEMINFO)
    return {name: value for name, value in asdict(card.read(0.0)).items() if name != "uuid"}


def shown(times: tuple[float, float]) -> str:
    return f"{times[0]:.1f} | {times[1]:.1f}"


if __name__ == "__main__":
    main()
