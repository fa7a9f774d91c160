"""Checks of GPU memory: what does not fit, what fits by luck and what fails under load."""

import re

from app.engines.doctor.launch_situation import Situation
from app.engines.doctor.pitfall import Pitfall, create_pitfall
from app.engines.fit.estimate_result import Fit
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


def check_unknown_fit(case: Situation) -> Pitfall | None:
    return create_pitfall("lineup.cannot-be-reckoned", why=case.unknown) if case.unknown else None


def check_context_memory(case: Situation) -> Pitfall | None:
    fit = case.fit
    if fit is None or fit.fits or not _fits_with_shorter_context(case, fit):
        return None
    longest = int(fit.largest_context.value or 0)
    length, safe = case.engine.max_model_len, _compute_safe_length(fit)
    return create_pitfall("lineup.context-without-kv", length=length, longest=longest, safe=safe)


def check_memory_fit(case: Situation) -> Pitfall | None:
    fit = case.fit
    if fit is None or fit.fits or not fit.missing_gib_per_gpu.value or _fits_with_shorter_context(case, fit):
        return None
    says, _, advice = fit.says.rstrip(".").rpartition(". ")
    fix = advice if says else "run temper plan to see its parts"
    return create_pitfall("lineup.does-not-fit", says=says or fit.says, fix=fix)


def check_context_margin(case: Situation) -> Pitfall | None:
    """Check the margin below the longest context, if memory and not the model limits it."""
    fit, found = case.fit, case.estimate
    if fit is None or found is None or not fit.fits or not (longest := fit.largest_context.value):
        return None
    length = case.engine.max_model_len
    if longest >= found.setting.shape.positions or length <= longest * SAFE:
        return None
    safe = _compute_safe_length(fit)
    return create_pitfall("lineup.starts-by-luck", length=length, longest=int(longest), safe=safe)


def check_graphs_at_high_utilization(case: Situation) -> Pitfall | None:
    found = case.estimate
    if found is None or found.setting.cpu or found.setting.eager or found.setting.kv_cache_bytes is not None:
        return None
    setting = found.setting
    if setting.utilization <= HIGH or setting.max_num_seqs < MANY or any(flag in case.flags for flag in _CAPTURE):
        return None
    variant = ".larger-gpu" if setting.gpu_gib > MEASURED_GIB else ""
    limits = {"sizes": SIZES, "gib": MEASURED_GIB, "high": HIGH, "many": MANY}
    share, seqs = setting.utilization, setting.max_num_seqs
    return create_pitfall(f"lineup.graphs-at-high-utilization{variant}", share=share, seqs=seqs, **limits)


def check_media_at_high_utilization(case: Situation) -> Pitfall | None:
    found = case.estimate
    if found is None or found.setting.cpu or case.engine.text_only or not found.setting.shape.towers:
        return None
    share = found.setting.utilization
    if share <= MEDIA_HIGH or found.setting.kv_cache_bytes is not None:
        return None
    return create_pitfall("lineup.multimodal-at-high-utilization", share=share, safe=MEDIA_SAFE)


def check_max_num_seqs_beyond_bandwidth(case: Situation) -> Pitfall | None:
    found, tp = case.estimate, case.engine.tp
    if found is None or found.weights_gib * tp < KNEE_WEIGHTS_GIB:
        return None
    for kind, name, each in KNEES:
        if case.all_gpus_match(kind) and (seqs := found.setting.max_num_seqs) > (knee := each * tp):
            setting = "max_num_seqs" if case.engine.max_num_seqs else "max_num_seqs is not set, and vLLM's default"
            limit = f"{each} on {name}" + (f", {knee} on {tp}" if tp > 1 else "")
            finding = "lineup.max-num-seqs-past-the-knee"
            return create_pitfall(finding, setting=setting, seqs=seqs, limit=limit, knee=knee)
    return None


def check_gpu_memory_left_unclaimed(case: Situation) -> Pitfall | None:
    fit, found = case.fit, case.estimate
    if fit is None or found is None or not fit.fits or found.setting.cpu or found.setting.unified:
        return None
    beside = case.neighbors
    left = found.setting.gpu_gib - found.held_gib - beside.held_gib
    if not 0 <= left < TIGHT_GIB:
        return None
    ways = [
        *(["text_only = true"] if found.setting.shape.towers and not case.engine.text_only else []),
        *(['kv_dtype = "fp8"'] if found.setting.kv_element > 1 else []),
        "a lower max_num_seqs or a lower utilization (a smaller KV pool)",
    ]
    memory = {"held": found.held_gib, "gpu": found.setting.gpu_gib, "pool": found.pool_gib, "left": left}
    values = {**memory, "length": case.engine.max_model_len, "ways": ", ".join(ways)}
    if not beside.names:
        return create_pitfall("lineup.little-memory-left", **values)
    others = {"names": ", ".join(beside.names), "theirs": beside.held_gib}
    return create_pitfall("lineup.little-memory-left.shared", **values, **others)


def _fits_with_shorter_context(case: Situation, fit: Fit) -> bool:
    longest = fit.largest_context.value
    return bool(fit.missing_gib_per_gpu.value and longest and longest < case.engine.max_model_len)


def _compute_safe_length(fit: Fit) -> int:
    return max(STEP, int((fit.largest_context.value or 0) * SAFE) // STEP * STEP)
