"""Checks of vLLM's flags, chat template, image and environment."""

from app.engines.doctor.launch_situation import BLACKWELL, NATIVE_FP4, Situation, format_missing_gemma4_flags
from app.engines.doctor.pitfall import Pitfall, create_pitfall

TEMPLATE_SHA256 = "94899c0f917d93f6fe81c95744d1e8ddab2d21d39228d2e4aec1fb2a25bff413"
"""Google's template for the 31B of 2026-04-30, two days after the fix."""
TEMPLATE_URL = "https://huggingface.co/google/gemma-4-31B-it/raw/main/chat_template.jinja"
_NOT_PADDED = '--structured-outputs-config \'{"backend":"xgrammar","disable_any_whitespace":true}\''


def check_flags_contradicting_lineup(case: Situation) -> Pitfall | None:
    names = ", ".join(case.effective.overridden)
    return create_pitfall("lineup.flag-overrides-lineup", flags=names) if names else None


def check_refused_flag_values(case: Situation) -> Pitfall | None:
    names = ", ".join(case.effective.unreadable)
    return create_pitfall("lineup.unreadable-flag", flags=names) if names else None


def check_image_pinned_by_digest(case: Situation) -> Pitfall | None:
    launch = case.engine.launch
    if launch is None or not launch.image or launch.has_image_digest:
        return None
    return create_pitfall("lineup.image-without-digest", image=launch.image)


def check_parser_flags(case: Situation) -> Pitfall | None:
    if not case.is_launched:
        return None
    flags = case.flags
    if "--enable-auto-tool-choice" in flags and not flags.get("--tool-call-parser"):
        parser = "gemma4" if case.is_gemma4 else "with the name of the model's parser"
        return create_pitfall("lineup.missing-parsers.unnamed", parser=parser)
    if not case.is_gemma4:
        return None
    reasoning, calls = (flags.get(name) == "gemma4" for name in ("--reasoning-parser", "--tool-call-parser"))
    lacks = format_missing_gemma4_flags(reasoning, calls, "--enable-auto-tool-choice" in flags)
    return create_pitfall("lineup.missing-parsers", flags=lacks) if lacks else None


def check_whitespace_padding_allowed(case: Situation) -> Pitfall | None:
    """Check the option against padded answers, since the roles answer by a JSON Schema."""
    if not case.is_launched or any("disable_any_whitespace" in value for pair in case.flags.items() for value in pair):
        return None
    return create_pitfall("lineup.padded-answers", flag=_NOT_PADDED)


def check_forced_marlin(case: Situation) -> Pitfall | None:
    if case.engine.precision != "nvfp4" or not case.all_gpus_match(BLACKWELL):
        return None
    env = case.environment
    forced = [
        *(["--linear-backend marlin"] if case.flags.get("--linear-backend", "").lower() == "marlin" else []),
        *(["VLLM_NVFP4_GEMM_BACKEND"] if env.get("VLLM_NVFP4_GEMM_BACKEND", "").lower() == "marlin" else []),
        *(["VLLM_DISABLED_KERNELS"] if NATIVE_FP4 in env.get("VLLM_DISABLED_KERNELS", "") else []),
    ]
    return create_pitfall("lineup.marlin-forced", setting=forced[0], kernel=NATIVE_FP4) if forced else None


def check_forced_backend(case: Situation) -> Pitfall | None:
    asked = case.flags.get("--attention-backend") or case.environment.get("VLLM_ATTENTION_BACKEND", "")
    if not case.is_gemma4 or not case.is_launched or "FLASH_ATTN" not in asked.upper() or case.is_at_least(0, 24):
        return None
    return create_pitfall("lineup.attention-backend-forced", backend=asked)


def check_chat_template(case: Situation) -> Pitfall | None:
    """Check for a missing chat template, or one from before Gemma 4's was fixed."""
    if not case.is_gemma4:
        return None
    path, pinned = case.engine.chat_template, case.engine.chat_template_sha256
    if not path:
        return _check_checkpoint_template_is_current(case)
    found = case.inventory.templates.get(path, "")
    have = found or pinned
    variant = ""
    if not found and case.is_launched and case.inventory.serves and not case.is_engine_in_container:
        variant = "missing"
    elif found and pinned and found != pinned:
        variant = "changed"
    elif have and have != TEMPLATE_SHA256:
        variant = "old"
    elif not found:
        variant = "elsewhere"
    values = {"path": path, "found": found, "pinned": pinned, "have": have, "current": TEMPLATE_SHA256}
    return create_pitfall(f"lineup.stale-chat-template.{variant}", url=TEMPLATE_URL, **values) if variant else None


def _check_checkpoint_template_is_current(case: Situation) -> Pitfall | None:
    model = case.engine.model
    if found := case.inventory.templates.get(model):
        current = found == TEMPLATE_SHA256
        return None if current else create_pitfall("lineup.stale-chat-template.own", have=found, url=TEMPLATE_URL)
    if not case.is_launched or model.lower().startswith("google/"):
        return None
    return create_pitfall("lineup.stale-chat-template.unnamed", url=TEMPLATE_URL)
