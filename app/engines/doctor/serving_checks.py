"""Checks of vLLM's flags, chat template, image and environment."""

from app.engines.doctor.engine_situation import BLACKWELL, NATIVE_FP4, Situation, list_missing_gemma4_flags
from app.engines.doctor.pitfall import Diagnosis

TEMPLATE_SHA256 = "94899c0f917d93f6fe81c95744d1e8ddab2d21d39228d2e4aec1fb2a25bff413"
"""Google's template for the 31B of 2026-04-30, two days after the fix."""
TEMPLATE_URL = "https://huggingface.co/google/gemma-4-31B-it/raw/main/chat_template.jinja"
_STALE = "older ones put an empty thought into answers without thinking and break the parameters of tools"


def check_flag_overrides(case: Situation) -> Diagnosis | None:
    if not case.effective.overridden:
        return None
    names = ", ".join(case.effective.overridden)
    says = f"{names} in flags is not what the line-up's own field says: vLLM takes the flag, plan and page the field"
    return Diagnosis("warn", says, "put the value into the line-up's field and take the flag out")


def check_refused_flag_values(case: Situation) -> Diagnosis | None:
    if not case.effective.unreadable:
        return None
    names = ", ".join(case.effective.unreadable)
    return Diagnosis("stop", f"the value of {names} is not one that vLLM takes: it ends at once", "correct it in flags")


def check_image_pin(case: Situation) -> Diagnosis | None:
    launch = case.engine.launch
    if launch is None or not launch.image or launch.is_pinned:
        return None
    says = f"the image {launch.image} is named by a tag, which its publisher can move to another image"
    return Diagnosis("warn", says, f"name it by its digest, {launch.image}@sha256:…, as docker image inspect shows it")


def check_parser_flags(case: Situation) -> Diagnosis | None:
    if not case.is_launched:
        return None
    flags = case.flags
    if "--enable-auto-tool-choice" in flags and not flags.get("--tool-call-parser"):
        says = "--enable-auto-tool-choice without --tool-call-parser: vLLM ends at once"
        return Diagnosis("stop", says, "add --tool-call-parser gemma4" if case.is_gemma4 else "name the model's parser")
    if not case.is_gemma4:
        return None
    reasoning, calls = (flags.get(name) == "gemma4" for name in ("--reasoning-parser", "--tool-call-parser"))
    if not (lacks := list_missing_gemma4_flags(reasoning, calls, "--enable-auto-tool-choice" in flags)):
        return None
    says = "without Gemma 4's parsers thoughts land in the answer, and calls of tools stay text"
    return Diagnosis("warn", says, f"add {lacks} to flags")


def check_answer_padding(case: Situation) -> Diagnosis | None:
    """Check the option against padded answers, since the roles answer by a JSON Schema."""
    if not case.is_launched or any("disable_any_whitespace" in value for pair in case.flags.items() for value in pair):
        return None
    flag = '--structured-outputs-config \'{"backend":"xgrammar","disable_any_whitespace":true}\''
    return Diagnosis(
        "note", "an answer by schema may be padded with white space until its tokens are gone", f"add {flag}"
    )


def check_forced_marlin(case: Situation) -> Diagnosis | None:
    if case.engine.precision != "nvfp4" or not case.all_gpus_match(BLACKWELL):
        return None
    env = case.environment
    forced = [
        *(["--linear-backend marlin"] if case.flags.get("--linear-backend", "").lower() == "marlin" else []),
        *(["VLLM_NVFP4_GEMM_BACKEND"] if env.get("VLLM_NVFP4_GEMM_BACKEND", "").lower() == "marlin" else []),
        *(["VLLM_DISABLED_KERNELS"] if NATIVE_FP4 in env.get("VLLM_DISABLED_KERNELS", "") else []),
    ]
    if not forced:
        return None
    says = f"{forced[0]} keeps vLLM from the FP4 cores that this GPU has: Marlin only unpacks the weights"
    return Diagnosis("warn", says, f"take it out; the log should say Using {NATIVE_FP4}")


def check_forced_backend(case: Situation) -> Diagnosis | None:
    asked = case.flags.get("--attention-backend") or case.environment.get("VLLM_ATTENTION_BACKEND", "")
    if not case.is_gemma4 or not case.is_launched or "FLASH_ATTN" not in asked.upper() or case.is_at_least(0, 24):
        return None
    says = f"Gemma 4 has heads of two sizes, and vLLM before 0.24 runs it on TRITON_ATTN only: {asked} is rejected"
    return Diagnosis("stop", says, "take it out; vLLM chooses by itself")


def check_chat_template(case: Situation) -> Diagnosis | None:
    if not case.is_gemma4:
        return None
    path, pinned = case.engine.chat_template, case.engine.chat_template_sha256
    if not path:
        return _check_own_template(case)
    found = case.inventory.templates.get(path, "")
    if not found and case.is_launched and case.inventory.serves and not case.runs_in_container:
        says = f"the chat template {path} is not there: vLLM refuses to start"
        return Diagnosis("stop", says, f"fetch it from {TEMPLATE_URL}")
    if found and pinned and found != pinned:
        says = f"the chat template {path} has sha256 {found[:12]}…, the line-up expects {pinned[:12]}…"
        return Diagnosis("warn", says, f"fetch it anew from {TEMPLATE_URL}, or mend chat_template_sha256")
    if (have := found or pinned) and have != TEMPLATE_SHA256:
        says = (
            f"the chat template {path} ({have[:12]}…) is not the one of 2026-04-30 ({TEMPLATE_SHA256[:12]}…): {_STALE}"
        )
        return Diagnosis("warn", says, f"fetch {TEMPLATE_URL}; a newer one than that is right, too")
    if not found:
        says = (
            f"the chat template {path} is not on this machine: where the engine runs vLLM refuses to start without it"
        )
        return Diagnosis("note", says, f"put it there, from {TEMPLATE_URL}")
    return None


def _check_own_template(case: Situation) -> Diagnosis | None:
    model = case.engine.model
    if (found := case.inventory.templates.get(model)) and found != TEMPLATE_SHA256:
        says = f"the checkpoint's own chat template ({found[:12]}…) is not the one of 2026-04-30: {_STALE}"
        return Diagnosis("warn", says, f"fetch {TEMPLATE_URL} and name it as chat_template")
    if found or not case.is_launched or model.lower().startswith("google/"):
        return None
    says = f"no chat_template is named, and checkpoints that others quantised may carry the one from before: {_STALE}"
    return Diagnosis("note", says, f"fetch {TEMPLATE_URL} and name it as chat_template")
