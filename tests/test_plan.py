"""`temper plan`, as a person types it."""

import json
import re

import pytest

from app.cli.engine_plan import SingleModel, print_plan_and_get_exit_code
from app.errors import BadInput
from tests.engines.fit.planning import TINY_LLAMA
from tests.test_cli import refused, temper

TWO_L4 = """
title = "Two L4"

[[gpus]]
index = 0
kind = "NVIDIA L4"
memory_gib = 22.5
bandwidth_gb_s = 300

[[gpus]]
index = 1
kind = "NVIDIA L4"
memory_gib = 22.5
bandwidth_gb_s = 300

[engines.big]
title = "Gemma 4 31B NVFP4"
model = "nvidia/Gemma-4-31B-IT-NVFP4"
precision = "nvfp4"
gpus = [0, 1]
tp = 2
max_model_len = 4096
vllm = "0.19.0"
kv_dtype = "fp8"
base_urls = ["http://127.0.0.1:1/v1"]

[seats]
architect = { engine = "big", temperature = 0.3, max_tokens = 1200 }
worker = { engine = "big", temperature = 0.1, max_tokens = 1200 }
auditor = { engine = "big", temperature = 0.2, max_tokens = 600 }
sentry = { engine = "big", temperature = 0.2, max_tokens = 400 }
"""


@pytest.fixture
def two_l4(tmp_path):
    path = tmp_path / "two-l4.toml"
    path.write_text(TWO_L4)
    return str(path)


def plan(capsys, lineup="", one=None, *, gpus=""):
    code = print_plan_and_get_exit_code(lineup, one, gpus=gpus, as_json=True)
    return code, json.loads(capsys.readouterr().out)


def test_a_lineup_that_fits_ends_with_0_and_a_table(two_l4):
    done = temper("plan", two_l4)
    assert done.returncode == 0, done.stderr
    assert "big: Fits. 2.5 GiB of KV cache per GPU" in done.stdout


def test_a_plan_is_read_in_eighty_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert print_plan_and_get_exit_code("l4x4-nvfp4", None, gpus="", as_json=False) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert "…" not in said
    assert re.search(r"KV tokens +10,896 +39,856 +314,704", said)


def test_json_on_the_command_line_is_nothing_but_json():
    done = temper("plan", "--model", "google/gemma-4-31B-it", "--gpu", "l4:1", "--max-model-len", "4096", "--json")
    assert done.returncode == 2
    (one,) = json.loads(done.stdout)["engines"]
    assert (one["name"], one["fits"]) == ("gemma-4-31B-it", False)


def test_a_mistake_on_the_command_line_is_one_sentence(tmp_path):
    assert "give the path of its config.json" in refused("plan", "--model", "nobody/knows-it", "--gpu", "l4:1")
    (tmp_path / "config.json").write_text('{"model_type": "mamba2"}')
    assert "architecture 'mamba2'" in refused("plan", "--model", str(tmp_path), "--gpu", "l4:1")


def test_the_same_lineup_on_other_gpus(capsys, two_l4):
    code, plan_on_h200 = plan(capsys, two_l4, gpus="h200:2")
    assert code == 0
    assert plan_on_h200["engines"][0]["limit_tok_s"] > 200
    assert plan(capsys, two_l4, gpus="l4:4")[0] == 0


def test_a_config_of_ones_own(capsys, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(TINY_LLAMA))
    one = SingleModel(str(tmp_path / "config.json"), "bf16", kv_cache_bytes=1 << 27, vllm="0.32.0")
    code, found = plan(capsys, one=one, gpus="h200:1")
    assert code == 0
    assert found["engines"][0]["kv_tokens"] == 65_536
    assert found["engines"][0]["largest_context"] == 4096


def test_the_options_reach_the_reckoning(capsys):
    def engine(**options):
        one = SingleModel(**{"model": "google/gemma-4-31B-it", "precision": "bf16", "max_model_len": 4096, **options})
        return plan(capsys, one=one, gpus="h200:2")[1]["engines"][0]

    base = engine()
    assert engine(text_only=True)["weights_gib_per_gpu"] < base["weights_gib_per_gpu"]
    assert engine(tp=2)["weights_gib_per_gpu"] < base["weights_gib_per_gpu"]
    assert engine(pp=2)["weights_gib_per_gpu"] < base["weights_gib_per_gpu"]
    assert engine(precision="fp8")["weights_gib_per_gpu"] < base["weights_gib_per_gpu"]
    assert engine(utilization=0.7)["kv_pool_gib_per_gpu"] < base["kv_pool_gib_per_gpu"]
    assert engine(kv_dtype="fp8")["kv_tokens"] > base["kv_tokens"]
    assert engine(max_num_seqs=16)["other_gib_per_gpu"] < base["other_gib_per_gpu"]
    assert engine(eager=True)["other_gib_per_gpu"] < base["other_gib_per_gpu"]
    assert engine(vllm="0.19.0")["kv_tokens"] != base["kv_tokens"]
    assert engine(kv_cache_bytes=1 << 33)["kv_pool_gib_per_gpu"] == 8


def test_without_a_length_the_model_gets_all_its_positions(capsys):
    one = SingleModel("google/gemma-4-E4B-it", "bf16", text_only=True)
    found = plan(capsys, one=one, gpus="h200:1")[1]["engines"][0]
    assert "131,072 tokens" in found["says"]


@pytest.mark.parametrize(
    ("lineup", "one", "gpus", "says"),
    [
        ("", None, "", r"Give either a line-up .* or --model with --gpu"),
        ("simulated", SingleModel("m", "bf16"), "", "either a line-up"),
        ("", SingleModel("google/gemma-4-31B-it", "bf16"), "", "add --gpu, such as --gpu h200:1"),
        ("", SingleModel("google/gemma-4-31B-it", "int3"), "l4:1", "'int3' is not a precision: choose one of bf16"),
        ("", SingleModel("google/gemma-4-31B-it", "bf16", tp=4), "l4:2", "has no GPU 2: ask for l4:4"),
        ("", SingleModel("google/gemma-4-31B-it", "bf16"), "voodoo:2", "No GPU is called 'voodoo'"),
        ("", SingleModel("google/gemma-4-31B-it", "bf16", vllm="new"), "l4:2", "'new' is not a version of vLLM"),
    ],
)
def test_bad_input_says_what_to_give(lineup, one, gpus, says):
    with pytest.raises(BadInput, match=says):
        print_plan_and_get_exit_code(lineup, one, gpus=gpus, as_json=True)
