"""Each pitfall: the smallest line-up that has it, and the same line-up mended."""

from dataclasses import replace

import pytest

from app.engines.doctor.diagnose import diagnose_lineup
from app.engines.doctor.files_and_environment_for_checks import LocalInventory
from app.engines.doctor.vllm_flag_and_template_checks import TEMPLATE_SHA256
from app.engines.fit.fit_verdict import ProgramsOnGpu
from app.engines.fit.gpu_kinds import parse_gpu_kind_colon_count
from app.lineups.model import Gpu, Speculation
from app.lineups.reader import list_shipped_lineup_names, read_lineup, require_lineup_path
from tests.engines.doctor.sick import PARSERS, TIGHT_JSON, found, list_checks, served, with_kind
from tests.engines.fit.planning import BF16, E2B, lineup

AWQ = {"model": "cyankiwi/gemma-4-31B-it-AWQ-4bit", "precision": "awq4", "kv_dtype": "fp8"}
ON_L4 = {"tp": 2, "kv_dtype": "fp8", "text_only": False, "max_num_seqs": None, "vllm": "0.19.0", "utilization": 0.9}
ASSISTANT, EAGLE = "google/gemma-4-31B-it-assistant", "RedHatAI/gemma-4-31B-it-speculator.eagle3"
DFLASH = "RedHatAI/gemma-4-31B-it-speculator.dflash"
RTX_4060 = with_kind(parse_gpu_kind_colon_count("h200:1", ()), "NVIDIA GeForce RTX 4060 Ti")
FOLDER = "/models/heretic"
LITERAL = [f"model.layers.{n}.self_attn.{part}" for n in range(60) for part in ("q_proj", "k_proj", "v_proj", "o_proj")]


def drafts(method, model, **more):
    return {"speculation": Speculation(method=method, model=model, tokens=2, **more)}


def checkpoint(*ignore):
    return LocalInventory(
        configs={NVFP4: {"quantization_config": {"quant_method": "compressed-tensors", "ignore": [*ignore]}}}
    )


def template(sha256, **more):
    return LocalInventory(templates={"t.jinja": sha256}, **more)


