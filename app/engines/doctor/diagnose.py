"""Run all checks on a line-up before anything is started. Pure."""

from collections.abc import Callable

from app.engines.doctor import (
    cpu_checks,
    memory_checks,
    model_checks,
    serving_checks,
    speculation_checks,
)
from app.engines.doctor.engine_situation import Situation, build_situations
from app.engines.doctor.local_inventory import NOTHING, LocalInventory
from app.engines.doctor.pitfall import Diagnosis, Pitfall, sort_worst_first
from app.lineups.model import Lineup

CHECKS: dict[str, Callable[[Situation], Diagnosis | None]] = {
    "cannot-be-reckoned": memory_checks.check_unknown_fit,
    "tp-does-not-divide-heads": model_checks.check_refused_split,
    "too-few-gpus": model_checks.check_gpu_count,
    "pp-with-gemma4": model_checks.check_pipeline_crash,
    "beyond-the-model": model_checks.check_model_limits,
    "context-without-kv": memory_checks.check_context_length,
    "does-not-fit": memory_checks.check_memory_fit,
    "starts-by-luck": memory_checks.check_context_margin,
    "graphs-at-high-utilization": memory_checks.check_graph_memory,
    "multimodal-at-high-utilization": memory_checks.check_media_memory,
    "max-num-seqs-past-the-knee": memory_checks.check_stream_knee,
    "little-memory-left": memory_checks.check_free_memory,
    "unreadable-flag": serving_checks.check_refused_flag_values,
    "flag-overrides-lineup": serving_checks.check_flag_overrides,
    "stale-chat-template": serving_checks.check_chat_template,
    "missing-parsers": serving_checks.check_parser_flags,
    "image-without-digest": serving_checks.check_image_pin,
    "padded-answers": serving_checks.check_answer_padding,
    "attention-not-ignored": model_checks.check_ignored_attention,
    "marlin-forced": serving_checks.check_forced_marlin,
    "attention-backend-forced": serving_checks.check_forced_backend,
    "mtp-without-method": speculation_checks.check_mtp_method,
    "mtp-too-early": speculation_checks.check_mtp_version,
    "parallel-drafting-unprepared": speculation_checks.check_parallel_drafting,
    "dflash-on-ada": speculation_checks.check_dflash_on_ada,
    "acceptance-on-random-tokens": speculation_checks.check_acceptance_source,
}

ON_CPU: dict[str, Callable[[Situation], Diagnosis | None]] = {
    "llamacpp-not-installed": cpu_checks.check_llamacpp_installed,
    "weights-missing": cpu_checks.check_weights_exist,
    "processor-too-old": cpu_checks.check_processor_support,
    "does-not-fit": cpu_checks.check_cpu_memory,
}


def diagnose_lineup(lineup: Lineup, here: LocalInventory = NOTHING) -> tuple[Pitfall, ...]:
    return sort_worst_first(
        said.to_pitfall(name, case.engine.name)
        for case in build_situations(lineup, here)
        for name, check in (ON_CPU if case.engine.is_on_cpu else CHECKS).items()
        if (said := check(case))
    )
