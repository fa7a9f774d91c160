"""Compare the GPUs found with those of the line-up, in sentences. Pure."""

import re
from collections.abc import Iterator, Mapping

from app.events.kinds import GpuSampled
from app.lineups.model import Engine, Gpu, Lineup

Seen = Mapping[tuple[str, int], GpuSampled]
_ORDER = "CUDA counts as NVML does only with CUDA_DEVICE_ORDER=PCI_BUS_ID"
_MUCH_GIB = 1.0
"""GiB that a process may hold on a GPU it does not work on."""


def describe_gpu_mismatches(lineup: Lineup, newest_by_gpu: Seen) -> list[str]:
    if not newest_by_gpu:
        return []
    real = [engine for engine in lineup.engines.values() if not engine.simulation]
    meant = [gpu for gpu in lineup.gpus if any(gpu.index in engine.gpus for engine in real)]
    found = [_check_expected_gpu(gpu, newest_by_gpu) for gpu in meant]
    found += [said for engine in real for said in _describe_memory_on_foreign_gpus(lineup, engine, newest_by_gpu)]
    return list(filter(None, found))


def _check_expected_gpu(gpu: Gpu, newest_by_gpu: Seen) -> str:
    event = newest_by_gpu.get(gpu.key)
    host, number = gpu.key
    if event is None:
        there = sorted(n for machine, n in newest_by_gpu if machine == host)
        if there:
            return f"the line-up's GPU {gpu.index} should be number {number}: there are {', '.join(map(str, there))}"
        known = sorted({machine for machine, _ in newest_by_gpu if machine})
        named = f": the DCGM exporters tell of {', '.join(known)}" if known else ""
        return f"nobody tells of the line-up's GPU {gpu.index} on {host or 'this machine'}{named}"
    wanted, found = _extract_model_words(gpu.kind), _extract_model_words(event.name)
    if event.name.startswith("GPU ") or not wanted or wanted & found:
        return ""
    return f"the line-up calls GPU {gpu.index} {gpu.kind}, and it is {event.name}: {_ORDER}"


def _describe_memory_on_foreign_gpus(lineup: Lineup, engine: Engine, newest_by_gpu: Seen) -> Iterator[str]:
    own = {gpu.key for gpu in lineup.gpus if gpu.index in engine.gpus}
    for key, event in newest_by_gpu.items():
        held = sum(one.used_gib or 0 for one in event.processes if one.engine == engine.name)
        if key not in own and held > _MUCH_GIB:
            meant = " + ".join(map(str, engine.gpus))
            yield f"{engine.name} holds {held:.1f} GiB of GPU {key[1]}, and the line-up has it on {meant}: {_ORDER}"


def _extract_model_words(name: str) -> set[str]:
    """Return the words that identify a model: L4, H100, GB10."""
    return {word for word in re.split(r"[^a-z0-9]+", name.casefold()) if any(map(str.isdigit, word))}
