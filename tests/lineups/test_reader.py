"""Line-ups are read whole, or refused with one sentence that names the line and what would be right."""

from pathlib import Path

import pytest

from app.errors import BadLineup
from app.events.event_field_types import Sampling
from app.lineups.reader import read_lineup, require_lineup_path

GOOD = """\
title = "One card"

[[gpus]]
index = 0
kind = "NVIDIA L4"
memory_gib = 23.0
bandwidth_gb_s = 300

[engines.small]
title = "Small"
model = "org/small"
precision = "bf16"
gpus = [0]
tp = 1
max_model_len = 4096
base_urls = ["http://127.0.0.1:8000/v1"]

[seats]
architect = {engine = "small", temperature = 0, max_tokens = 800}
worker = {engine = "small", temperature = 0.1, max_tokens = 800}

[seats.auditor]
engine = "small"
temperature = 0.2
max_tokens = 400

[seats.sentry]
engine = "small"
temperature = 0.2
max_tokens = 200
"""


def read(tmp_path: Path, text: str):
    (path := tmp_path / "mine.toml").write_text(text)
    return read_lineup(path)


LAUNCHED = """
[engines.small.launch]
port = 8101
flags = ["--swap-space", "0"]
env = {CUDA_HOME = "/opt/cuda"}

[engines.small.speculation]
method = "mtp"
model = "org/drafter"
tokens = 2

[engines.small.reported]
source = "somebody's notes"
tok_s = 15.1
"""


def refusal(tmp_path: Path, text: str) -> str:
    with pytest.raises(BadLineup) as caught:
        read(tmp_path, text)
    return str(caught.value).removeprefix(f"{tmp_path}/")


def test_a_lineup_is_read_whole(tmp_path):
    lineup = read(tmp_path, GOOD)
    assert (lineup.name, lineup.title, lineup.note, lineup.simulated) == ("mine", "One card", "", False)
    assert lineup.gpus[0].bandwidth_gb_s == 300.0
    assert lineup.engines["small"].gpus == (0,)
    assert lineup.engines["small"].limit_tok_s is None
    assert [(role, seat.engine, seat.max_tokens) for role, seat in lineup.seats.items()] == [
        ("architect", "small", 800),
        ("worker", "small", 800),
        ("auditor", "small", 400),
        ("sentry", "small", 200),
    ]