NVFP4 = "nvidia/Gemma-4-31B-IT-NVFP4"
CASES = {
    # check, severity: what is wrong, and the same mended; each is (fields, GPUs, what this machine has)
    ("tp-does-not-divide-heads", "stop"): (({"tp": 3}, "h200:3"), ({"tp": 4}, "h200:4")),
    ("pp-with-gemma4", "stop"): (({"pp": 2, "vllm": "0.20.2"}, "h200:2"), ({"pp": 2, "vllm": "0.21.0"}, "h200:2")),
    ("pp-with-gemma4", "warn"): (({"pp": 2, "vllm": ""}, "h200:2"), ({"tp": 2, "vllm": ""}, "h200:2")),
    ("beyond-the-model", "stop"): (({"max_model_len": 262145}, "h200:1"), ({"max_model_len": 262144}, "h200:1")),
    ("context-without-kv", "stop"): (
        ({"max_model_len": 262144, "tp": 2}, "l4:2"),
        ({"max_model_len": 262144, "tp": 2}, "h100:2"),
    ),
    ("does-not-fit", "stop"): (
        ({"model": BF16, "precision": "bf16", "tp": 2}, "l4:2"),
        ({"model": BF16, "precision": "bf16", "tp": 4}, "l4:4"),
    ),
    ("starts-by-luck", "warn"): (
        ({**ON_L4, "max_model_len": 96000}, "l4:2"),
        ({**ON_L4, "max_model_len": 94000}, "l4:2"),
    ),
    ("graphs-at-high-utilization", "stop"): (
        ({**AWQ, "tp": 2, "utilization": 0.95, "max_num_seqs": 256, "vllm": "0.20.0"}, "h100:2"),
        ({**AWQ, "tp": 2, "utilization": 0.94, "max_num_seqs": 256, "vllm": "0.20.0"}, "h100:2"),
    ),
    ("graphs-at-high-utilization", "warn"): (
        ({"utilization": 0.96, "max_num_seqs": 256}, "h200:1"),
        ({"utilization": 0.96, "max_num_seqs": 128}, "h200:1"),
    ),
    ("multimodal-at-high-utilization", "warn"): (
        ({"text_only": False, "utilization": 0.94}, "h100:1"),
        ({"text_only": False, "utilization": 0.92}, "h100:1"),
    ),
    ("max-num-seqs-past-the-knee", "warn"): (
        ({**AWQ, "max_num_seqs": 65}, "h100:1"),
        ({**AWQ, "max_num_seqs": 64}, "h100:1"),
    ),
    ("little-memory-left", "warn"): (({**ON_L4, "utilization": 0.9}, "l4:2"), ({**ON_L4, "utilization": 0.87}, "l4:2")),
    ("mtp-without-method", "stop"): (
        ({"vllm": "0.22.1", **drafts("", ASSISTANT)}, "h200:1"),
        ({"vllm": "0.22.1", **drafts("mtp", ASSISTANT)}, "h200:1"),
    ),
    ("mtp-without-method", "warn"): (
        (drafts("draft_model", ASSISTANT), "h200:1"),
        (drafts("mtp", ASSISTANT), "h200:1"),
    ),
    ("mtp-too-early", "stop"): (
        ({"vllm": "0.20.2", **drafts("mtp", ASSISTANT)}, "h200:1"),
        ({"vllm": "0.21.0", **drafts("mtp", ASSISTANT)}, "h200:1"),
    ),
    ("parallel-drafting-unprepared", "stop"): (
        (drafts("eagle3", EAGLE, parallel_drafting=True), "h200:1"),
        (drafts("eagle3", EAGLE), "h200:1"),
    ),
    ("dflash-on-ada", "stop"): (
        ({"vllm": "0.22.1", **drafts("dflash", DFLASH)}, RTX_4060),
        ({"vllm": "0.22.1", **drafts("eagle3", EAGLE)}, RTX_4060),
    ),
    ("dflash-on-ada", "warn"): ((drafts("dflash", DFLASH), "l4:1"), (drafts("dflash", DFLASH), "h200:1")),
    ("acceptance-on-random-tokens", "note"): (
        (drafts("eagle3", EAGLE, acceptance=2.3, source="43 % of random tokens"), "h200:1"),
        (drafts("eagle3", EAGLE, acceptance=2.9, source="MT-Bench"), "h200:1"),
    ),
    ("cannot-be-reckoned", "warn"): (({"model": "someone/else"}, "h200:1"), ({"model": NVFP4}, "h200:1")),
    ("stale-chat-template", "warn"): (({}, "h200:1", template("5" * 64)), ({}, "h200:1", template(TEMPLATE_SHA256))),
    ("stale-chat-template", "stop"): (
        ({}, "h200:1", LocalInventory(serves=True)),
        ({}, "h200:1", template(TEMPLATE_SHA256)),
    ),
    ("stale-chat-template", "note"): (
        ({"chat_template": ""}, "h200:1"),
        ({"chat_template": "", "model": BF16}, "h200:1"),
    ),
    ("attention-not-ignored", "stop"): (
        ({}, "h200:1", checkpoint("lm_head", *LITERAL)),
        ({}, "h200:1", checkpoint("lm_head", *LITERAL, "re:.*self_attn.*")),
    ),
    ("attention-not-ignored", "note"): (
        ({"model": "trohrbaugh/gemma-4-31b-it-heretic-ara-NVFP4"}, "h200:1"),
        ({"model": NVFP4}, "h200:1"),
    ),
}


def table(cases):
    return [pytest.param(*key, sick, mended, id="-".join(key)) for key, (sick, mended) in cases.items()]


def names(one, gpus, here=LocalInventory()):  # noqa: B008  frozen
    return [(finding.check, finding.severity) for finding in found(served(**one), gpus, here)]


@pytest.mark.parametrize(("check", "severity", "sick", "mended"), table(CASES))
def test_a_pitfall_is_found_and_the_mended_line_up_has_it_no_more(check, severity, sick, mended):
    assert (check, severity) in names(*sick)
    assert (check, severity) not in names(*mended)


