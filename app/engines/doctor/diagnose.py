"""Run all checks on a line-up before anything is started. Pure."""

from collections.abc import Callable

from app.engines.doctor import drafting, memory, model, on_cpu, serving, template
from app.engines.doctor.case import Situation, build_situations
from app.engines.doctor.here import NOTHING, LocalInventory
from app.engines.doctor.pitfall import Diagnosis, Pitfall, sort_worst_first
from app.lineups.model import Lineup

CHECKS: dict[str, Callable[[Situation], Diagnosis | None]] = {
    "cannot-be-reckoned": memory.check_unknown_fit,
    "tp-does-not-divide-heads": model.check_head_split,
    "too-few-gpus": model.check_gpu_count,
    "pp-with-gemma4": model.check_pipeline_crash,
    "beyond-the-model": memory.check_model_limits,
    "context-without-kv": memory.check_context_length,
    "does-not-fit": memory.check_memory_fit,
    "starts-by-luck": memory.check_context_margin,
    "graphs-at-high-utilization": memory.check_graph_memory,
    "multimodal-at-high-utilization": memory.check_media_memory,
    "max-num-seqs-past-the-knee": memory.check_stream_knee,
    "little-memory-left": memory.check_free_memory,
    "unreadable-flag": serving.check_unreadable_flags,
    "flag-overrides-lineup": serving.check_flag_overrides,
    "stale-chat-template": template.check_chat_template,
    "missing-parsers": serving.check_parser_flags,
    "image-without-digest": serving.check_image_pin,
    "padded-answers": serving.check_answer_padding,
    "attention-not-ignored": model.check_ignored_attention,
    "marlin-forced": serving.check_forced_marlin,
    "attention-backend-forced": serving.check_forced_backend,
    "mtp-without-method": drafting.check_mtp_method,
    "mtp-too-early": drafting.check_mtp_version,
    "parallel-drafting-unprepared": drafting.check_parallel_drafting,
    "dflash-on-ada": drafting.check_dflash_on_ada,
    "acceptance-on-random-tokens": drafting.check_acceptance_source,
}

ON_CPU: dict[str, Callable[[Situation], Diagnosis | None]] = {
    "llamacpp-not-installed": on_cpu.check_llamacpp_installed,
    "weights-missing": on_cpu.check_weights_exist,
    "processor-too-old": on_cpu.check_processor_support,
    "does-not-fit": on_cpu.check_cpu_memory,
}


def diagnose_lineup(lineup: Lineup, here: LocalInventory = NOTHING) -> tuple[Pitfall, ...]:
    return sort_worst_first(
        said.to_pitfall(name, case.engine.name)
        for case in build_situations(lineup, here)
        for name, check in (ON_CPU if case.engine.is_on_cpu else CHECKS).items()
        if (said := check(case))
    )