def test_the_simulated_lineup_states_limits_that_follow_from_its_own_figures():
    lineup = read_lineup(require_lineup_path("simulated"))
    assert lineup.simulated
    assert {role: seat.engine for role, seat in lineup.seats.items()} == {
        "architect": "gemma-31b",
        "worker": "gemma-31b",
        "auditor": "gemma-e4b",
        "sentry": "gemma-e2b",
    }
    bandwidth = {gpu.index: gpu.bandwidth_gb_s for gpu in lineup.gpus}
    for engine in lineup.engines.values():
        read_per_token = float(engine.limit_source.split("÷ ")[1].split(" GB")[0])
        assert engine.limit_tok_s == pytest.approx(bandwidth[engine.gpus[0]] / read_per_token, abs=0.06)
        assert engine.simulation.tok_s < engine.limit_tok_s
        assert engine.simulation.vram_gib_per_gpu < lineup.gpus[0].memory_gib


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            '"small", temperature = 0,',
            '"smal", temperature = 0,',
            "19: no engine is called 'smal': did you mean 'small'?",
        ),
        (
            'engine = "small"\ntemperature = 0.2\nmax_tokens = 400',
            'engine = "big"\ntemperature = 0.2\nmax_tokens = 400',
            "23: no engine is called 'big': choose one of small",
        ),
        ("tp = 1\n", "", "9: tp is missing: add tp = a whole number"),
        ("tp = 1", 'tp = "one"', "14: tp should be a whole number"),
        ("tp = 1", "tp = 0", "14: tp should be more than 0"),
        ("tp = 1", "tp = 2", "14: tp = 2 does not divide the engine's 1 GPUs"),
        (
            "tp = 1",
            "tp = 1\nmax_modell_len = 3",
            "15: 'max_modell_len' is not a key of this table: did you mean 'max_model_len'?",
        ),
        ("gpus = [0]", "gpus = [0, 4]", "13: there is no GPU 4: the line-up has 0"),
        ("gpus = [0]", "gpus = [0, 0]", "13: a GPU is listed twice: list each once"),
        ("gpus = [0]", "gpus = 0", "13: gpus should be a list of whole numbers, like [0, 1]"),
        ("memory_gib = 23.0", "memory_gib = nan", "6: memory_gib should be more than 0"),
        ("memory_gib = 23.0", "memory_gib = true", "6: memory_gib should be a number"),
        (
            "bandwidth_gb_s = 300",
            "bandwidth_gb_s = 300\n[[gpus]]\nkind='x'\nmemory_gib=1\nbandwidth_gb_s=1\nindex = 0",
            "12: GPU 0 is listed twice: give each its own index",
        ),
        ("[seats.sentry]", "[seats.sentri]", "27: 'sentri' is not a key of this table: did you mean 'sentry'?"),
        (
            '[seats.sentry]\nengine = "small"\ntemperature = 0.2\nmax_tokens = 200\n',
            "",
            "18: the sentry has no seat: add [seats.sentry]",
        ),
        ("max_tokens = 200", "max_tokens = 4096", "30: small holds 4096 tokens with the prompt: ask for fewer"),
        (
            "temperature = 0.2\nmax_tokens = 200",
            "temperature = -1\nmax_tokens = 200",
            "29: temperature should be 0 or more",
        ),
        (
            "127.0.0.1:8000/v1",
            "127.0.0.1:8000",
            "16: 'http://127.0.0.1:8000' should start with http:// or https:// and end in /v1",
        ),
        (
            'base_urls = ["http://127.0.0.1:8000/v1"]',
            "",
            "9: an engine needs one of base_urls (it runs already), [launch] (Temper starts it) and [simulation]",
        ),
        (
            "tp = 1",
            "tp = 1\nlaunch = {port = 8001}",
            "15: an engine needs one of base_urls (it runs already), [launch] (Temper starts it) and [simulation]",
        ),
        ('"bf16"', '"NVFP4"', "12: precision should be one of bf16, fp8, nvfp4, awq4, gguf, unstated"),
        ("tp = 1", "tp = 1\npp = 2", "14: tp = 1 times pp = 2 does not divide the engine's 1 GPUs"),
        ("tp = 1", "tp = 1\nutilization = 90", "15: utilization is a share of the GPU's memory: at most 1"),
        ("tp = 1", 'tp = 1\nspeculation = {method = "mtp"}', "15: model is missing: add model = a string in quotes"),
        ("tp = 1", "tp = 1\nlimit_tok_s = 19", "15: a limit needs limit_source, the arithmetic it comes from"),
        ("tp = 1", "tp = 1\nsimulation = 4", "15: simulation should be a table with keys of its own"),
        ("[seats]\n", "[seat]\n", "18: 'seat' is not a key of this table: did you mean 'seats'?"),
        ('title = "One card"', "title = ", "1: this is not TOML: Invalid value"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, sentence):
    assert old in GOOD
    assert refusal(tmp_path, GOOD.replace(old, new, 1)).removesuffix(".") == f"mine.toml:{sentence}"


def test_a_lineup_without_gpus_or_engines_is_refused(tmp_path):
    assert refusal(tmp_path, 'title = "x"\n') == ("mine.toml:1: the line-up needs its GPUs, each as a [[gpus]] table.")
    assert refusal(tmp_path, GOOD.replace("[engines.small]", "[engines]")) == (
        "mine.toml:10: title should be a table: [engines.title]."
    )


def test_a_file_that_cannot_be_read_is_a_bad_lineup(tmp_path):
    with pytest.raises(BadLineup, match=r"cannot read .*: Is a directory"):
        read_lineup(tmp_path)
    (path := tmp_path / "latin.toml").write_bytes(b'title = "\xe9"')
    with pytest.raises(BadLineup, match="not UTF-8"):
        read_lineup(path)


def test_a_lineup_is_found_by_name_or_by_path(tmp_path):
    assert require_lineup_path("simulated").name == "simulated.toml"
    (path := tmp_path / "mine.toml").write_text(GOOD)
    assert require_lineup_path(str(path)) == path
    with pytest.raises(BadLineup, match="did you mean 'simulated'"):
        require_lineup_path("simulate")
    with pytest.raises(BadLineup, match="does not exist"):
        require_lineup_path(str(tmp_path / "other.toml"))


