"""Checks of the model: its split over GPUs, and the attention settings of its checkpoint."""

import re
from collections.abc import Iterable

from app.engines.doctor.engine_situation import Situation
from app.engines.doctor.pitfall import Diagnosis
from app.engines.fit.fit_verdict import find_refusals

ATTENTION = "re:.*self_attn.*"
_PARTS = ("q_proj", "k_proj", "v_proj", "o_proj")


def check_refused_split(case: Situation) -> Diagnosis | None:
    return _report_refusal(case, "tp")


def check_model_limits(case: Situation) -> Diagnosis | None:
    return _report_refusal(case, "max_model_len", "pp")


def _report_refusal(case: Situation, *settings: str) -> Diagnosis | None:
    for one in find_refusals(case.estimate) if case.estimate else ():
        if one.setting in settings:
            return Diagnosis("stop", f"{one.says}, and vLLM refuses to start", one.fix)
    return None


def check_gpu_count(case: Situation) -> Diagnosis | None:
    """Check that the flags' tp and pp match the GPUs; only the line-up's own fields were validated when read."""
    asked = case.engine.gpus_per_replica
    if len(case.gpus) >= asked:
        return None
    says = f"its flags ask for {asked} GPUs (tp x pp), and it has {len(case.gpus)}"
    return Diagnosis("stop", says, "give it more GPUs, or take tp and pp out of flags")


def check_pipeline_crash(case: Situation) -> Diagnosis | None:
    if not case.is_gemma4 or case.engine.pp == 1 or case.is_at_least(0, 21):
        return None
    known = case.rules is not None
    return Diagnosis(
        "stop" if known else "warn",
        f"pp = {case.engine.pp} with Gemma 4 crashes in vLLM 0.19 and 0.20 (IntermediateTensors)"
        + ("" if known else ", and the line-up does not say which version this is"),
        "use tp in place of pp, or vLLM 0.21 and later" + ("" if known else ', and say so: vllm = "0.25.1"'),
    )


def check_ignored_attention(case: Situation) -> Diagnosis | None:
    config = case.get_config(case.engine.model)
    if not config:
        return _note_unread_config(case)
    scheme = config.get("quantization_config")
    if not isinstance(scheme, dict) or scheme.get("quant_method") != "compressed-tensors":
        return None
    ignored = [one for one in scheme.get("ignore") or () if isinstance(one, str)]
    literal = [one for one in ignored if "self_attn" in one and not one.startswith("re:")]
    if not literal or _matches_all_parts(ignored):
        return None
    return Diagnosis(
        "stop",
        f"quantization_config.ignore names {len(literal)} attention modules one by one and has no {ATTENTION}: vLLM "
        'fuses q, k and v under another name, and ends with "Found different quantization schemes"',
        f'add "{ATTENTION}" to quantization_config.ignore in {case.engine.model}/config.json',
    )


def _note_unread_config(case: Situation) -> Diagnosis | None:
    if case.engine.precision != "nvfp4" or "heretic" not in case.engine.model.lower():
        return None
    says = f"this checkpoint starts only while quantization_config.ignore in its config.json has {ATTENTION}"
    return Diagnosis(
        "note", says, "leave that entry in; give the checkpoint's folder as model, and it is looked at here"
    )


def _matches_all_parts(ignored: Iterable[str]) -> bool:
    patterns = [one.removeprefix("re:") for one in ignored if one.startswith("re:")]
    return all(
        any(_matches_pattern(pattern, f"language_model.model.layers.0.self_attn.{part}") for pattern in patterns)
        for part in _PARTS
    )


def _matches_pattern(pattern: str, name: str) -> bool:
    """Match an untrusted pattern; long ones are not tried."""
    try:
        return len(pattern) <= 200 and re.match(pattern, name) is not None
    except (re.error, RecursionError):
        return False
