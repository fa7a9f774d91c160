import pytest

from app.engines.fit.gpu_kinds import (
    GPU_KINDS,
    find_gpu_kind,
    has_large_batches,
    is_cpu,
    limit_stated_gib_to_cuda_visible,
    parse_gpu_kind_colon_count,
)
from app.errors import BadInput
from app.lineups.model import Gpu


@pytest.mark.parametrize(
    ("nvml", "name"),
    [
        ("NVIDIA L4", "l4"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA A100-SXM4-80GB", "a100-80"),
        ("NVIDIA A100 80GB PCIe", "a100-80"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H200", "h200"),
        ("NVIDIA B200", "b200"),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000"),
        ("NVIDIA GB10", "gb10"),
    ],
)
def test_nvmls_name_finds_the_kind(nvml, name):
    assert find_gpu_kind(nvml).name == name
    assert find_gpu_kind(name.upper()).name == name


@pytest.mark.parametrize(
    "other", ["NVIDIA L40", "NVIDIA A100-SXM4-40GB", "NVIDIA H100 PCIe", "NVIDIA RTX 6000 Ada", ""]
)
def test_another_card_is_not_taken_for_one_of_them(other):
    assert find_gpu_kind(other) is None


def test_bandwidth_is_as_published():
    assert {kind.name: kind.bandwidth_gb_s for kind in GPU_KINDS} == {
        "l4": 300,
        "l40s": 864,
        "a100-80": 2039,
        "h100": 3350,
        "h200": 4800,
        "b200": 8000,
        "rtx-pro-6000": 1792,
        "gb10": 273,
    }


def test_a_count_or_the_indices_make_the_gpus():
    assert [gpu.index for gpu in parse_gpu_kind_colon_count("l4:4", (0, 1))] == [0, 1, 2, 3]
    assert [gpu.index for gpu in parse_gpu_kind_colon_count("h200", (2, 3))] == [2, 3]
    assert parse_gpu_kind_colon_count("gb10", (0,))[0].unified


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("l5:4", "No GPU is called 'l5': choose one of l4, "),
        ("l4:0", "should be a GPU and how many"),
        ("l4:many", "should be a GPU and how many"),
        ("l4:99999999999999999999", "should be a GPU and how many"),
        ("l4:00001999", "should be a GPU and how many"),
        ("l4:1", "has no GPU 1: ask for l4:2"),
    ],
)
def test_what_is_no_gpu_says_what_is(text, says):
    with pytest.raises(BadInput, match=says):
        parse_gpu_kind_colon_count(text, (0, 1))


def test_cuda_gives_out_no_more_than_it_sees():
    assert limit_stated_gib_to_cuda_visible(Gpu(0, "NVIDIA L4", 23.0, 300)) == 22.03
    assert limit_stated_gib_to_cuda_visible(Gpu(0, "NVIDIA L4", 20.0, 300)) == 20.0
    assert limit_stated_gib_to_cuda_visible(Gpu(0, "Some card", 23.0, 300)) == 23.0
    assert limit_stated_gib_to_cuda_visible(Gpu(0, "NVIDIA GB10", 121.0, 273, unified=True)) == 121.0


def test_large_cards_batch_more_but_not_an_a100():
    assert [kind.name for kind in GPU_KINDS if has_large_batches(parse_gpu_kind_colon_count(kind.name, (0,))[0])] == [
        *("h100", "h200", "b200", "rtx-pro-6000", "gb10")
    ]
    assert is_cpu(Gpu(0, "CPU", 16, 50))