def test_a_launched_engine_has_an_address_and_gpus_for_each_replica(tmp_path):
    two = GOOD.replace(
        "[[gpus]]", '[[gpus]]\nindex = 1\nkind = "L4"\nmemory_gib = 23\nbandwidth_gb_s = 300\n\n[[gpus]]'
    )
    two = two.replace("gpus = [0]", "gpus = [0, 1]").replace('base_urls = ["http://127.0.0.1:8000/v1"]\n', "")
    engine = read(tmp_path, two + LAUNCHED).engines["small"]
    assert engine.replicas == ((0,), (1,))
    assert engine.addresses == ("http://127.0.0.1:8101/v1", "http://127.0.0.1:8102/v1")
    assert engine.launch
    assert engine.launch.env == {"CUDA_HOME": "/opt/cuda"}
    assert engine.speculation
    assert (engine.speculation.tokens, engine.speculation.acceptance) == (2, None)
    assert engine.reported
    assert (engine.reported.tok_s, engine.reported.kv_tokens) == (15.1, None)


WITHOUT_GPU = GOOD[: GOOD.index("[[gpus]]")] + GOOD[GOOD.index("[engines.small]") :].replace(
    'precision = "bf16"\ngpus = [0]\ntp = 1\n', 'kind = "llamacpp"\n'
).replace('base_urls = ["http://127.0.0.1:8000/v1"]', "launch = {port = 8111}")


def test_an_engine_on_the_processor_needs_no_gpu_no_tp_and_no_precision(tmp_path):
    lineup = read(tmp_path, WITHOUT_GPU)
    engine = lineup.engines["small"]
    assert (lineup.gpus, engine.gpus, engine.replicas, engine.precision_label) == ((), (), ((),), "GGUF")
    assert engine.addresses == ("http://127.0.0.1:8111/v1",)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('kind = "llamacpp"', 'kind = "llamacpp"\ngpus = [0]', "runs on the CPU: leave gpus out"),
        ("{port = 8111}", '{port = 8111, image = "a"}', "leave image out"),
        ('kind = "llamacpp"', 'kind = "ollama"', "the line-up needs its GPUs"),
        ('kind = "llamacpp"', 'kind = "vllm"', "the line-up needs its GPUs"),
    ],
)
def test_what_is_wrong_with_one_on_the_processor_is_said(tmp_path, old, new, sentence):
    with pytest.raises(BadLineup, match=sentence):
        read(tmp_path, WITHOUT_GPU.replace(old, new))


def test_how_a_seat_draws_its_answers(tmp_path):
    drawn = "max_tokens = 400\ntop_p = 0.9\nthinking = false\nguided = true"
    seats = read(tmp_path, GOOD.replace("max_tokens = 400", drawn, 1)).seats
    assert seats["auditor"].sampling == Sampling(top_p=0.9, thinking=False, guided=True)
    assert seats["sentry"].sampling == Sampling()
    assert Sampling().to_request_fields_besides_temperature() == {"chat_template_kwargs": {"enable_thinking": True}}
    told = Sampling(top_k=64, thinking_tokens=300).to_request_fields_besides_temperature()
    assert told == {"top_k": 64, "thinking_token_budget": 300, "chat_template_kwargs": {"enable_thinking": True}}


@pytest.mark.parametrize(
    ("extra", "guided", "shown", "asks"),
    [
        ("", False, True, True),
        ("", True, False, False),
        ('candidates = "architect"\nquestions = true\n', True, True, True),
        ('candidates = "none"\nquestions = false\n', False, False, False),
    ],
)
def test_who_sees_proposals_and_may_ask_is_stated_or_follows_from_the_architects_seat(
    tmp_path, extra, guided, shown, asks
):
    seat = 'architect = {engine = "small", temperature = 0, max_tokens = 800'
    lineup = read(tmp_path, extra + GOOD.replace(seat, f"{seat}, guided = {str(guided).lower()}"))
    architect, worker = lineup.get_sampling("architect"), lineup.get_sampling("worker")
    assert (architect.candidates, worker.candidates) == (shown, shown)
    assert (architect.questions, worker.questions) == (asks, False)


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ('candidates = "worker"\n', "mine.toml:1: candidates should be one of architect, none."),
        ("questions = 3\n", "mine.toml:1: questions should be true or false."),
    ],
)
def test_another_word_is_refused_with_its_line(tmp_path, extra, says):
    assert refusal(tmp_path, extra + GOOD) == says
