"""Checks of GPU memory: what does not fit, what fits by luck and what fails under load."""

import re

from app.engines.doctor.engine_situation import Situation
from app.engines.doctor.pitfall import Diagnosis
from app.engines.fit.estimate import Fit
from app.engines.fit.fit_verdict import SAFE, TIGHT_GIB

STEP = 16
HIGH, MANY, SIZES = 0.94, 256, 35
MEASURED_GIB = 80
"""Memory of the GPUs on which the limit was measured."""
MEDIA_HIGH, MEDIA_SAFE = 0.92, 0.9
KNEES = (
    (re.compile(r"\bH100\b", re.IGNORECASE), "an H100", 64),
    (re.compile(r"\bH200\b", re.IGNORECASE), "an H200", 128),
)
KNEE_WEIGHTS_GIB = 15
"""The knees were measured with the 31B; small models reach theirs with more requests."""
_CAPTURE = ("--cudagraph-capture-sizes", "--max-cudagraph-capture-size", "--compilation-config", "-cc")


def check_unknown_fit(case: Situation) -> Diagnosis | None:
    if not case.unknown:
        return None
    says = f"no estimate whether it fits: {case.unknown}"
    return Diagnosis("warn", says, "give a model whose config.json can be read here, then ask temper plan again")


def check_context_length(case: Situation) -> Diagnosis | None:
    fit = case.fit
    if fit is None or fit.fits or not _lacks_kv_cache(case, fit):
        return None
    return Diagnosis(
        "stop",
        f"max_model_len = {case.engine.max_model_len:,} asks for more KV cache than there is: at the very edge "
        f"{int(fit.largest_context.value or 0):,} tokens of one request would fit, and vLLM refuses to start",
        f"set max_model_len = {_compute_safe_length(fit)} (5 % below the edge), "
        'use more GPUs (tp), kv_dtype = "fp8" or a higher '
        "utilization",
    )


def check_memory_fit(case: Situation) -> Diagnosis | None:
    fit = case.fit
    if fit is None or fit.fits or not fit.missing_gib_per_gpu.value or _lacks_kv_cache(case, fit):
        return None
    says, _, advice = fit.says.rstrip(".").rpartition(". ")
    return Diagnosis("stop", says or fit.says, advice if says else "ask temper plan what it is made of")


def check_context_margin(case: Situation) -> Diagnosis | None:
    """Check the margin below the longest context, if memory and not the model limits it."""
    fit, found = case.fit, case.estimate
    if fit is None or found is None or not fit.fits or not (longest := fit.largest_context.value):
        return None
    if longest >= found.setting.shape.positions or case.engine.max_model_len <= longest * SAFE:
        return None
    return Diagnosis(
        "warn",
        f"max_model_len = {case.engine.max_model_len:,} is within 5 % of the {int(longest):,} tokens that fit: "
        "fragments of memory decide whether it starts, and one that starts on the second try only is not mended",
        f"set max_model_len = {_compute_safe_length(fit)}",
    )


def check_graph_memory(case: Situation) -> Diagnosis | None:
    found = case.estimate
    if found is None or found.setting.cpu or found.setting.eager or found.setting.kv_cache_bytes is not None:
        return None
    setting = found.setting
    if setting.utilization <= HIGH or setting.max_num_seqs < MANY or any(flag in case.flags for flag in _CAPTURE):
        return None
    measured = setting.gpu_gib <= MEASURED_GIB
    return Diagnosis(
        "stop" if measured else "warn",
        f"utilization = {setting.utilization:g} with max_num_seqs = {setting.max_num_seqs:,}: the capture of {SIZES} "
        f"and more CUDA graph sizes runs out of memory, measured at 0.95 and 0.97 on cards of {MEASURED_GIB} GB"
        + ("" if measured else ", of which this one is larger"),
        f"set utilization = {HIGH} or less, or max_num_seqs below {MANY}",
    )


def check_media_memory(case: Situation) -> Diagnosis | None:
    found = case.estimate
    if found is None or found.setting.cpu or case.engine.text_only or not found.setting.shape.towers:
        return None
    if found.setting.utilization <= MEDIA_HIGH or found.setting.kv_cache_bytes is not None:
        return None
    return Diagnosis(
        "warn",
        f"utilization = {found.setting.utilization:g} with the image tower loaded: the first picture needs some 400 "
        "MiB beside all that vLLM counted, and runs out of memory while it serves",
        f"set text_only = true (the roles send text only), or utilization = {MEDIA_SAFE} where pictures come",
    )


def check_stream_knee(case: Situation) -> Diagnosis | None:
    found = case.estimate
    if found is None or found.weights_gib * case.engine.tp < KNEE_WEIGHTS_GIB:
        return None
    for kind, name, each in KNEES:
        if case.all_gpus_match(kind) and (seqs := found.setting.max_num_seqs) > (knee := each * case.engine.tp):
            said = "max_num_seqs" if case.engine.max_num_seqs else "max_num_seqs is left out, and vLLM's default here"
            more = f"{each} on {name}" + (f", {knee} on {case.engine.tp}" if case.engine.tp > 1 else "")
            return Diagnosis(
                "warn",
                f"{said} = {seqs:,} is past the knee of the memory's bandwidth ({more}): more requests at a time make "
                "each of them slower and all together no faster",
                f"set max_num_seqs = {knee}",
            )
    return None


def check_free_memory(case: Situation) -> Diagnosis | None:
    fit, found = case.fit, case.estimate
    if fit is None or found is None or not fit.fits or found.setting.cpu or found.setting.unified:
        return None
    left = found.setting.gpu_gib - found.held_gib
    if not 0 <= left < TIGHT_GIB:
        return None
    engine = case.engine
    free = [
        *(["text_only = true"] if found.setting.shape.towers and not engine.text_only else []),
        *(['kv_dtype = "fp8"'] if found.setting.kv_element > 1 else []),
        "a lower max_num_seqs",
        "a lower utilization (a smaller KV pool)",
    ]
    held = f"{found.held_gib:.1f} of {found.setting.gpu_gib:.1f} GiB per GPU are held once it serves"
    return Diagnosis(
        "warn",
        f"{held}, {found.pool_gib:.1f} of them KV pool: {left:.1f} GiB are left for what comes and goes",
        f"leave max_model_len at {engine.max_model_len:,} and the GPU to this "
        f"engine; room comes from {_join_alternatives(free)}",
    )


def _lacks_kv_cache(case: Situation, fit: Fit) -> bool:
    longest = fit.largest_context.value
    missing = fit.missing_gib_per_gpu.value
    return bool(missing and longest and longest < case.engine.max_model_len)


def _compute_safe_length(fit: Fit) -> int:
    return max(STEP, int((fit.largest_context.value or 0) * SAFE) // STEP * STEP)


def _join_alternatives(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
