"""Logs: real ones, of vLLM 0.25.1 on a GPU, and lines as 0.32.0 wrote them."""

from pathlib import Path

import pytest

from app.engines.doctor.engine_log_boots import read_boots
from app.engines.doctor.log_checks import diagnose_log
from app.errors import BadInput
from tests.engines.doctor.sick import list_checks, served
from tests.engines.fit.planning import lineup

LOGS = Path(__file__).parents[2] / "data" / "logs"
INFO = "(APIServer pid=7) INFO 11-21 02:00:51"
START = f"{INFO} [api_utils.py:273] non-default args: {{'model': 'm', 'served_model_name': ['m']"
PARSERS = "'reasoning_parser': 'gemma4', 'tool_call_parser': 'gemma4', 'enable_auto_tool_choice': True"
GEMMA = f"{INFO} [model.py:619] Resolved architecture: Gemma4ForCausalLM"
STEP = "(EngineCore pid=8) INFO 11-21 02:01:11 [gpu_model_runner.py:1] Model loading took 16.3 GiB memory and 40 s"
UP = "(APIServer pid=7) INFO:     Application startup complete."
OOM = "(EngineCore pid=8) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 336.00 MiB."


def flags(more=""):
    return f"{START}{', ' if more else ''}{more}}}"


GOOD = (flags(PARSERS), GEMMA, STEP, UP)


def drafted(percent):
    return f"(APIServer pid=7) INFO [m.py:1] SpecDecoding metrics: Avg Draft acceptance rate: {percent}%"


CASES = {
    # check, severity: a log that has it, and one that has not
    ("fatal-line", "stop"): ((flags(), STEP, OOM), GOOD),
    ("boots-on-second-try", "stop"): ((flags(), STEP, OOM, *GOOD), (*GOOD, *GOOD)),
    ("boots-on-second-try", "warn"): ((flags(), STEP, *GOOD), GOOD),
    ("died-and-restarted", "warn"): ((*GOOD, OOM, *GOOD), (*GOOD, *GOOD)),
    ("not-up-yet", "warn"): ((flags(), STEP), GOOD),
    ("marlin-not-native", "note"): ((*GOOD, "INFO Using MarlinNvFp4LinearKernel for NVFP4 GEMM"), GOOD),
    ("nvfp4-experimental", "note"): ((*GOOD, "WARNING Detected ModelOpt NVFP4 checkpoint (quant_algo=NVFP4)."), GOOD),
    ("graphs-not-counted", "warn"): ((*GOOD, "WARNING CUDA graph memory profiling is disabled (VLLM_MEM"), GOOD),
    ("graphs-at-high-utilization", "warn"): (
        (flags("'gpu_memory_utilization': 0.97, 'max_num_seqs': 256"), UP),
        (flags("'gpu_memory_utilization': 0.97, 'max_num_seqs': 16"), UP),
    ),
    ("missing-parsers", "warn"): ((flags(), GEMMA, UP), GOOD),
    ("chat-template-failed", "warn"): ((*GOOD, "WARNING Chat template rejected the request: x"), GOOD),
    ("acceptance-on-random-tokens", "note"): (
        (*GOOD, drafted("22.0"), drafted("44.0")),
        (*GOOD, drafted("44.0"), drafted("72.0")),
    ),
}


def told(lines, whole=None):
    return diagnose_log(read_boots(lines, "a.log"), whole)


@pytest.mark.parametrize(
    ("check", "severity", "sick", "well"), [pytest.param(*key, *both, id=key[0]) for key, both in CASES.items()]
)
def test_a_line_tells_and_without_it_nothing_is_told(check, severity, sick, well):
    assert (check, severity) in [(one.check, one.severity) for one in told(sick)]
    assert check not in [one.check for one in told(well)]


def test_every_check_is_in_the_table_but_the_one_about_line_ups():
    assert {check for check, _ in CASES} == list_checks("log") - {"log-of-another-model"}


@pytest.mark.parametrize(
    ("name", "checks"),
    [
        ("gpu-0.25.1-31b-bf16.log", {"missing-parsers"}),
        ("gpu-0.25.1-31b-nvfp4.log", {"missing-parsers", "marlin-not-native", "nvfp4-experimental"}),
        ("gpu-0.25.1-31b-nvfp4-tp2.log", {"missing-parsers", "marlin-not-native", "nvfp4-experimental"}),
        ("gpu-0.25.1-e2b-eager.log", {"missing-parsers"}),
        ("gpu-0.25.1-e4b.log", {"missing-parsers"}),
        ("gpu-0.25.1-engine-init-failed.log", {"missing-parsers", "fatal-line"}),
    ],
)
def test_real_logs(name, checks):
    with (LOGS / name).open() as lines:
        assert {one.check for one in told(lines)} == checks


def test_the_cause_is_named_with_its_line_and_comes_first():
    with (LOGS / "gpu-0.25.1-engine-init-failed.log").open() as lines:
        first = told(lines)[0]
    assert first.severity == "stop"
    assert first.says.startswith("line 89: the Python package cutlass is missing")


def test_two_real_boots_in_one_file_are_a_second_try():
    lines = [*(LOGS / "gpu-0.25.1-engine-init-failed.log").read_text().splitlines()]
    lines += (LOGS / "gpu-0.25.1-31b-bf16.log").read_text().splitlines()
    [finding] = [one for one in told(lines) if one.severity == "stop"]
    assert finding.check == "boots-on-second-try"
    assert "cutlass" in finding.says


def test_marlin_is_judged_by_the_gpus_of_the_line_up():
    lines = [flags(PARSERS), "INFO Using MarlinNvFp4LinearKernel for NVFP4 GEMM", UP]
    for gpus, severity in (("rtx-pro-6000:1", "warn"), ("l4:1", "note")):
        [finding] = told(lines, lineup(gpus, served(served_name="m")))
        assert (finding.check, finding.severity, finding.engine) == ("marlin-not-native", severity, "one")


def test_a_log_of_another_model_is_told():
    [finding] = told([flags(PARSERS), UP], lineup("l4:1", served(served_name="other")))
    assert finding.check == "log-of-another-model"
    assert "of m, which no engine" in finding.says


@pytest.mark.parametrize(
    "lines",
    [
        ["127.0.0.1 - - [21/Nov/2026] GET /vllm/index.html 200", "[emerg] bind() failed (98: Address already in use)"],
        ["\0\1\2", "all: demo", "vllm is great"],
    ],
)
def test_a_log_of_another_program_is_refused(lines):
    with pytest.raises(BadInput, match=r"a\.log is a log of another program: none of its [23] lines"):
        read_boots(lines, "a.log")


def test_an_empty_log_is_refused():
    with pytest.raises(BadInput, match="empty"):
        read_boots([], "a.log")


def test_escapes_in_a_log_reach_nobody():
    [finding, *_] = told([flags(), "vllm: error: unrecognized arguments: --\x1b]0;owned\x07\x1b[2Jx"])
    assert finding.check == "fatal-line"
    assert "\x1b" not in finding.says