FLAG_CASES = {
    ("image-without-digest", "warn"): (
        {"image": "vllm/vllm-openai:v0.25.1"},
        {"image": f"vllm/vllm-openai:v0.25.1@sha256:{'5' * 64}"},
    ),
    ("missing-parsers", "warn"): ({"flags": TIGHT_JSON}, {}),
    ("missing-parsers", "stop"): ({"flags": (*TIGHT_JSON, "--enable-auto-tool-choice")}, {}),
    ("padded-answers", "note"): ({"flags": PARSERS}, {}),
    ("attention-backend-forced", "stop"): (
        {"more": ("--attention-backend", "FLASH_ATTN"), "vllm": "0.22.1"},
        {"more": ("--attention-backend", "FLASH_ATTN"), "vllm": "0.24.0"},
    ),
    ("unreadable-flag", "stop"): ({"more": ("--max-num-seqs", "many")}, {"more": ("--max-num-seqs", "32")}),
    ("too-few-gpus", "stop"): ({"more": ("-tp", "8")}, {"more": ("-tp", "1")}),
    ("flag-overrides-lineup", "warn"): ({"more": ("--max_num_seqs=16",)}, {"more": ("--max_num_seqs=32",)}),
    ("marlin-forced", "warn"): (
        {"env": {"VLLM_NVFP4_GEMM_BACKEND": "marlin"}},
        {"env": {"VLLM_NVFP4_GEMM_BACKEND": "flashinfer-cutlass"}},
    ),
}


@pytest.mark.parametrize(("check", "severity", "sick", "mended"), table(FLAG_CASES))
def test_what_it_is_started_with(check, severity, sick, mended):
    def told(more=(), **fields):
        return [(one.check, one.severity) for one in found(served(*more, **fields), "rtx-pro-6000:1")]

    assert (check, severity) in told(**sick)
    assert (check, severity) not in told(**mended)


def test_every_check_is_in_a_table():
    assert {check for check, _ in (*CASES, *FLAG_CASES)} == list_checks("lineup")


def test_a_healthy_line_up_has_no_findings():
    assert found(served(), "h200:1", template(TEMPLATE_SHA256)) == []


@pytest.mark.parametrize("name", list_shipped_lineup_names())
def test_the_shipped_line_ups_stop_nowhere(name):
    assert [one for one in diagnose_lineup(read_lineup(require_lineup_path(name))) if one.severity == "stop"] == []


def test_the_shipped_line_ups_have_what_was_reported_of_them():
    def told(name):
        return {one.check for one in diagnose_lineup(read_lineup(require_lineup_path(name)))}

    assert {"max-num-seqs-past-the-knee", "acceptance-on-random-tokens"} <= told("h100x2-push")
    assert "little-memory-left" in told("l4x4-nvfp4")
    assert "little-memory-left" in told("l4x4-bf16-tp4")


SMALL = served(model=E2B, precision="bf16", vllm="0.19.0", utilization=0.65)
"""On an H100 it leaves 27.7 GiB to others, and needs 51.1 itself."""


def test_an_engine_that_starts_earlier_takes_of_the_memory_that_is_left():
    second = replace(SMALL, name="second")
    assert found(second, "h100:1", check="little-memory-left") == []
    first = served(model=E2B, precision="bf16", utilization=0.4)
    findings = diagnose_lineup(lineup("h100:1", first, second))
    [finding] = [one for one in findings if one.check == "little-memory-left"]
    assert finding.engine == "second"
    assert "and one hold 27.2: 0.8 GiB are left" in finding.says


def test_programs_that_hold_memory_of_the_gpu_count():
    name = "python (process 7)"
    tight, full = (LocalInventory(programs={0: ProgramsOnGpu((name,), gib)}) for gib in (27.2, 40.0))
    [warn] = found(SMALL, "h100:1", tight, check="little-memory-left")
    assert f"and {name} hold 27.2: 0.9 GiB are left" in warn.says
    [stop] = found(SMALL, "h100:1", full, check="does-not-fit")
    assert stop.says.startswith(f"Shares a GPU with {name}: 40.0 of 79.2 GiB are taken")
    assert stop.fix == "End what else runs there, or lower the utilization, here to 0.49 at most"


def test_flags_count_before_the_fields():
    speculation = '{"model":"google/gemma-4-31B-it-assistant","num_speculative_tokens":2}'
    assert found(served("--speculative-config", speculation, vllm="0.22.1"), check="mtp-without-method")
    assert found(served("-tp", "3", gpus=(0, 1, 2)), check="tp-does-not-divide-heads")


def test_the_fix_for_a_context_that_is_too_long_starts_with_a_margin():
    one = served(model=BF16, precision="bf16", tp=4, max_model_len=262144)
    [finding] = found(one, "l4:4", check="context-without-kv")
    proposed = int(finding.fix.split("max_model_len = ")[1].split(" ")[0])
    mended = served(model=BF16, precision="bf16", tp=4, max_model_len=proposed)
    assert found(mended, "l4:4", check="context-without-kv") == []
    assert found(mended, "l4:4", check="starts-by-luck") == []


