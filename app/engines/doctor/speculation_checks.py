"""Checks of speculative decoding: drafters that vLLM cannot use and meaningless acceptance figures."""

import re

from app.engines.doctor.engine_situation import ADA, Situation
from app.engines.doctor.pitfall import Diagnosis

_ASSISTANT = re.compile(r"assistant|[-_.]mtp\b|\bmtp[-_.]", re.IGNORECASE)
_PREPARED = re.compile(r"p[-_]?eagle|\bpard\b|parallel", re.IGNORECASE)
_MASKS = ("mask_token_id", "pard_token", "ptd_token_id", "dspark_noise_token_id")
_NOT_CAUSAL = (0, 25)
"""First version whose TRITON_ATTN supports bidirectional attention."""
_FINDS_MTP = (0, 25)
"""First version that detects MTP from the drafter's config: read in 0.25.1 and tested with 0.32.0."""


def check_mtp_method(case: Situation) -> Diagnosis | None:
    plan = case.engine.speculation
    if plan is None or plan.method not in ("", "draft_model") or not _is_mtp_drafter(case, plan.model):
        return None
    finds = case.is_at_least(*_FINDS_MTP)
    return Diagnosis(
        "warn" if finds else "stop",
        f'{plan.model} is an MTP drafter and the line-up does not say method = "mtp": '
        + ("this version finds it out, earlier ones do not" if finds else "vLLM takes it for a draft model and fails"),
        'set method = "mtp" in the speculation table',
    )


def check_mtp_version(case: Situation) -> Diagnosis | None:
    plan = case.engine.speculation
    if plan is None or not case.is_gemma4 or not case.is_older_than(0, 21):
        return None
    if plan.method != "mtp" and not _is_mtp_drafter(case, plan.model):
        return None
    return Diagnosis(
        "stop", "vLLM has MTP for Gemma 4 from 0.21 on only", "use vLLM 0.21 or later, or leave speculation out"
    )


def check_parallel_drafting(case: Situation) -> Diagnosis | None:
    plan = case.engine.speculation
    if plan is None or not plan.parallel_drafting or "dflash" in f"{plan.method} {plan.model}".lower():
        return None
    config = case.get_config(plan.model)
    dflash = config.get("dflash_config")
    tokens = {**config, **(dflash if isinstance(dflash, dict) else {})}
    if any(tokens.get(name) is not None for name in _MASKS) or (not config and _PREPARED.search(plan.model)):
        return None
    return Diagnosis(
        "stop",
        f"parallel_drafting needs a drafter prepared for it, and {plan.model} "
        + ("has none of its tokens in config.json" if config else "is a plain one as far as its name tells")
        + ": the engine ends while it starts",
        "leave parallel_drafting out, or use a checkpoint whose config.json has pard_token, ptd_token_id or "
        "dflash_config.mask_token_id",
    )


def check_dflash_on_ada(case: Situation) -> Diagnosis | None:
    plan = case.engine.speculation
    if plan is None or "dflash" not in f"{plan.method} {plan.model}".lower() or not case.all_gpus_match(ADA):
        return None
    tried = case.is_at_least(*_NOT_CAUSAL)
    return Diagnosis(
        "warn" if tried else "stop",
        f"DFlash needs attention both ways, which vLLM before 0.25 has no kernel for on {case.gpus[0].kind} (sm_89)"
        + (", and later versions are untested there" if tried else ""),
        'use an EAGLE3 drafter: method = "eagle3"',
    )


def check_acceptance_source(case: Situation) -> Diagnosis | None:
    plan = case.engine.speculation
    if plan is None or plan.acceptance is None or "random" not in plan.source.lower():
        return None
    return Diagnosis(
        "note",
        f"acceptance = {plan.acceptance:g} was measured on random tokens, according to its "
        "source: a lower bound at best, and no basis for choosing a drafter",
        "measure with realistic text: use temper probe, MT-Bench or ShareGPT",
    )


def _is_mtp_drafter(case: Situation, model: str) -> bool:
    kind = case.get_config(model).get("model_type")
    return "assistant" in kind or "mtp" in kind if isinstance(kind, str) else bool(_ASSISTANT.search(model))
