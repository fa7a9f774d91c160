"""Checks of the model: its split over GPUs, the attention of its checkpoint, and what llama.cpp needs to run it."""

import re
from collections.abc import Iterable

from app.engines.doctor.launch_situation import Situation
from app.engines.doctor.pitfall import Pitfall, create_pitfall
from app.engines.fit.fit_verdict import find_refused_settings
from app.engines.llamacpp.gguf_weights_file_lookup import format_llamacpp_install_clause

ATTENTION = "re:.*self_attn.*"
NEAR = 0.8
"""Share of the available main memory for the weights; the rest is for the KV cache and other processes."""
MOST_CHOICES = 4
"""Most groups and repeats in a pattern that is tried: the time grows exponentially with them."""
_PARTS = ("q_proj", "k_proj", "v_proj", "o_proj")


def check_refused_split(case: Situation) -> Pitfall | None:
    return _create_pitfall_if_setting_refused(case, "lineup.tp-does-not-divide-heads", "tp")


def check_settings_beyond_model(case: Situation) -> Pitfall | None:
    return _create_pitfall_if_setting_refused(case, "lineup.beyond-the-model", "max_model_len", "pp")


def _create_pitfall_if_setting_refused(case: Situation, pitfall_name: str, *settings: str) -> Pitfall | None:
    for one in find_refused_settings(case.estimate) if case.estimate else ():
        if one.setting in settings:
            return create_pitfall(pitfall_name, says=one.says, fix=one.fix)
    return None


def check_gpu_count(case: Situation) -> Pitfall | None:
    """Check that the flags' tp and pp match the GPUs; only the line-up's own fields were validated when read."""
    asked, count = case.engine.gpus_per_replica, len(case.gpus)
    return create_pitfall("lineup.too-few-gpus", asked=asked, count=count) if count < asked else None


def check_pipeline_crash(case: Situation) -> Pitfall | None:
    if not case.is_gemma4 or case.engine.pp == 1 or case.is_at_least(0, 21):
        return None
    return create_pitfall("lineup.pp-with-gemma4" + ("" if case.rules else ".unknown-version"), pp=case.engine.pp)


def check_attention_ignored_by_names_not_pattern(case: Situation) -> Pitfall | None:
    model, config = case.engine.model, case.get_config(case.engine.model)
    if not config:
        unread = case.engine.precision == "nvfp4" and "heretic" in model.lower()
        return create_pitfall("lineup.attention-not-ignored.unread", pattern=ATTENTION) if unread else None
    scheme = config.get("quantization_config")
    if not isinstance(scheme, dict) or scheme.get("quant_method") != "compressed-tensors":
        return None
    ignored = [one for one in scheme.get("ignore") or () if isinstance(one, str)]
    literal = [one for one in ignored if "self_attn" in one and not one.startswith("re:")]
    if not literal or _is_attention_ignored_by_pattern(ignored):
        return None
    return create_pitfall("lineup.attention-not-ignored", count=len(literal), pattern=ATTENTION, model=model)


def _is_attention_ignored_by_pattern(ignored: Iterable[str]) -> bool:
    patterns = [one.removeprefix("re:") for one in ignored if one.startswith("re:")]
    return all(
        any(
            _matches_untrusted_regular_expression(pattern, f"language_model.model.layers.0.self_attn.{part}")
            for pattern in patterns
        )
        for part in _PARTS
    )


def _matches_untrusted_regular_expression(pattern: str, name: str) -> bool:
    """Match an untrusted pattern; one that may take very long, with a repeated group or many choices, is not tried."""
    plain = re.sub(r"\\.", "x", pattern)
    if len(pattern) > 200 or re.search(r"\)[*+{]", plain) or len(re.findall(r"[*+?{(]", plain)) > MOST_CHOICES:
        return False
    try:
        return re.match(pattern, name) is not None
    except (re.error, RecursionError, OverflowError):
        return False


def check_llamacpp_installed(case: Situation) -> Pitfall | None:
    missing = case.is_launched and not case.inventory.llamacpp.installed
    return create_pitfall("cpu.llamacpp-not-installed", fix=format_llamacpp_install_clause()) if missing else None


def check_weights_exist(case: Situation) -> Pitfall | None:
    says, _, fix = case.inventory.llamacpp.missing.get(case.engine.model, "").partition(": ")
    if not case.is_launched or not says:
        return None
    return create_pitfall("cpu.weights-missing", says=says, fix=fix.rstrip(".") or "correct model in the line-up")


def check_cpu_instruction_support(case: Situation) -> Pitfall | None:
    lacks = ", ".join(case.inventory.llamacpp.lacks)
    return create_pitfall("cpu.processor-too-old", instructions=lacks) if case.is_launched and lacks else None


def check_main_memory(case: Situation) -> Pitfall | None:
    here = case.inventory.llamacpp
    size, free = here.sizes_gib.get(case.engine.model), here.available_gib
    if not case.is_launched or size is None or free is None or size <= NEAR * free:
        return None
    return create_pitfall("cpu.does-not-fit" + ("" if size > free else ".barely"), size=size, free=free)
