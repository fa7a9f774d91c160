"""Given a line-up and the GPUs that are seen: sentences where they are not the same."""

from dataclasses import replace

import pytest

from app.events.event_field_types import GpuProcess
from app.lineups.model import Gpu
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.sampling.gpu_mismatch import describe_gpu_mismatches
from tests.machine.samples import gpu_sample

PLAYED = read_lineup(require_lineup_path("simulated"))
REAL = replace(
    PLAYED,
    engines={
        name: replace(engine, simulation=None, base_urls=("http://127.0.0.1:8000/v1",))
        for name, engine in PLAYED.engines.items()
    },
)


def card(number, name="NVIDIA L4", *, host="", processes=()):
    return gpu_sample(number, name=name, host=host, processes=processes)


def seen(*cards):
    return {(one.host, one.gpu): one for one in cards}


FOUR = [card(number) for number in range(4)]


def test_the_gpus_that_are_meant_need_no_word():
    assert describe_gpu_mismatches(REAL, seen(*FOUR, card(4, "NVIDIA T400"))) == []


def test_before_anything_is_seen_nothing_is_amiss():
    assert describe_gpu_mismatches(REAL, {}) == []


def test_simulated_engines_sit_on_no_gpu_of_this_machine():
    assert describe_gpu_mismatches(PLAYED, seen(card(0, "NVIDIA T400"))) == []


def test_a_gpu_that_is_not_there_is_named_with_those_that_are():
    (said,) = describe_gpu_mismatches(REAL, seen(*FOUR[:3]))
    assert said == "the line-up's GPU 3 should be number 3: there are 0, 1, 2"


def test_a_gpu_of_another_machine_needs_an_exporter_that_tells_of_it():
    far = replace(REAL, gpus=tuple(replace(gpu, host="node8") for gpu in REAL.gpus))
    said = describe_gpu_mismatches(far, seen(card(0, host="node7")))
    assert said[0] == "nobody tells of the line-up's GPU 0 on node8: the DCGM exporters tell of node7"
    assert describe_gpu_mismatches(far, seen(*(card(number, host="node8") for number in range(4)))) == []


def test_a_gpu_may_have_another_number_on_its_machine():
    far = replace(REAL, gpus=tuple(replace(gpu, number=gpu.index + 4) for gpu in REAL.gpus))
    assert describe_gpu_mismatches(far, seen(*(card(number) for number in range(8)))) == []


def test_another_kind_of_gpu_is_a_matter_of_order():
    (said,) = describe_gpu_mismatches(REAL, seen(card(0, "NVIDIA T400"), *FOUR[1:]))
    assert said.startswith("the line-up calls GPU 0 NVIDIA L4, and it is NVIDIA T400")
    assert "CUDA_DEVICE_ORDER=PCI_BUS_ID" in said


@pytest.mark.parametrize(
    ("kind", "name"),
    [("NVIDIA H100 SXM", "NVIDIA H100 80GB HBM3"), ("GB10", "NVIDIA GB10"), ("Tesla", "NVIDIA L4"), ("L4", "GPU 0")],
)
def test_names_that_may_be_the_same_kind_are_left_alone(kind, name):
    gpus = (Gpu(0, kind, 80, 3350), *REAL.gpus[1:])
    assert describe_gpu_mismatches(replace(REAL, gpus=gpus), seen(card(0, name), *FOUR[1:])) == []


def test_an_engine_on_other_gpus_than_the_line_up_says_is_named():
    strays = (GpuProcess(7, 20.0, "gemma-31b", "VLLM::Worker"), GpuProcess(8, 0.3, "gemma-e2b"))
    (said,) = describe_gpu_mismatches(REAL, seen(*FOUR[:2], card(2, processes=strays), FOUR[3]))
    assert said.startswith("gemma-31b holds 20.0 GiB of GPU 2, and the line-up has it on 0 + 1")
