"""The words that an engine is started with."""

from dataclasses import replace

from app.engines.launch.launch_command import build_launch_command, build_serve_arguments
from app.lineups.model import Engine, Launch, Speculation

ENGINE = Engine(
    name="gemma-31b",
    title="",
    model="org/gemma",
    precision="nvfp4",
    gpus=(0, 1, 2, 3),
    tp=2,
    max_model_len=4096,
    served_name="gemma",
    launch=Launch(8101, flags=("--load-format", "dummy"), env={"A": "b"}),
    utilization=0.9,
    kv_dtype="fp8",
    max_num_seqs=16,
    eager=True,
    speculation=Speculation("mtp", "org/drafter", 2),
)


def after(words, flag):
    return words[words.index(flag) + 1]


def test_the_line_ups_fields_are_flags_and_its_own_words_come_last():
    words = build_launch_command(ENGINE, 0).argv
    assert words[:4] == ("vllm", "serve", "org/gemma", "--served-model-name")
    assert words[-2:] == ("--load-format", "dummy")
    assert after(words, "--tensor-parallel-size") == "2"
    assert after(words, "--gpu-memory-utilization") == "0.9"
    assert after(words, "--kv-cache-dtype") == "fp8"
    assert after(words, "--max-num-seqs") == "16"
    assert "--enforce-eager" in words
    assert after(words, "--speculative-config") == '{"method":"mtp","model":"org/drafter","num_speculative_tokens":2}'


def test_what_the_line_up_leaves_out_is_vllms_to_choose():
    words = build_launch_command(
        replace(ENGINE, utilization=None, kv_dtype="auto", eager=False, speculation=None), 0
    ).argv
    for flag in ("--gpu-memory-utilization", "--kv-cache-dtype", "--enforce-eager", "--speculative-config"):
        assert flag not in words


def test_each_replica_has_gpus_and_a_port_of_its_own():
    first, second = build_launch_command(ENGINE, 0), build_launch_command(ENGINE, 1)
    assert (first.env["CUDA_VISIBLE_DEVICES"], second.env["CUDA_VISIBLE_DEVICES"]) == ("0,1", "2,3")
    assert (first.port, second.port) == (8101, 8102)
    assert first.digest != second.digest


def test_nothing_is_fetched_and_nothing_is_reported():
    env = build_launch_command(ENGINE, 0).env
    assert env["HF_HUB_OFFLINE"] == env["TRANSFORMERS_OFFLINE"] == env["VLLM_NO_USAGE_STATS"] == "1"
    assert env["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert env["A"] == "b"


def test_a_container_gets_its_gpus_by_name_and_the_words_after_the_image():
    words = build_launch_command(
        replace(ENGINE, launch=replace(ENGINE.launch, image="temper/vllm:1")), 1, "podman"
    ).argv
    assert words[:5] == ("podman", "run", "--rm", "--name", "temper-gemma-31b-1")
    assert after(words, "--gpus") == '"device=2,3"'
    assert words[words.index("temper/vllm:1") + 1] == "org/gemma"
    assert "HF_HUB_OFFLINE=1" in words


def test_another_word_is_another_digest():
    assert build_launch_command(ENGINE, 0).digest != build_launch_command(replace(ENGINE, max_model_len=8192), 0).digest


def test_without_towers_it_is_told_to_leave_them():
    assert "--language-model-only" not in build_serve_arguments(ENGINE, 8000)
    assert "--language-model-only" in build_serve_arguments(replace(ENGINE, text_only=True), 8000)


def test_an_engine_on_the_processor_is_started_beside_temper_without_a_gpu():
    small = Engine("small", "", "smollm2", "gguf", (), 1, 4096, kind="llamacpp", max_num_seqs=3, launch=Launch(8111))
    asked = build_launch_command(small, 0, python="/opt/python")
    assert asked.argv[:5] == ("/opt/python", "-m", "app.engines.llamacpp", "smollm2", "--served-model-name")
    assert (after(asked.argv, "--port"), after(asked.argv, "--max-num-seqs")) == ("8111", "3")
    assert "--tensor-parallel-size" not in asked.argv
    assert (asked.gpus, asked.env["OMP_WAIT_POLICY"]) == ((), "passive")
    assert "CUDA_VISIBLE_DEVICES" not in asked.env
