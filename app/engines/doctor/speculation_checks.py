"""Checks of speculative decoding: drafters that vLLM cannot use and meaningless acceptance figures."""

import re

from app.engines.doctor.launch_situation import ADA, Situation
from app.engines.doctor.pitfall import Pitfall, create_pitfall

_ASSISTANT = re.compile(r"assistant|[-_.]mtp\b|\bmtp[-_.]", re.IGNORECASE)
_PREPARED = re.compile(r"p[-_]?eagle|\bpard\b|parallel", re.IGNORECASE)
_MASKS = ("mask_token_id", "pard_token", "ptd_token_id", "dspark_noise_token_id")
_NOT_CAUSAL = (0, 25)
"""First version whose TRITON_ATTN supports bidirectional attention."""
_FINDS_MTP = (0, 25)
"""First version that detects MTP from the drafter's config: read in 0.25.1 and tested with 0.32.0."""


def check_mtp_method(case: Situation) -> Pitfall | None:
    plan = case.engine.speculation
    if plan is None or plan.method not in ("", "draft_model") or not _is_mtp_drafter(case, plan.model):
        return None
    variant = ".detected" if case.is_at_least(*_FINDS_MTP) else ""
    return create_pitfall(f"lineup.mtp-without-method{variant}", model=plan.model)


def check_mtp_version(case: Situation) -> Pitfall | None:
    plan = case.engine.speculation
    if plan is None or not case.is_gemma4 or not case.is_older_than(0, 21):
        return None
    drafts_by_mtp = plan.method == "mtp" or _is_mtp_drafter(case, plan.model)
    return create_pitfall("lineup.mtp-too-early") if drafts_by_mtp else None


def check_parallel_drafting(case: Situation) -> Pitfall | None:
    plan = case.engine.speculation
    if plan is None or not plan.parallel_drafting or "dflash" in f"{plan.method} {plan.model}".lower():
        return None
    config = case.get_config(plan.model)
    dflash = config.get("dflash_config")
    tokens = {**config, **(dflash if isinstance(dflash, dict) else {})}
    if any(tokens.get(name) is not None for name in _MASKS) or (not config and _PREPARED.search(plan.model)):
        return None
    return create_pitfall("lineup.parallel-drafting-unprepared" + ("" if config else ".by-name"), model=plan.model)


def check_dflash_on_ada(case: Situation) -> Pitfall | None:
    plan = case.engine.speculation
    if plan is None or "dflash" not in f"{plan.method} {plan.model}".lower() or not case.all_gpus_match(ADA):
        return None
    variant = ".untested" if case.is_at_least(*_NOT_CAUSAL) else ""
    return create_pitfall(f"lineup.dflash-on-ada{variant}", gpu=case.gpus[0].kind)


def check_acceptance_on_random_tokens(case: Situation) -> Pitfall | None:
    plan = case.engine.speculation
    if plan is None or plan.acceptance is None or "random" not in plan.source.lower():
        return None
    return create_pitfall("lineup.acceptance-on-random-tokens", acceptance=plan.acceptance)


def _is_mtp_drafter(case: Situation, model: str) -> bool:
    kind = case.get_config(model).get("model_type")
    return "assistant" in kind or "mtp" in kind if isinstance(kind, str) else bool(_ASSISTANT.search(model))
