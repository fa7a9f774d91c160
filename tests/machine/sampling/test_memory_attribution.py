"""Given what a GPU tells and what is known of its engines: who holds its memory, and how that is known."""

from dataclasses import replace

import pytest

from app.engines.fit.estimate_result import Estimate
from app.events.event_field_types import GpuProcess
from app.events.kinds import EngineState, GpuSampled
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.gpus.gpu_processes import OUTSIDE
from app.machine.sampling.memory_attribution import KnownEngines, LoadedMemory, attribute_memory
from tests.machine.fits import fit
from tests.machine.samples import gpu_sample

PLAYED = read_lineup(require_lineup_path("simulated"))
REAL = replace(PLAYED, engines={name: replace(engine, simulation=None) for name, engine in PLAYED.engines.items()})
UP = {"gemma-31b": EngineState(engine="gemma-31b", state="ready")}


def reckoned(value):
    return Estimate(value, "estimated", "arithmetic")


FIT = fit(
    reckoned,
    missing_gib_per_gpu=reckoned(0),
    weights_gib_per_gpu=reckoned(16.0),
    kv_pool_gib_per_gpu=reckoned(2.5),
    other_gib_per_gpu=reckoned(3.0),
)


def card(*processes, used=21.9, total=23.0, **more):
    return gpu_sample(used_gib=used, total_gib=total, processes=processes, **more)


def parts(known, event):
    found = attribute_memory(known, event, "NVML")
    assert abs(sum(part.gib for part in found) - event.total_gib) < 1e-9
    return {part.kind: (round(part.gib, 2), part.provenance) for part in found}


ENGINE = GpuProcess(7, 21.0, "gemma-31b", "VLLM::Worker")


def test_the_engines_log_comes_before_its_plan():
    known = KnownEngines(REAL, UP, {"gemma-31b": LoadedMemory(16.3, 2.39)}, {"gemma-31b": FIT})
    assert parts(known, card(ENGINE, GpuProcess(9, 0.5, name="Xorg"), reserved_gib=0.4)) == {
        "weights": (16.3, "measured"),
        "kv": (2.39, "measured"),
        "graphs": (2.31, "derived"),
        "processes": (0.5, "measured"),
        "other": (0.4, "derived"),
        "reserved": (0.4, "measured"),
        "free": (0.7, "derived"),
    }


def test_without_a_log_the_plan_says_what_is_what():
    found = parts(KnownEngines(REAL, UP, fits={"gemma-31b": FIT}), card(ENGINE))
    assert (found["weights"], found["kv"], found["graphs"]) == (
        (16.0, "estimated"), (2.5, "estimated"), (2.5, "derived"),
    )  # fmt: skip


def test_the_size_that_the_engine_reports_corrects_the_plans_pool():
    fit = replace(FIT, kv_tokens=reckoned(10_000.0))
    found = parts(KnownEngines(REAL, UP, fits={"gemma-31b": fit}, kv_tokens={"gemma-31b": 12_000}), card(ENGINE))
    assert found["kv"] == (3.0, "derived")


def test_with_neither_the_engine_is_one_part():
    assert parts(KnownEngines(REAL, UP), card(ENGINE))["engine"] == (21.0, "measured")


@pytest.mark.parametrize("name", [OUTSIDE, "VLLM::EngineCor"])
def test_a_pid_that_cannot_be_followed_is_the_one_engines_that_sits_there(name):
    assert parts(KnownEngines(REAL, UP), card(GpuProcess(4242, 21.0, name=name)))["engine"] == (21.0, "derived")
    assert parts(KnownEngines(REAL), card(GpuProcess(4242, 21.0, name=name)))["processes"] == (21.0, "measured")


def test_a_program_of_somebody_else_is_never_taken_for_the_engine():
    found = parts(KnownEngines(REAL, UP, fits={"gemma-31b": FIT}), card(GpuProcess(9, 1.0, name="train.py"), used=20.0))
    assert (found["processes"], found["weights"]) == ((1.0, "measured"), (16.0, "estimated"))
    assert found["graphs"] == (0.5, "estimated")


def test_an_engine_that_is_not_up_holds_nothing():
    found = parts(KnownEngines(REAL, fits={"gemma-31b": FIT}), card(used=0.6))
    assert found == {"other": (0.6, "derived"), "free": (22.4, "derived")}


def test_a_process_without_its_memory_leaves_the_estimates():
    found = parts(KnownEngines(REAL, UP, fits={"gemma-31b": FIT}), card(GpuProcess(7, None, "gemma-31b")))
    assert found["graphs"] == (3.0, "estimated")
    assert "processes" not in found


def test_a_simulated_gpu_is_simulated_throughout():
    found = parts(KnownEngines(PLAYED, UP), card(simulated=True))
    assert {provenance for _, provenance in found.values()} == {"simulated"}
    assert (found["weights"][0], found["kv"][0], found["graphs"][0]) == (16.3, 2.39, 3.21)


def test_the_gpu_of_another_machine_is_found_by_its_host():
    far = replace(REAL, gpus=tuple(replace(gpu, host="node7", number=gpu.index + 4) for gpu in REAL.gpus))
    event = card(host="node7")
    known = KnownEngines(far, UP, fits={"gemma-31b": FIT})
    assert "weights" not in parts(known, event)
    assert "weights" in parts(known, replace_gpu(event, 4))


def replace_gpu(event, number):
    return GpuSampled(**{name: getattr(event, name) for name in event.__struct_fields__} | {"gpu": number})


def test_a_gpu_that_does_not_tell_its_memory_has_no_parts():
    assert attribute_memory(KnownEngines(REAL, UP), card(used=None), "NVML") == ()
    assert attribute_memory(KnownEngines(REAL, UP), card(total=None), "NVML") == ()