def test_the_knee_moves_with_the_memory():
    assert found(served(max_num_seqs=128, **AWQ), "h200:1", check="max-num-seqs-past-the-knee") == []
    assert found(served(max_num_seqs=129, **AWQ), "h200:1", check="max-num-seqs-past-the-knee")
    assert found(served(max_num_seqs=128, tp=2, **AWQ), "h100:2", check="max-num-seqs-past-the-knee") == []
    [left_out] = found(served(max_num_seqs=None, **AWQ), "h100:1", check="max-num-seqs-past-the-knee")
    assert "default" in left_out.says


def test_a_drafter_that_is_prepared_may_draft_in_parallel():
    one = served(**drafts("eagle3", EAGLE, parallel_drafting=True))
    for prepared in ({"pard_token": 7}, {"ptd_token_id": 7}, {"dflash_config": {"mask_token_id": 7}}):
        assert found(one, here=LocalInventory(configs={EAGLE: prepared}), check="parallel-drafting-unprepared") == []
    assert found(one, here=LocalInventory(configs={EAGLE: {"hidden_size": 1}}), check="parallel-drafting-unprepared")


def test_a_drafter_says_itself_that_it_is_mtp():
    one = served(vllm="0.22.1", **drafts("", "/models/drafter"))
    assert found(one, check="mtp-without-method") == []
    here = LocalInventory(configs={"/models/drafter": {"model_type": "gemma4_assistant"}})
    assert found(one, here=here, check="mtp-without-method")


ENDLESS = ("re:(.+)+X", f"re:{'.*' * 60}X", f"re:{'(.|.)' * 40}X", "re:(?x)(.+) +X", "re:(.+)(?#)+X")


@pytest.mark.parametrize("ignore", ["re:.*self_attn.q_proj", "re:*(", "re:x{99999999999}", 'x"; nonsense', *ENDLESS])
def test_an_entry_that_misses_a_part_of_attention_is_none(ignore):
    assert found(served(), here=checkpoint(*LITERAL, ignore), check="attention-not-ignored")


@pytest.mark.parametrize("ignore", [r"re:.*\.layers\.\d+\.self_attn\..*", r"re:.*self_attn\.(q|k|v|o)_proj$"])
def test_usual_patterns_are_tried(ignore):
    assert found(served(), here=checkpoint(*LITERAL, ignore), check="attention-not-ignored") == []


def test_a_checkpoint_whose_attention_is_quantised_too_needs_no_entry():
    assert found(served(), here=checkpoint("lm_head"), check="attention-not-ignored") == []


def test_the_templates_sha256_in_the_line_up_is_held_to_the_file():
    one = served(chat_template_sha256=TEMPLATE_SHA256)
    [finding] = found(one, here=template("6" * 64, serves=True), check="stale-chat-template")
    assert "expects 94899c0f917d" in finding.says
    assert found(one, here=template(TEMPLATE_SHA256), check="stale-chat-template") == []
    pinned_otherwise = served(chat_template_sha256="7" * 64)
    assert found(pinned_otherwise, check="stale-chat-template")[0].severity == "warn"


def test_a_template_inside_an_image_is_not_looked_for_here():
    one = served(image="vllm/vllm-openai:v0.25.1")
    assert [
        finding.severity for finding in found(one, here=LocalInventory(serves=True), check="stale-chat-template")
    ] == ["note"]


def test_stops_come_first_and_engines_keep_their_order():
    bad = served(tp=3, max_model_len=262145, flags=())
    findings = diagnose_lineup(lineup("h200:3", bad))
    assert [one.severity for one in findings] == sorted(
        (one.severity for one in findings), key=["stop", "warn", "note"].index
    )
    assert {one.engine for one in findings} == {"one"}


def test_a_cpu_has_no_graphs_and_no_knee():
    cpu = (Gpu(0, "cpu", 64.0, 50.0),)
    told = {one.check for one in found(served(utilization=0.97, max_num_seqs=512, text_only=False), cpu)}
    assert not told & {"graphs-at-high-utilization", "multimodal-at-high-utilization", "max-num-seqs-past-the-knee"}
